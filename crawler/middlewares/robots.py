"""Downloader middleware: robots.txt, by RFC 9309.

Each authority's file is fetched once for the whole cluster and kept for a day (file.py says what an answer
means), on the turn of the page that needs it. Redirects are followed for it, also to other hosts: with the file known
for that host, or on a turn there. While a turn is held another may be waited for only briefly, and each for a time of
its own, so that hosts which point at each other don't stay locked; where none gets free the seed goes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError
from scrapy import Request
from scrapy.exceptions import NotConfigured

from crawler import config, urls
from crawler.errors import UrlError
from crawler.middlewares.refused import RefusedError
from crawler.robots import file as robots_file
from crawler.robots.cache import Known, RobotsCache
from crawler.robots.rules import MOST_BYTES, MOST_LINE_BYTES, parse, product_token
from crawler.robots.shared import SharedRobots
from crawler.robots.truncate import CUT, Cut
from crawler.worker.borrowing import ask
from crawler.worker.outcomes import PAGE_TIMEOUT, REDIRECTS, Outcome, of_exception, retry_after_s
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.robots.file import RobotsFile
    from crawler.worker.visits import Lane, Visit

logger = logging.getLogger(__name__)
MOST_REDIRECTS = 5  # RFC 9309, 2.3.1.2: at least five are followed
FETCH_SECONDS = 30  # a file of this size that takes longer isn't there
LOOK_SECONDS = 0.1  # between two looks whether another worker has it by now, or whether a turn is free
ELSEWHERE_SECONDS = (1.0, 3.0)  # how long a turn of the host that a file has moved to is waited for, at random


class RobotsMiddleware:
    """Refuses what robots.txt disallows for this crawler.

    Args:
        agent: The product token that groups are matched with.
        retry_s: ROBOTS_RETRY_SECONDS.
        most_delay_s: ROBOTS_MAX_CRAWL_DELAY_SECONDS.
        timeout_s: DOWNLOAD_TIMEOUT; a shorter one of ours goes before it.
    """

    def __init__(
        self, crawler: Crawler, worker: Worker, agent: str, *, retry_s: float, most_delay_s: float, timeout_s: float
    ) -> None:
        self._crawler = crawler
        self._worker = worker
        self._agent = agent
        self._retry_s = retry_s
        self._most_delay_s = most_delay_s
        self._timeout_s = min(timeout_s, FETCH_SECONDS)
        self._cut = Cut(crawler.signals, MOST_BYTES + MOST_LINE_BYTES)
        self._cache = RobotsCache()
        self._asking: dict[str, asyncio.Future[None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware.

        Raises:
            NotConfigured: ROBOTSTXT_OBEY is off.
            ConfigError: A setting is wrong.
        """
        settings = crawler.settings
        if not config.flag(settings, "ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        return cls(
            crawler,
            Worker.of(crawler),
            product_token(str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])),
            retry_s=config.number(settings, "ROBOTS_RETRY_SECONDS", 0, robots_file.LONGEST_WAIT_SECONDS),
            most_delay_s=config.number(settings, "ROBOTS_MAX_CRAWL_DELAY_SECONDS", 0, 3_600),
            timeout_s=config.number(settings, "DOWNLOAD_TIMEOUT", 0.1, 3_600),
        )

    @cached_property
    def _shared(self) -> SharedRobots:
        return SharedRobots(self._worker.redis, self._worker.keys, self._worker.config.frontier.partitions)

    async def process_request(self, request: Request) -> None:
        """Lets pass what the rules allow.

        Raises:
            RefusedError: `robots`, or `robots-unreachable` while the rules can't be read.
        """
        if "visit" not in request.meta or request.meta.get("dont_obey_robotstxt"):
            return
        url = request.url if "verbatim_url" in request.meta else urls.canonical(request.url)
        authority = urls.origin(url)
        known = self._cache.get(authority)
        if known is None or known.until <= _now():
            known = await self._known(authority, request)
        if known.rules is None:
            given_up = known.failures >= self._worker.config.frontier.max_attempts
            left_s = max(0.0, known.until - _now()) * random.uniform(1.0, 1.25)  # not all at once
            raise RefusedError(Outcome("fail" if given_up else "retry", "robots-unreachable"), left_s)
        lane = _turn_of(request)
        if known.delay_s and (lane is None or lane.delay_s < known.delay_s):
            await self._slow_down(urls.host(url), lane, known.delay_s)
        if not known.rules.allows(request.url):
            self._crawler.stats.inc_value("robotstxt/forbidden")
            raise RefusedError(Outcome("fail", "robots"))

    # -- What is known ------------------------------------------------------------------------------------------------

    async def _known(self, authority: str, request: Request) -> Known:
        """Returns an authority's rules; of several requests one finds them out.

        That one holds a turn of the host before others wait for it: they may hold all the others.
        """
        lane = _turn_of(request)
        borrowed = None
        try:
            while True:
                known = self._cache.get(authority)
                if known is not None and known.until > _now():
                    return known
                if (asking := self._asking.get(authority)) is not None:
                    await asyncio.wait([asking])
                elif lane is not None:
                    break
                elif (file := await self._stored(authority)) is not None and file.fresh_s > 0:
                    self._cache.put(authority, self._compiled(file))
                else:
                    lane = borrowed = await self._worker.acquire_turn(
                        urls.host(urls.canonical(request.url)), request.meta["visit"]
                    )
            asking = self._asking[authority] = asyncio.get_running_loop().create_future()
            try:
                known = await self._find(authority, request.meta["visit"], lane)
                self._cache.put(authority, known)
                return known
            finally:
                del self._asking[authority]
                asking.set_result(None)
        finally:
            if borrowed is not None:
                self._worker.release_turn(borrowed)

    async def _find(self, authority: str, visit: Visit, lane: Lane) -> Known:
        file = await self._stored(authority)
        if file is not None and file.fresh_s > 0:
            return self._compiled(file)
        known = self._compiled(await self._asked(authority, file, visit, lane))
        if known.rules is not None:
            await self._slow_down(lane.host, lane, known.delay_s)
        return known

    async def _stored(self, authority: str) -> RobotsFile | None:
        with contextlib.suppress(RedisError):
            return await self._shared.read(authority)
        return None

    def _compiled(self, file: RobotsFile) -> Known:
        until = _now() + file.fresh_s
        if file.state == "unreachable":
            return Known(until, None, file.failures)
        rules = parse(file.text, self._agent)
        return Known(until, rules, delay_s=min(rules.crawl_delay_s, self._most_delay_s), weight=len(file.text))

    async def _slow_down(self, host: str, lane: Lane | None, delay_s: float) -> None:
        """Keeps the delay on the turn at hand, and on all that are taken from now on."""
        if lane is not None:
            lane.delay_s = max(lane.delay_s, delay_s)
        with contextlib.suppress(RedisError):  # the next request that finds a turn too fast says it again
            await self._shared.slow_down(host, delay_s)

    # -- Asking -------------------------------------------------------------------------------------------------------

    async def _asked(self, authority: str, earlier: RobotsFile | None, visit: Visit, lane: Lane) -> RobotsFile:
        """Asks for the file, unless another worker does."""
        owner = self._worker.session.owner
        with contextlib.suppress(RedisError):
            while not await self._shared.begin(authority, owner):
                await asyncio.sleep(LOOK_SECONDS)
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
            for borrowed in turns.values():
                self._worker.release_turn(borrowed)

    async def _follow(
        self, authority: str, earlier: RobotsFile | None, visit: Visit, turns: dict[str, Lane]
    ) -> RobotsFile:
        """Follows the file from host to host; the turns it takes are added to those it has."""
        url = f"{authority}/robots.txt"
        nowhere = robots_file.of_response(404, b"", 0.0, earlier, self._retry_s)
        for hop in range(MOST_REDIRECTS + 1):
            try:
                response = await self._download(url, visit, turns)
            except Exception as error:  # whatever a download raises: there was no answer
                outcome = of_exception(error)
                of_the_page = outcome.operation == "release" or outcome == PAGE_TIMEOUT
                if of_the_page or (hop == 0 and outcome.reason == "private-address"):
                    raise
                logger.info("%s: %s", url, outcome.reason)
                if outcome.reason == "bad-redirect":
                    return nowhere
                return robots_file.unreachable(earlier, self._retry_s)
            wait_s = retry_after_s(response.headers.get("Retry-After"))
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or location is None:
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
        meta: dict[str, Any] = {
            "visit": visit,
            "lane": turns[host],
            "dont_obey_robotstxt": True,
            "dont_redirect": True,
            "download_timeout": self._timeout_s,
            CUT: 0,
        }
        # Asked for uncompressed, so that what is cut off is still a file.
        request = Request(url, headers={"Accept-Encoding": "identity"}, meta=meta, dont_filter=True)
        self._crawler.stats.inc_value("robotstxt/request_count")
        with self._cut.listening():
            return await engine.download_async(request)

    async def _turn_elsewhere(self, host: str, site: str) -> Lane:
        """Takes a turn of the host that a file has moved to.

        Raises:
            RefusedError: None gets free; the seed goes back, and its turn to who may be waiting for that.
            LeftAloneError: The host wants to be left alone for long: the file is as good as unreachable.
        """
        worker = self._worker
        until = _now() + random.uniform(*ELSEWHERE_SECONDS)
        while True:
            with contextlib.suppress(RedisError):
                lane, _wait_s = await ask(worker.queue, host, site, worker.session.owner)
                if lane is not None:
                    return lane
            if worker.stopping or not worker.session.alive or _now() >= until:
                raise RefusedError(Outcome("release", "robots-elsewhere"))
            await asyncio.sleep(LOOK_SECONDS)


def _turn_of(request: Request) -> Lane | None:
    """Returns the turn that a request comes with; None: it will borrow one."""
    lane: Lane | None = request.meta.get("lane")
    return None if lane is None or lane.released else lane


def _now() -> float:
    return asyncio.get_running_loop().time()
