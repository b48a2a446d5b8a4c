"""A time limit that can be paused."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Deadline:
    """Calls back once when its time is up; never before `start`, nor after `stop`.

    Args:
        on_passed: Called when the time is up.
    """

    __slots__ = ("_left_s", "_on_passed", "_passed", "_pauses", "_timer")

    def __init__(self, on_passed: Callable[[], None]) -> None:
        self._passed = False
        self._on_passed = on_passed
        self._left_s: float | None = None  # None: not started, or stopped
        self._pauses = 0  # number of `paused` contexts entered and not left
        self._timer: asyncio.TimerHandle | None = None

    @property
    def passed(self) -> bool:
        """Whether the time is up; never while it is paused."""
        return self._passed and not self._pauses

    def start(self, seconds: float) -> None:
        """Starts the time limit."""
        self._left_s = seconds
        self._run()

    def stop(self) -> None:
        """Ends the time limit without a call."""
        self._pause()
        self._left_s = None
        self._on_passed = _nothing  # breaks the reference cycle with the owner, which then needs no garbage collector

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pauses the time limit within a context, also one that has passed; such contexts may overlap."""
        self._pauses += 1
        self._pause()
        try:
            yield
        finally:
            self._pauses -= 1
            self._run()

    def _run(self) -> None:
        if self._left_s is not None and not self._pauses and not self._passed:
            self._timer = asyncio.get_running_loop().call_later(self._left_s, self._pass)

    def _pause(self) -> None:
        if self._timer is not None:
            self._left_s = max(0.0, self._timer.when() - asyncio.get_running_loop().time())
            self._timer.cancel()
            self._timer = None

    def _pass(self) -> None:
        self._timer = None
        self._passed = True
        self._on_passed()


def _nothing() -> None:
    pass
