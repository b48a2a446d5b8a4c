"""What the parts of a worker do again and again: each part adds its own duties, and one task sees to them all."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Duties:
    """Periodic duties, which are done one after the other, in the order in which they were added."""

    def __init__(self) -> None:
        # The duties, each with its interval in seconds.
        self._duties: list[tuple[float, Callable[[], Awaitable[None] | None]]] = []

    def add(self, interval_s: float, duty: Callable[[], Awaitable[None] | None]) -> None:
        """Has a duty done at once when the worker opens, and then at intervals.

        Args:
            interval_s: From the end of one round to the next, above 0.
            duty: It holds up all others while it runs, the heartbeat among them; what it raises ends the worker.
        """
        self._duties.append((interval_s, duty))

    async def run(self) -> None:
        """Does all duties when they are due, until cancelled."""
        now = asyncio.get_running_loop().time
        due_at_s = [now()] * len(self._duties)
        while True:
            for number, (interval_s, duty) in enumerate(self._duties):
                if now() >= due_at_s[number]:
                    if inspect.isawaitable(doing := duty()):
                        await doing
                    due_at_s[number] = now() + interval_s
            await asyncio.sleep(max(0.0, min(due_at_s) - now()))
