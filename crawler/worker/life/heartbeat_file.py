"""A file by which whoever runs a worker, such as Kubernetes or a container's health check, sees that it is alive."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.base.errors import ConfigError
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
READY, WAITS = "ready\n", "waits\n"


class HeartbeatFile:
    """Is written at each beat of the event loop, so that its age tells a live worker from a dead or frozen one.

    Its text says whether the worker's session is alive: `ready`, or `waits`. A worker without work is as ready as any
    other; one whose Redis is away waits, and is no better for being started again. The file is removed at the end.

    Args:
        path: HEARTBEAT_FILE; its folder must be there.

    Raises:
        ConfigError: The file can't be written.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._next = Path(f"{path}.next")  # takes the file's place: nobody reads half of it
        self._warn = Seldom(logger.warning)
        try:
            self._next.touch()
            self._next.unlink()  # a worker that never starts leaves nothing
            self._path.unlink(missing_ok=True)  # a worker that was killed has left it: this one hasn't joined yet
        except OSError as error:
            raise ConfigError("HEARTBEAT_FILE", path, f"a file that can be written ({error.strerror})") from None

    def beat(self, *, is_ready: bool) -> None:
        """Writes the file. Blocks as long as the file system does: the file is meant to be in memory."""
        try:
            self._next.write_text(READY if is_ready else WAITS, encoding="ascii")
            self._next.replace(self._path)
        except OSError as error:
            self._warn(log_events.HEARTBEAT_FAILED, error)

    def remove(self) -> None:
        """Removes the file."""
        for path in (self._path, self._next):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
