"""Finds the rules of an authority: in memory, else in Redis, else by asking the host, once for the whole cluster.

A file is asked for on the turn of the page that needs it. Redirects are followed, also to other hosts: where the file
is known for that host, it is taken from there, else it is asked for on a turn there. While one turn is held another may
be waited for only briefly, and each time for another while, so that two hosts which redirect to each other don't keep
each other's turns; where none gets free in time, the seed goes back to the frontier.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from scrapy import Request

from crawler import urls
from crawler.errors import FrontierError, UrlError
from crawler.robots import file as robots_file
from crawler.robots.cache import CachedRules, RobotsCache
from crawler.robots.rules import MAX_FILE_BYTES, MAX_LINE_BYTES, parse
from crawler.robots.shared import SharedRobots
from crawler.robots.truncate import Truncation
from crawler.worker.outcomes import PAGE_TIMEOUT, REDIRECT_STATUSES, Outcome, outcome_of_error, retry_after_s
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import RequestState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.robots.file import RobotsFile
    from crawler.worker.lanes import Lane
    from crawler.worker.visits import Visit
    from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)
MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2: at least five are followed
FETCH_SECONDS = 30  # a file of this size that takes longer isn't there
POLL_SECONDS = 0.1  # between two looks whether another worker has the file by now, or whether a turn is free
ELSEWHERE_SECONDS = (
    1.0,
    3.0,
)  # how long a turn of the host that a file has moved to is waited for: at random, see above


class RobotsFinder:
    """Knows the rules of authorities, or finds them out.

    Args:
        agent: The product token that the groups of a file are matched with.
        retry_s: ROBOTS_RETRY_SECONDS.
        max_delay_s: ROBOTS_MAX_CRAWL_DELAY_SECONDS.
        timeout_s: DOWNLOAD_TIMEOUT; FETCH_SECONDS where that is longer.
    """

    def __init__(
        self, crawler: Crawler, worker: Worker, agent: str, *, retry_s: float, max_delay_s: float, timeout_s: float
    ) -> None:
        self._crawler = crawler
        self._worker = worker
        self._agent = agent
        self._retry_s = retry_s
        self._max_delay_s = max_delay_s
        self._timeout_s = min(timeout_s, FETCH_SECONDS)
        self._truncation = Truncation(crawler.signals, MAX_FILE_BYTES + MAX_LINE_BYTES)
        self._cache = RobotsCache()
        self._shared = SharedRobots(worker.redis, worker.config.frontier.keys, worker.config.frontier.partitions)
        self._finding: dict[str, asyncio.Future[None]] = {}  # by authority: somebody of this worker is at it

    def cached(self, authority: str) -> CachedRules | None:
        """Returns what is known and counts still; None when it must be found out."""
        known = self._cache.get(authority)
        return None if known is None or known.until <= _now() else known

    async def find(self, authority: str, host: str, state: RequestState) -> CachedRules:
        """Returns an authority's rules; of several requests that need them one finds them out.

        That one holds a turn of the host before the others wait for it: they may hold all the other turns.

        Args:
            state: Of the request that needs the rules.

        Raises:
            RefusedError: They can't be found out now; the seed goes back.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        lane, acquired = state.turn, None
        try:
            while True:
                if (known := self.cached(authority)) is not None:
                    return known
                if (finding := self._finding.get(authority)) is not None:
                    await asyncio.wait([finding])
                elif lane is not None:
                    break
                elif (file := await self._stored(authority)) is not None and file.fresh_s > 0:
                    self._cache.put(authority, self._compiled(file))
                else:
                    lane = acquired = await self._worker.turns.acquire(host, state.visit)
            finding = self._finding[authority] = asyncio.get_running_loop().create_future()
            try:
                known = await self._find_out(authority, state.visit, lane)
                self._cache.put(authority, known)
                return known
            finally:
                del self._finding[authority]
                finding.set_result(None)
        finally:
            if acquired is not None:
                self._worker.turns.release(acquired)

    async def slow_down(self, host: str, lane: Lane | None, delay_s: float) -> None:
        """Keeps a Crawl-delay on the turn at hand, and on all turns of the host that are taken from now on."""
        if lane is not None:
            lane.delay_s = max(lane.delay_s, delay_s)
        with contextlib.suppress(RedisError):  # the next request that finds a turn too fast says it again
            await self._shared.slow_down(host, delay_s)

    async def _find_out(self, authority: str, visit: Visit, lane: Lane) -> CachedRules:
        file = await self._stored(authority)
        if file is not None and file.fresh_s > 0:
            return self._compiled(file)
        known = self._compiled(await self._ask(authority, file, visit, lane))
        if known.rules is not None:
            await self.slow_down(lane.host, lane, known.delay_s)
        return known

    async def _stored(self, authority: str) -> RobotsFile | None:
        with contextlib.suppress(RedisError):
            return await self._shared.read(authority)
        return None

    def _compiled(self, file: RobotsFile) -> CachedRules:
        until = _now() + file.fresh_s
        if file.state == "unreachable":
            return CachedRules(until, None, file.failures)
        rules = parse(file.text, self._agent)
        return CachedRules(until, rules, delay_s=min(rules.crawl_delay_s, self._max_delay_s), weight=len(file.text))

    # -- Asking the host ----------------------------------------------------------------------------------------------

    async def _ask(self, authority: str, earlier: RobotsFile | None, visit: Visit, lane: Lane) -> RobotsFile:
        """Asks for the file, unless another worker does; that one's answer is waited for."""
        owner = self._worker.session.owner
        with contextlib.suppress(RedisError):
            while not await self._shared.begin(authority, owner):
                await asyncio.sleep(POLL_SECONDS)
                file = await self._shared.read(authority)
                if file is not None and file.fresh_s > 0:
                    return file
        found: RobotsFile | None = None
        try:
            found = await self._fetch(authority, earlier, visit, lane)
        finally:
            with contextlib.suppress(RedisError):
                await self._shared.end(authority, found)
        return found

    async def _fetch(self, authority: str, earlier: RobotsFile | None, visit: Visit, lane: Lane) -> RobotsFile:
        turns = {lane.host: lane}
        try:
            return await self._follow(authority, earlier, visit, turns)
        finally:
            del turns[lane.host]
            for acquired in turns.values():
                self._worker.turns.release(acquired)

    async def _follow(
        self, authority: str, earlier: RobotsFile | None, visit: Visit, turns: dict[str, Lane]
    ) -> RobotsFile:
        """Follows the file from host to host; the turns that it acquires are added to those it has."""
        url = f"{authority}/robots.txt"
        nowhere = robots_file.of_response(404, b"", 0.0, earlier, self._retry_s)
        for hop in range(MAX_REDIRECTS + 1):
            try:
                response = await self._download(url, visit, turns)
            except Exception as error:  # whatever a download raises: there was no answer
                outcome = outcome_of_error(error)
                of_the_page = outcome.operation == "release" or outcome == PAGE_TIMEOUT
                if of_the_page or (hop == 0 and outcome.reason == "private-address"):
                    raise
                logger.info("%s: %s", url, outcome.reason)
                if outcome.reason == "bad-redirect":
                    return nowhere
                return robots_file.unreachable(earlier, self._retry_s)
            wait_s = retry_after_s(response.headers.get("Retry-After"))
            location = response.headers.get("Location")
            if response.status not in REDIRECT_STATUSES or location is None:
                return robots_file.of_response(response.status, response.body, wait_s, earlier, self._retry_s)
            try:
                url = urls.canonical(location.decode("utf-8", "replace"), url)
            except UrlError:
                return nowhere
            target = urls.origin(url)
            if target != authority and url == f"{target}/robots.txt":
                known = await self._stored(target)
                if known is not None and known.fresh_s > 0:
                    return known
        return nowhere

    async def _download(self, url: str, visit: Visit, turns: dict[str, Lane]) -> Response:
        engine = self._crawler.engine
        assert engine is not None  # it runs us
        host = urls.host(url)
        if host not in turns:
            turns[host] = await self._turn_elsewhere(host, visit.seed.site)
        state = RequestState(visit, turns[host], robots_bytes=0)
        meta = state.meta(dont_obey_robotstxt=True, dont_redirect=True, download_timeout=self._timeout_s)
        # Asked for uncompressed, so that what is truncated is still a file.
        request = Request(url, headers={"Accept-Encoding": "identity"}, meta=meta, dont_filter=True)
        assert self._crawler.stats is not None  # it is there before any request
        self._crawler.stats.inc_value("robotstxt/request_count")
        with self._truncation.listening():
            return await engine.download_async(request)

    async def _turn_elsewhere(self, host: str, site: str) -> Lane:
        """Takes a turn of the host that a file has moved to.

        Raises:
            RefusedError: None gets free; the seed goes back, and its turn to a visit that may be waiting for that one.
            HostBackoffError: The host has a long backoff: the file is as good as unreachable.
        """
        until = _now() + random.uniform(*ELSEWHERE_SECONDS)
        while True:
            with contextlib.suppress(RedisError):
                try:
                    lane, _wait_s = await self._worker.turns.try_acquire(host, site)
                except FrontierError:
                    break
                if lane is not None:
                    return lane
            if _now() >= until:
                break
            await asyncio.sleep(POLL_SECONDS)
        raise RefusedError(Outcome("release", "robots-elsewhere"))


def _now() -> float:
    return asyncio.get_running_loop().time()
