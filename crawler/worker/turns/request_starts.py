"""When a request may be sent: once it has started on its lane, and on a turn of its address where that has a budget."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from crawler.worker.visits.request_state import TurnUse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request

    from crawler.worker.turns.ip_budget import IpBudget
    from crawler.worker.turns.turns import Turns
    from crawler.worker.visits.request_state import RequestState
    from crawler.worker.visits.visit import Lane, Visit

    StartAgain = Callable[[Request], Awaitable[None]]


class RequestStarts:
    """Starts requests on their turns, each when these allow it.

    Args:
        ip_budget: None: addresses have none.
    """

    def __init__(self, turns: Turns, ip_budget: IpBudget | None) -> None:
        self._turns = turns
        self._ip_budget = ip_budget

    async def start(
        self,
        request: Request,
        state: RequestState,
        lane: Lane,
        *,
        is_acquired: bool,
        start_again: StartAgain,
        may_send: Callable[[], bool],
    ) -> None:
        """Starts a request on its lane, and on a turn of its address; where that fails it leaves them to others.

        Args:
            is_acquired: The lane was acquired for this request alone.
            start_again: What has the request start on them once more.
            may_send: What says whether it may still be sent when a connection is there.

        Raises:
            HostBackoffError: The host has a backoff, or so many requests wait for the address that this one can't.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        try:
            state.visit.check()
            await self._start_on(lane, state.visit)
        except BaseException:
            if is_acquired:
                self._turns.release(lane)
            raise
        state.turn_use = use = TurnUse(lane, is_acquired, None, start_again, may_send)
        try:
            await self._acquire_address(request, use, state.visit)
        except BaseException:
            self._turns.end_request(state)
            raise

    async def start_again(self, request: Request, use: TurnUse, visit: Visit) -> None:
        """Starts a request in flight on all of its turns as if it were new.

        Raises:
            HostBackoffError: As `start`.
            HeadroomError: As `start`.
        """
        lane = use.lane
        if lane.must_ask:
            await visit.run(self._turns.heed_politeness(lane, visit))
        await visit.run(lane.start_again())
        if use.address is not None:
            self._turns.release_address(use)
            await self._acquire_address(request, use, visit)

    async def _start_on(self, lane: Lane, visit: Visit) -> None:
        """Starts a request on a lane when its host's politeness allows it, though that changed while this waited."""
        while True:
            if lane.must_ask:
                await visit.run(self._turns.heed_politeness(lane, visit))
            await (lane.start() if lane.idle else self._wait_for(lane, visit))
            if not lane.must_ask:
                return
            lane.finish()

    async def _wait_for(self, lane: Lane, visit: Visit) -> None:
        """Starts a request on a lane that is in use; whoever is cancelled as it has just started leaves it free."""
        visit.check()
        starting = asyncio.ensure_future(lane.start())
        try:
            await visit.wait(starting)
        except BaseException:
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                lane.finish()
            raise

    async def _acquire_address(self, request: Request, use: TurnUse, visit: Visit) -> None:
        """Waits for a turn of the address where addresses have a budget, unless the request goes to a proxy instead."""
        if self._ip_budget is None or request.meta.get("proxy"):
            return
        use.address = await visit.run(self._ip_budget.acquire(urlparse_cached(request).hostname or "", visit))
        if use.address is not None:
            use.lane.mark_start()  # again: the request is sent only now
