"""Downloads of robots.txt end when there is as much of the file as is read; what came by then is the response."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.signalmanager import SignalManager


class Truncation:
    """Counts the bytes of requests whose state has `robots_bytes`.

    It listens while there is such a request only: the signal comes with each read of each page.

    Args:
        max_bytes: How much of a body is read.
    """

    def __init__(self, signal_manager: SignalManager, max_bytes: int) -> None:
        self._signals = signal_manager
        self._max_bytes = max_bytes
        self._downloads = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Truncates such downloads meanwhile."""
        if not self._downloads:
            self._signals.connect(self.bytes_received, signal=signals.bytes_received)
        self._downloads += 1
        try:
            yield
        finally:
            self._downloads -= 1
            if not self._downloads:
                self._signals.disconnect(self.bytes_received, signal=signals.bytes_received)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Counts what came.

        Raises:
            StopDownload: It is enough.
        """
        state = state_of(request)
        if state is not None and state.robots_bytes is not None:
            state.robots_bytes += len(data)
            if state.robots_bytes >= self._max_bytes:
                raise StopDownload(fail=False)
