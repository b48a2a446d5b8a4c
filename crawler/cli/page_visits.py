"""Visits of pages that no crawl has claimed: each on a turn of its host, through the middlewares of a crawl."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scrapy import Request

from crawler.base.errors import HostBackoffError, UnavailableError
from crawler.base.models import Claimed
from crawler.worker.visits.visit import Visit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

    from crawler.base.models import Seed
    from crawler.cli.local_crawl import LocalCrawl
    from crawler.cli.request_errors import RequestErrors

TURN_SECONDS = 3_600.0  # the longest wait for a turn: no delay of a site is longer


class PageVisits:
    """Visits in a command.

    Args:
        errors: Explains what becomes of requests.
    """

    def __init__(self, crawl: LocalCrawl, errors: RequestErrors) -> None:
        self._crawl, self._errors = crawl, errors

    @asynccontextmanager
    async def of(self, seed: Seed) -> AsyncIterator[Visit]:
        """Gives a visit of a seed, on a turn of its host, and ends it.

        Raises:
            UnavailableError: The host asks for a pause.
        """
        worker, lane = self._crawl.worker, None
        try:
            while lane is None:
                lane, _wait_s = await worker.turns.acquire_within(seed.host, seed.site, TURN_SECONDS)
        except HostBackoffError as error:
            raise UnavailableError(f"{seed.host} asks to be left alone for now ({error})") from error
        claimed = Claimed(
            seed=seed,
            fingerprint=seed.fingerprint,
            partition=lane.partition,
            claim=f"{worker.life.session.leases[lane.partition].owner}#0",
            turn=lane.token,
            due_ms=0,
            tries=0,
            delay_s=lane.delay_s,
        )
        visit = Visit(claimed, lane, worker.events)
        worker.turns.note_use(lane, visit)
        try:
            yield visit
        finally:
            visit.abandon()
            worker.turns.release(lane)

    async def answer(self, request: Request) -> Response:
        """Returns the answer to a request of a visit, or to where it redirects to on the same host.

        Raises:
            HeadroomError: A crawl refuses it, or there is no answer: as `RequestErrors.explained` says.
        """
        while True:
            try:
                answer = await self._crawl.downloader.download_hop(request)
            except Exception as error:
                raise self._errors.explained(error, request.url) from error
            if not isinstance(answer, Request):
                return answer
            request = answer
