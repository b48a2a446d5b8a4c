"""A browser's processes: found by its profile's folder, measured, ended."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import psutil


class Taken(NamedTuple):
    """What a process takes of the memory.

    Attributes:
        is_renderer: Pages run in it.
        memory_bytes: Of what it shares with others, such as the program, its part.
    """

    process: psutil.Process
    is_renderer: bool
    memory_bytes: int


class BrowserProcesses:
    """The processes of one browser.

    Only children of this process are looked at, so that no answer of a browser can have another program ended.

    Args:
        folder: The folder of its profile, which stands in its command.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._main: psutil.Process | None = None  # the process as it was found last

    def main(self) -> psutil.Process | None:
        """Returns its first process, which has started all others; None: it has ended."""
        if self._main is None or not _runs(self._main):
            self._main = self._find_main()
        return self._main

    def _find_main(self) -> psutil.Process | None:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if any(self._folder in word for word in words) and not any(w.startswith("--type=") for w in words):
                    return process
        return None

    def all(self) -> list[psutil.Process]:
        """Returns all of them, the first one first; none: it has ended."""
        main = self.main()
        with contextlib.suppress(psutil.Error):
            return [main, *main.children(recursive=True)] if main else []
        return []

    def taken(self) -> list[Taken]:
        """Returns what each of them takes; none: it has ended. Some ms for each."""
        processes = []
        for process in self.all():
            with contextlib.suppress(psutil.Error):
                processes.append(Taken(process, "--type=renderer" in process.cmdline(), proportional_bytes(process)))
        return processes

    def kill(self) -> None:
        """Ends all of them at once."""
        for process in self.all():
            with contextlib.suppress(psutil.Error):
                process.kill()


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def proportional_bytes(process: psutil.Process) -> int:
    """Returns the bytes that a process takes; of what it shares with others, its part. 0: it has ended."""
    with contextlib.suppress(psutil.Error):
        try:
            return int(process.memory_full_info().pss)
        except psutil.AccessDenied:  # one in a sandbox keeps that to itself
            return int(process.memory_info().rss)
    return 0
