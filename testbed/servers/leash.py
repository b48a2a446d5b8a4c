"""Runs a command that can't outlive its starter: `python -I -S leash.py COMMAND ARGUMENT...`.

Standard input must be a pipe whose other end only the starter holds. A watcher in the command's process group waits for
that pipe to close, which the kernel does even when the starter is killed, and then kills the group: grandchildren too.
This process itself becomes the command, so that its process id and exit status are the command's.

A pipe rather than PR_SET_PDEATHSIG: that one fires when the starting *thread* ends, spares grandchildren, and needs
code between fork and exec of a process with threads.
"""

import os
import signal
import sys


def _watch() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are meant for the command
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def _main() -> None:
    if os.fork() == 0:
        if os.fork() == 0:  # twice, so that the watcher is nobody's child: the command's process tree is its own
            _watch()
        os._exit(0)
    os.wait()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 -- no shell is wanted


if __name__ == "__main__":
    _main()
