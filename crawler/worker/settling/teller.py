"""Tells plans of pages that were delivered before they asked: the visit of such a seed fetches nothing."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from crawler.base import log_events, reasons, tasks
from crawler.base.also import Also
from crawler.worker.visits.outcomes import outcome_of_delivery_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.worker.visits.visit import Visit

logger: EventLogger = logging.getLogger(__name__)


class Teller:
    """Delivers the messages of visits that fetch nothing, and ends these visits."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._deliver: Callable[[Also], Awaitable[None]] = _deliver_nowhere
        self._tasks: set[asyncio.Task[None]] = set()  # the event loop alone would not keep them alive

    def use(self, deliver: Callable[[Also], Awaitable[None]]) -> None:
        """Has messages delivered to all sinks. Where there are none it isn't called, and visits just end."""
        self._deliver = deliver

    def tell(self, visit: Visit) -> None:
        """Tells the plans of a visit's seed, in the background; then the visit ends.

        Those that couldn't be told are left to another visit, if any plan was told.
        """
        task = tasks.start(self._tell(visit), name="tell", died=self._events.publish)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stops telling; visits that are still to be told end as not told."""
        await tasks.cancel(*self._tasks)

    async def _tell(self, visit: Visit) -> None:
        try:
            await self._deliver_all(visit)
        except BaseException as error:
            visit.end_as(*outcome_of_delivery_error(error))  # nobody was told: the seed must not be finished
            raise
        finally:
            visit.end_part()

    async def _deliver_all(self, visit: Visit) -> None:
        seeds = visit.seeds
        answers = await asyncio.gather(*(self._deliver(Also.of(seed)) for seed in seeds), return_exceptions=True)
        errors = [error for error in answers if error is not None]
        for error in errors:
            if outcome_of_delivery_error(error).reason == reasons.PIPELINE_ERROR:
                logger.error(log_events.PLANS_NOT_TOLD, visit.seed.url, exc_info=error)
        if len(errors) < len(seeds):
            visit.leave_out(*(seed for seed, error in zip(seeds, answers, strict=True) if error is not None))
        else:  # another try is for all of them, if it may help any
            outcomes = [outcome_of_delivery_error(error) for error in errors]
            visit.end_as(*next((outcome for outcome in outcomes if outcome.operation != "fail"), outcomes[0]))


async def _deliver_nowhere(also: Also) -> None:
    """Delivers a message where there are no sinks."""
