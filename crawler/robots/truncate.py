"""Ends the download of a robots.txt when enough of it has arrived; the response then has the bytes received."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import StopDownload

from crawler.worker.visits.request_state import state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.signalmanager import SignalManager


class Truncation:
    """Counts the bytes of the answers to requests for robots.txt.

    It is connected only while there is such a request, because the signal is sent for each piece of every page.

    Args:
        max_bytes: How much of a body is read.
    """

    def __init__(self, signal_manager: SignalManager, max_bytes: int) -> None:
        self._signals = signal_manager
        self._max_bytes = max_bytes
        self._downloads = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()  # how many bytes have come

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Truncates downloads of robots.txt within a context; such contexts may overlap."""
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
        """Counts the bytes received.

        Raises:
            StopDownload: They are as many as are read of a file.
        """
        state = state_of(request)
        if state is not None and state.purpose.is_robots_txt:
            self._received[request] = received = self._received.get(request, 0) + len(data)
            if received >= self._max_bytes:
                raise StopDownload(fail=False)
