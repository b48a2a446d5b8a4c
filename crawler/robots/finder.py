"""Finds the rules of an authority: in memory, else in Redis, else by asking the host, once for the whole cluster.

A robots.txt is fetched on the lane of the visit that needs it. Redirects are followed, also to other hosts: if the
target's robots.txt is in Redis it is taken from there, else it is fetched on a turn of the target's host. The first
turn is held while that other one is waited for. Two hosts that redirect to each other could block each other, so the
wait is short and of random length; if no turn is released in time, the seed is put off. Whoever asks next goes to the
target at once: the host that redirected is asked once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError
from scrapy import Request

from crawler.base import log_events, reasons, urls
from crawler.base.errors import SessionLostError, UrlError
from crawler.robots.cache import CachedRules, RobotsCache
from crawler.robots.file import MAX_FETCH_SECONDS, MAX_REDIRECTS, RobotsFile, page_delay_s
from crawler.robots.rules import MAX_FILE_BYTES, MAX_LINE_BYTES, parse
from crawler.robots.shared import SharedRobots
from crawler.robots.truncate import Truncation
from crawler.worker.visits.outcomes import (
    REDIRECT_STATUSES,
    UNKNOWN_ERROR,
    Outcome,
    outcome_of_error,
    retry_after_s,
)
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import Purpose, RequestState
from crawler.worker.visits.visit import FetchFailed

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.base.log_events import EventLogger
    from crawler.base.models import Seed
    from crawler.base.reasons import Reason
    from crawler.frontier.settlement import Operation
    from crawler.worker.visits.visit import Lane, Visit
    from crawler.worker.worker import Worker

logger: EventLogger = logging.getLogger(__name__)
POLL_SECONDS = 0.1  # how often it is checked whether another worker has stored the file
OTHER_TURN_SECONDS = (1.0, 3.0)  # longest wait for a turn of the host that a file has moved to; random, see above


class RobotsAsked(NamedTuple):
    """Event: a host was asked for a robots.txt that is unreachable, or was until now.

    Attributes:
        cached: What is known since.
    """

    authority: str
    host: str
    retry_s: float
    cached: CachedRules

    def outcome(self, seed: Seed, tries: int) -> tuple[Operation, Reason, int]:
        """Returns how the visit of a held seed ends that hasn't started, as arguments of `Visit.end_at_once`.

        If the seed needs the same file and that is unreachable, it was tried. Else it is released: so many seeds are
        held only while the question is asked.
        """
        if self.cached.rules is not None or urls.origin(seed.url) != self.authority:
            return "release", reasons.STOPPED, 0
        delay_s = max(self.cached.until - _now(), page_delay_s(tries, self.retry_s))
        return "retry", reasons.ROBOTS_UNREACHABLE, int(1000 * delay_s)


class RobotsFinder:
    """Finds the rules of authorities, and caches them.

    Args:
        retry_s: ROBOTS_RETRY_SECONDS: the delay until an unreachable file is asked for again the first time.
        max_delay_s: ROBOTS_MAX_CRAWL_DELAY_SECONDS: the longest Crawl-delay that is kept.
        timeout_s: DOWNLOAD_TIMEOUT, cut to MAX_FETCH_SECONDS.
    """

    def __init__(
        self, crawler: Crawler, worker: Worker, agent: str, *, retry_s: float, max_delay_s: float, timeout_s: float
    ) -> None:
        self._crawler = crawler
        self._turns, self._queue, self._session = worker.turns, worker.claiming.queue, worker.life.session
        self._events = worker.events
        self._agent = agent
        self._retry_s = retry_s
        self._max_delay_s = max_delay_s
        self._timeout_s = min(timeout_s, MAX_FETCH_SECONDS)
        self._truncation = Truncation(crawler.signals, MAX_FILE_BYTES + MAX_LINE_BYTES)
        self._cache = RobotsCache()
        self._shared = SharedRobots(
            worker.redis, worker.config.frontier.keys, worker.config.frontier.partitions, worker.events
        )
        # By authority: the future of the request of this worker that finds its rules.
        self._finding: dict[str, asyncio.Future[None]] = {}

    def cached(self, authority: str) -> CachedRules | None:
        """Returns an authority's rules if they are in memory and fresh, else None."""
        cached = self._cache.get(authority)
        return None if cached is None or cached.until <= _now() else cached

    async def find(self, authority: str, host: str, state: RequestState) -> CachedRules:
        """Returns an authority's rules; of several requests that need them, one finds them and the others wait.

        That one holds a turn of the host before the others begin to wait, because they may hold all other turns.

        Args:
            state: The state of the request that needs the rules.

        Raises:
            RefusedError: The rules can't be found now; the seed is put off.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        lane, acquired = state.held_lane, None
        try:
            while True:
                if (cached := self.cached(authority)) is not None:
                    return cached
                if (finding := self._finding.get(authority)) is not None:
                    await asyncio.wait([finding])
                elif lane is not None:
                    break
                elif (file := await self._stored(authority)) is not None and file.fresh_s > 0:
                    self._cache.put(authority, self._compiled(file))
                else:
                    lane = acquired = await self._turns.acquire(host, state.visit)
            finding = self._finding[authority] = asyncio.get_running_loop().create_future()
            try:
                rules = await self._find(authority, state.visit, lane)
                self._cache.put(authority, rules)
                return rules
            finally:
                del self._finding[authority]
                finding.set_result(None)
        finally:
            if acquired is not None:
                self._turns.release(acquired)

    async def _find(self, authority: str, visit: Visit, lane: Lane) -> CachedRules:
        file = await self._stored(authority)
        if file is not None and file.fresh_s > 0:
            return self._compiled(file)
        was_unreachable = file is not None and file.state == "unreachable"
        file = await self._ask(authority, file, visit, lane)
        cached = replace(self._compiled(file), asked_at=_now())
        if cached.rules is not None and not cached.delay_s:
            with contextlib.suppress(RedisError):  # it would be kept for longer than it must
                await self._queue.drop_crawl_delay(lane.host)
        if cached.rules is None or was_unreachable:
            with contextlib.suppress(RedisError):  # fewer pages, or more, are then tried together
                await self._queue.hold_for_robots(lane.host, file.pages_held if cached.rules is None else 0)
            self._events.publish(RobotsAsked(authority, lane.host, self._retry_s, cached))
        return cached

    async def _stored(self, authority: str) -> RobotsFile | None:
        with contextlib.suppress(RedisError):
            return await self._shared.read(authority)
        return None

    def _compiled(self, file: RobotsFile) -> CachedRules:
        until = _now() + file.fresh_s
        if file.state == "unreachable":
            return CachedRules(until, None)
        rules = parse(file.text, self._agent)
        delay_s = min(rules.crawl_delay_s, self._max_delay_s)
        return CachedRules(until, rules, delay_s=delay_s, size_bytes=len(file.text))

    # -- Asking the host ----------------------------------------------------------------------------------------------

    async def _ask(self, authority: str, earlier: RobotsFile | None, visit: Visit, lane: Lane) -> RobotsFile:
        """Asks the host for the file, or waits until another worker that is asking has stored it."""
        owner = self._session.name
        with contextlib.suppress(RedisError):
            while not await self._shared.start_asking(authority, owner):
                await asyncio.sleep(POLL_SECONDS)
                file = await self._shared.read(authority)
                if file is not None and file.fresh_s > 0:
                    return file
        fetched: RobotsFile | None = None
        try:
            stored = await self._stored(authority)  # once more, since another worker may have been done just before
            if stored is not None and stored.fresh_s > 0:
                return stored
            fetched = await self._fetch(authority, earlier, visit, lane)
        finally:
            with contextlib.suppress(RedisError):
                await self._shared.finish_asking(authority, fetched)
        return fetched

    async def _fetch(self, authority: str, earlier: RobotsFile | None, visit: Visit, lane: Lane) -> RobotsFile:
        turns = {lane.host: lane}
        try:
            return await self._follow(authority, earlier, visit, turns)
        finally:
            del turns[lane.host]
            for acquired in turns.values():
                self._turns.release(acquired)

    async def _follow(
        self, authority: str, earlier: RobotsFile | None, visit: Visit, turns: dict[str, Lane]
    ) -> RobotsFile:
        """Follows redirects from host to host; turns that it acquires are added to `turns`.

        Raises:
            RefusedError: No host was asked, or none is to blame: the file isn't known to be unreachable.
            HeadroomError: Likewise.
            OSError: Likewise; this node has no file descriptor or memory left.
        """
        url = f"{authority}/robots.txt"
        with contextlib.suppress(RedisError):
            url = await self._shared.moved(authority) or url
        nowhere = RobotsFile.from_response(404, b"", 0.0, earlier, self._retry_s)
        for _hop in range(MAX_REDIRECTS + 1):
            target = urls.origin(url)
            if target != authority and url == f"{target}/robots.txt":
                stored = await self._stored(target)
                if stored is not None and stored.fresh_s > 0:
                    return stored
            try:
                response = await self._download(url, visit, turns)
            except Exception as error:  # whatever a download raises, there was no answer
                outcome = outcome_of_error(error)
                if outcome.reason == reasons.ROBOTS_ELSEWHERE:
                    with contextlib.suppress(RedisError):
                        await self._shared.note_moved(authority, url)
                if outcome == UNKNOWN_ERROR:  # an error of the code here: nothing is known of the host
                    logger.exception(log_events.ROBOTS_ERROR, url)
                    raise RefusedError(Outcome("postpone", reasons.ROBOTS_NOT_ASKED), self._retry_s) from error
                if _says_nothing(outcome) or (target == authority and outcome.reason == reasons.PRIVATE_ADDRESS):
                    raise
                failed = FetchFailed(urls.host(url), "robots.txt", outcome.reason, url, str(error))
                self._events.publish(failed)
                no_response = RobotsFile.from_no_response(earlier, self._retry_s)
                return nowhere if outcome.reason == reasons.BAD_REDIRECT else no_response
            wait_s = retry_after_s(response.headers)
            location = response.headers.get("Location")
            if response.status not in REDIRECT_STATUSES or location is None:
                return RobotsFile.from_response(response.status, response.body, wait_s, earlier, self._retry_s)
            try:
                url = urls.canonical(location.decode("utf-8", "replace"), url)
            except UrlError:
                return nowhere
        return nowhere

    async def _download(self, url: str, visit: Visit, turns: dict[str, Lane]) -> Response:
        engine = self._crawler.engine
        assert engine is not None  # visits exist only while the engine runs
        host = urls.host(url)
        if host not in turns:
            turns[host] = await self._acquire_other(host, visit)
        state = RequestState(Purpose(visit, turns[host], is_robots_txt=True))
        meta = state.meta(dont_obey_robotstxt=True, dont_redirect=True, download_timeout=self._timeout_s)
        # Uncompressed, so that the beginning of a file can be read when the rest is truncated.
        request = Request(url, headers={"Accept-Encoding": "identity"}, meta=meta, dont_filter=True)
        assert self._crawler.stats is not None  # it is there before any request
        self._crawler.stats.inc_value("robotstxt/request_count")
        with self._truncation.listening():
            return await engine.download_async(request)

    async def _acquire_other(self, host: str, visit: Visit) -> Lane:
        """Acquires a turn of the host that a file has moved to.

        Raises:
            RefusedError: There was none in time; the seed is put off, and its turn released, for which others may wait.
                What is fetched for a page that has started is tried again.
            HostBackoffError: The host has a long backoff; the file then counts as unreachable.
        """
        lane, wait_s = None, 0.0
        with contextlib.suppress(SessionLostError):
            seconds = random.uniform(*OTHER_TURN_SECONDS)
            lane, wait_s = await self._turns.acquire_within(host, visit.seed.site, seconds)
        if lane is None:
            raise RefusedError(Outcome("retry" if visit.started else "postpone", reasons.ROBOTS_ELSEWHERE), wait_s)
        return lane


def _says_nothing(outcome: Outcome) -> bool:
    """Returns whether a file wasn't had for a reason that says nothing of it: its host, or the network, has no part."""
    no_part = (reasons.ROBOTS_ELSEWHERE, reasons.PAGE_TIMEOUT)
    return outcome.operation in ("release", "postpone") or outcome.reason in no_part


def _now() -> float:
    return asyncio.get_running_loop().time()
