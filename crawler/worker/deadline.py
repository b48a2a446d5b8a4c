"""A limit on how long something may take, with pauses that don't count."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Deadline:
    """Says once that the time is up; never before `start`, nor after `stop`.

    Args:
        on_passed: Called when it is.

    Attributes:
        passed: Whether it was.
    """

    __slots__ = ("_holders", "_left_s", "_on_passed", "_timer", "passed")

    def __init__(self, on_passed: Callable[[], None]) -> None:
        self.passed = False
        self._on_passed = on_passed
        self._left_s: float | None = None  # None: not started, or stopped
        self._holders = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Lets the time run."""
        self._left_s = seconds
        self._run()

    def stop(self) -> None:
        """Ends it for good, unless it has passed."""
        self._pause()
        self._left_s = None
        self._on_passed = _nothing  # whose method it is goes at once then, not when cycles are looked for

    @contextmanager
    def held(self) -> Iterator[None]:
        """Stops the time meanwhile; several may at once."""
        self._holders += 1
        self._pause()
        try:
            yield
        finally:
            self._holders -= 1
            self._run()

    def _run(self) -> None:
        if self._left_s is not None and not self._holders and not self.passed:
            self._timer = asyncio.get_running_loop().call_later(self._left_s, self._pass)

    def _pause(self) -> None:
        if self._timer is not None:
            self._left_s = max(0.0, self._timer.when() - asyncio.get_running_loop().time())
            self._timer.cancel()
            self._timer = None

    def _pass(self) -> None:
        self._timer = None
        self.passed = True
        self._on_passed()


def _nothing() -> None:
    pass
