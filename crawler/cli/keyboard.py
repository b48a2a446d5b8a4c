"""Single keys from the terminal, without waiting for the end of a line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READ_BYTES = 64  # most bytes of one reading: an arrow is three, and what is typed ahead comes with the next reading
ESCAPE = b"\x1b"  # the beginning of what stands for a key without a character
# What terminals send (ECMA-48), by what it stands for.
KEYS = {b"\x1b[C": "right", b"\x1bOC": "right", b"\t": "right", b"\x1b[D": "left", b"\x1bOD": "left", b"\x1b[Z": "left"}


@contextlib.contextmanager
def pressed(tell: Callable[[str], None]) -> Iterator[None]:
    """Tells of each key while the block runs: `left`, `right`, or its character; of none where stdin is no terminal.

    Must be entered in a running event loop. Ctrl-C interrupts as always.
    """
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    descriptor, loop = sys.stdin.fileno(), asyncio.get_running_loop()
    before = termios.tcgetattr(descriptor)

    def read() -> None:
        raw = os.read(descriptor, READ_BYTES)
        if not raw:  # the terminal has gone
            loop.remove_reader(descriptor)
            return
        if raw in KEYS:
            tell(KEYS[raw])
        elif not raw.startswith(ESCAPE):
            for character in raw.decode("ascii", "replace"):
                tell(character)

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
