"""Downloads that end when there is enough of them: what came is the response."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.signalmanager import SignalManager

CUT = "robots_bytes"  # meta key of a request that is cut: what came of it so far


class Cut:
    """Listens while there is such a download only: the signal comes with each read of each page.

    Args:
        most_bytes: How much is enough.
    """

    def __init__(self, heard: SignalManager, most_bytes: int) -> None:
        self._signals = heard
        self._most_bytes = most_bytes
        self._downloads = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Cuts the requests that are marked with CUT meanwhile."""
        if not self._downloads:
            self._signals.connect(self.received, signal=signals.bytes_received)
        self._downloads += 1
        try:
            yield
        finally:
            self._downloads -= 1
            if not self._downloads:
                self._signals.disconnect(self.received, signal=signals.bytes_received)

    def received(self, data: bytes, request: Request) -> None:
        """Counts what came.

        Raises:
            StopDownload: It is enough.
        """
        had = request.meta.get(CUT)
        if had is not None:
            request.meta[CUT] = had + len(data)
            if had + len(data) >= self._most_bytes:
                raise StopDownload(fail=False)
