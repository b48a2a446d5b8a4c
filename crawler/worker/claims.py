"""How a worker claims: partition after partition, careful with quarantined seeds, and sure of what it holds."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from crawler.frontier.queue import ClaimAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier.queue import Queue
    from crawler.worker.settler import Settler

logger = logging.getLogger(__name__)
RECALL_SECONDS = 15.0  # a session; one call for as long


class Claims:
    """Asks the partitions for seeds, in turn.

    Args:
        drain_s: How long may be waited until all that has ended is told: SESSION_SECONDS.
        on_answer: Called with each answer and its partition.
    """

    def __init__(
        self, queue: Queue, settler: Settler, *, drain_s: float, on_answer: Callable[[int, ClaimAnswer], None]
    ) -> None:
        self._queue = queue
        self._settler = settler
        self._drain_s = drain_s
        self._on_answer = on_answer
        self._number = 0
        self._partition = 0
        self._state = ""  # of the last answer
        self._recall_at = 0.0

    async def claim(self, owner: str, most: int, carrying: int) -> ClaimAnswer:
        """Claims up to `most` seeds; tries the partitions in turn until one has some.

        Raises:
            redis.exceptions.RedisError: Redis is away; seeds it may have given are taken back by the owner's next call.
        """
        waits: list[int] = []
        answer = ClaimAnswer("ok", None, [])
        if self._state in ("drain", "quarantined"):  # what ended and is not settled yet would still count as beside it
            await self._settler.drain(self._drain_s)
        for _ in range(1 if self._state == "drain" else self._queue.partitions):
            self._number += 1
            claim = f"{owner}#{self._number}"
            answer = await self._queue.claim(self._partition, owner, claim, most=most, carrying=carrying)
            self._on_answer(self._partition, answer)
            self._state = answer.state
            if answer.state == "drain":  # next time this partition alone is asked, or others would feed us on
                return answer
            self._partition = (self._partition + 1) % self._queue.partitions
            if answer.seeds:
                return answer
            if answer.wait_ms is not None:
                waits.append(answer.wait_ms)
        return ClaimAnswer(answer.state, min(waits) if waits else None, [])

    async def recall(self, owner: str) -> None:
        """Every RECALL_SECONDS, gives back what Redis takes for ours and we don't: it may have lost its last writes.

        Raises:
            redis.exceptions.RedisError: Redis is away.
        """
        if time.monotonic() < self._recall_at:
            return
        if recalled := await self._queue.recall(owner):
            logger.warning("Redis had forgotten how %d seeds of this worker ended; they are ready again", recalled)
        self._recall_at = time.monotonic() + RECALL_SECONDS
