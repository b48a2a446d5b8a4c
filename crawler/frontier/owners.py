"""Owner ids: in whose name seeds and turns are held.

A worker's is `NODE:PID:START:RANDOM`. A command that asks hosts holds turns as a worker does, but claims nothing and
reports nothing; its ids are `NODE:PID:START:command:RANDOM`.
"""

from __future__ import annotations

import os
import secrets
import socket
import time

COMMAND = ":command"  # the end of an owner id that names a command's process


def new_owner(*, is_command: bool = False) -> str:
    """Returns an owner id for this process that is never used twice."""
    node = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in socket.gethostname())
    return _owner(f"{node}:{os.getpid()}:{int(time.time())}{COMMAND if is_command else ''}")


def next_owner(owner: str) -> str:
    """Returns another owner id of the same process."""
    return _owner(process_of(owner))


def process_of(owner: str) -> str:
    """Returns what all owner ids of a process begin with. It gets another id for each lost lease."""
    return owner.rpartition(":")[0]


def owner_node(owner: str) -> str:
    """Returns the name of the node that a process runs on."""
    return owner.partition(":")[0]


def is_worker(owner: str) -> bool:
    """Returns whether an owner id is a worker's, not a command's."""
    return not process_of(owner).endswith(COMMAND)


def _owner(process: str) -> str:
    return f"{process}:{secrets.token_hex(4)}"
