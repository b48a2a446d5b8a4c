"""Asks a host that has answered before for its robots.txt, to see whether this worker still reaches the web."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from scrapy import Request

from crawler.base import urls
from crawler.base.errors import HeadroomError
from crawler.worker.life.egress import PROBE_TIMEOUT_SECONDS
from crawler.worker.visits.request_state import Purpose, RequestState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.worker.life.egress import Place
    from crawler.worker.visits.visit import Lane, Visit
    from crawler.worker.worker import Worker

TURN_SECONDS = 8.0  # how long a turn of the host is waited for at most; its other pages may be answered meanwhile
LOOK_SECONDS = 1.0  # how often it is looked whether they were


class EgressCheck:
    """Asks places on behalf of visits whose own host gave no answer. `TurnMiddleware` notes the answers."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler = crawler
        self._egress, self._turns = worker.life.egress, worker.turns

    async def ask(self, place: Place, visit: Visit) -> None:
        """Asks a place for its robots.txt on a turn of its host; needless once anybody has answered.

        Does nothing when no turn is free in time.
        """
        host = urls.host(place.authority)
        if host == visit.lane.host and not visit.lane.released:
            await self._ask(place, visit, visit.lane)
            return
        lane, begun_at = None, asyncio.get_running_loop().time()
        with contextlib.suppress(HeadroomError, RedisError):
            while lane is None and asyncio.get_running_loop().time() < begun_at + TURN_SECONDS:
                if self._egress.answered_since(begun_at):
                    return
                lane, _ = await self._turns.acquire_within(host, place.site, LOOK_SECONDS)
        if lane is not None:
            try:
                await self._ask(place, visit, lane)
            finally:
                self._turns.release(lane)

    async def _ask(self, place: Place, visit: Visit, lane: Lane) -> None:
        engine = self._crawler.engine
        assert engine is not None  # visits exist only while the engine runs
        state = RequestState(Purpose(visit, lane, is_robots_txt=True, checks_egress=True))
        meta = state.meta(dont_obey_robotstxt=True, dont_redirect=True, download_timeout=PROBE_TIMEOUT_SECONDS)
        request = Request(f"{place.authority}/robots.txt", meta=meta, dont_filter=True)
        with contextlib.suppress(Exception):  # whatever a download raises, there was no answer
            await engine.download_async(request)
