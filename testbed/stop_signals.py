"""What a signal does to the demo: it ends wherever it can be ended cleanly.

An exception that a signal raises between any two steps of Python would cut a coroutine in half that was just about to
be awaited. So code that awaits is cancelled where it awaits, and only code that blocks gets an exception.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Heeds the first signal; all later ones are ignored, so that none cuts the cleaning up short.

    Attributes:
        status: The exit status that tells of the signal, as shells say it: 128 and its number; 0: none came.
    """

    def __init__(self) -> None:
        self.status = 0
        self._awaiting: asyncio.Task[Any] | None = None  # what is cancelled; None: an exception is raised
        for number in STOP_SIGNALS:
            signal.signal(number, self._heed)

    async def cancel(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs work to its end, or until a signal cancels it; then `status` says so."""
        self._awaiting = asyncio.current_task()
        try:
            await work
        except (asyncio.CancelledError, SystemExit):  # asyncio would log the exit of a task
            if not self.status:
                raise
        finally:
            self._awaiting = None

    @contextlib.contextmanager
    def interrupt(self) -> Iterator[None]:
        """Within it nothing is awaited, and a signal raises SystemExit at once, however long the code would block."""
        awaiting, self._awaiting = self._awaiting, None
        try:
            yield
        finally:
            self._awaiting = awaiting

    def _heed(self, number: int, _frame: object) -> None:
        for each in STOP_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        self.status = 128 + number
        if self._awaiting is None:
            sys.exit(self.status)
        self._awaiting.get_loop().call_soon_threadsafe(self._awaiting.cancel)
