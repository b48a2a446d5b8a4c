"""The folder that a demo writes to: the demo's own, emptied at each start, never one that holds anything else."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING, Self

from crawler.errors import HeadroomError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

MARK = ".headroom-demo"  # a folder with this file in it is ours to empty; its lock keeps a second demo out
PARTS = ("items", "media", "logs", "servers")  # all that is ever removed


class OutputFolder:
    """A demo's folder, empty and locked while the context is open.

    Attributes:
        path: As the user sees it.
        items: For the files sink.
        media: For images and videos.
        logs: Of the workers.
        servers: Data and logs of own servers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items, self.media, self.logs, self.servers = (path / part for part in PARTS)
        self._lock = -1

    def __enter__(self) -> Self:
        """Takes the folder.

        Raises:
            HeadroomError: It isn't the demo's, another demo runs there, or it can't be written to. Nothing was removed.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not (self.path / MARK).exists() and any(self.path.iterdir()):
                raise HeadroomError(
                    f"{self.path} holds files that are not the demo's: move it away, or run in another folder"
                )
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock = os.open(self.path / MARK, flags, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for part in PARTS:
                if (self.path / part).exists():
                    shutil.rmtree(self.path / part)  # refuses a symbolic link
        except BlockingIOError:
            self._unlock()
            raise HeadroomError(f"another demo is running in {self.path}") from None
        except OSError as error:
            self._unlock()
            raise HeadroomError(f"{error.filename or self.path}: {error.strerror or error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets the folder go; what the demo wrote stays."""
        self._unlock()

    def drop_servers(self) -> None:
        """Removes what own servers wrote; they have ended."""
        shutil.rmtree(self.servers, ignore_errors=True)

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
