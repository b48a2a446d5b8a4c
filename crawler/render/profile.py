"""Folders for the browsers' profiles: each lives as long as its browser, and none outlives its worker for long."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from crawler.render.errors import BrowserMissingError

PREFIX = "headroom-browser-"
MAX_BASE_CHARACTERS = 40  # the longest path of the folder: Chromium's socket has 60 characters more, and 107 at most
LOCK = "lock"  # the file that the worker holds locked, and nobody once it is dead, however it died


class ProfileFolder:
    """A new folder that only this user can read; left behind by a worker that was killed, the next one removes it.

    Attributes:
        path: Where it is.

    Raises:
        BrowserMissingError: It can't be made, since the disk is full or may not be written to.
    """

    def __init__(self) -> None:
        base = Path(tempfile.gettempdir())
        if len(str(base)) > MAX_BASE_CHARACTERS:
            raise BrowserMissingError(
                f"the path of {base} is too long for a browser's profile: set TMPDIR to a shorter one"
            )
        _sweep(base)
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
            self._lock = _lock(self.path)
        except OSError as error:
            raise BrowserMissingError(f"no folder for the browser's profile in {base}: {error.strerror}") from error

    def lacks_room(self) -> str:
        """Returns what its disk has no more of, and where; empty: it has room.

        A browser without a byte left keeps in memory what it would store. Without a file left it doesn't start.
        """
        disk = os.statvfs(self.path)
        lacking = "files" if disk.f_files and not disk.f_favail else "" if disk.f_bavail else "bytes"
        return lacking and f"the disk of {self.path.parent}, where its profile is, has no {lacking} left (TMPDIR)"

    def remove(self) -> None:
        """Removes it; blocks for some ms."""
        shutil.rmtree(self.path, ignore_errors=True)  # what a dying browser still writes is swept by the next one
        os.close(self._lock)


def _lock(folder: Path) -> int:
    """Returns an open file whose lock says that the folder is in use; programs started by this process don't get it."""
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _sweep(base: Path) -> None:
    """Removes the folders of this user's workers that are dead."""
    for folder in base.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):  # it is in use, of another user, or somebody else has just removed it
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
