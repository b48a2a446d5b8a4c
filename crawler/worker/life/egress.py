"""Whether this worker reaches the web at all: tells the fault of a host from that of this node's own way out.

A host that gives no answer may be down; or this node's name server, proxy or network is. The latter two may also answer
in the host's place, with what is no answer of a host: so is taken what comes by a proxy and is no HTTP, or a server
error; and what is no HTTP from BAD_HOSTS hosts, with no other answer between. So such a failure is the host's only if
somebody has answered this worker since: other pages do, or a host that answered before is asked again, one of another
site where there is any, for all hosts of a site may go away at once. That answer stands for PROVEN_SECONDS for whatever
else fails of the site that it was asked for: a polite host isn't asked for each failure.
Otherwise the worker is taken to have lost its way out. It then claims one seed at a time, at growing intervals, and
hands each back untried, until somebody answers. Where there are only silent hosts to crawl it would never know: after
EGRESS_DOUBT_SECONDS it blames the hosts all the same, unless another worker is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, cast

from redis.exceptions import RedisError

from crawler.base import log_events, urls
from crawler.base.item import is_site_name
from crawler.frontier.keys import as_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
LISTEN_SECONDS = 1.0  # how long other pages may take to be answered before a host is asked for nothing else
PROBE_FIRST_SECONDS = 1.0  # the first wait before another seed is claimed without a way out; it doubles each time
PROBE_LONGEST_SECONDS = 15.0  # the longest such wait, so that a node that is repaired works again soon
# The longest a request without a way out may take, since it keeps a turn of its host from others.
PROBE_TIMEOUT_SECONDS = 10.0
SHARE_SECONDS = 20.0  # how often a worker that hosts answer notes that in Redis
SHARED_MILLISECONDS = 60_000  # how long such a note counts
BAD_HOSTS = 3  # how many silent hosts put the network in doubt: one or two may be broken, more at once hardly by chance
PROVEN_SECONDS = 10.0  # how long further failures of the same site are the host's: asking costs another host a turn
MAX_SITES = 8  # most sites whose places are kept, those that answered last


class Place(NamedTuple):
    """Where somebody answered: an authority, and a site whose politeness holds there."""

    authority: str
    site: str


class EgressChanged(NamedTuple):
    """Event: this worker has lost its way out, or is answered again."""

    is_down: bool


class Egress:
    """Decides whether a host or this worker's way out is at fault. Publishes `EgressChanged`.

    Args:
        key: In Redis, of the place that last answered any worker.
        doubt_s: EGRESS_DOUBT_SECONDS; 0: a host is always at fault.
    """

    def __init__(self, redis: Redis, key: str, events: Events, *, doubt_s: float) -> None:
        self._redis = redis
        self._key = key
        self._events = events
        self._doubt_s = doubt_s
        # By site, the one that answered last at the end: its last place, and the one before that if there is one.
        self._places: OrderedDict[str, tuple[Place, Place]] = OrderedDict()
        self._proven: dict[str, float] = {}  # site -> until when its hosts are at fault for what fails
        self._bad_hosts: set[str] = set()  # hosts that have sent no HTTP since another answered; BAD_HOSTS at most
        self._answered_at = float("-inf")  # all times are by the event loop's clock
        self._shared_at = float("-inf")
        self._answer = asyncio.Event()  # set with the next answer
        self._checking = asyncio.Lock()  # one check serves all that have failed meanwhile
        self._down_since: float | None = None
        self._lost_at = float("-inf")  # when asking places was last in vain
        self._probe_at = 0.0
        self._probe_pause_s = PROBE_FIRST_SECONDS
        self._blames_all = False  # whether EGRESS_DOUBT_SECONDS have passed

    @property
    def is_down(self) -> bool:
        """Whether nobody answers this worker, so that it claims one seed at a time."""
        return self._down_since is not None and not self._blames_all

    @property
    def down_s(self) -> float:
        """For how many seconds nobody has answered; 0: there is a way out."""
        return 0.0 if self._down_since is None else _now() - self._down_since

    @property
    def probe_is_due(self) -> bool:
        """Whether a seed may be claimed without a way out, as long as no other is held."""
        return _now() >= self._probe_at

    def answered(self, place: Place) -> None:
        """Notes that a host has answered this worker."""
        self._answered_at = _now()
        of_site = self._places.get(place.site)
        if of_site is None or of_site[0] != place:
            self._places[place.site] = (place, of_site[0] if of_site else place)
        self._places.move_to_end(place.site)
        if len(self._places) > MAX_SITES:
            self._places.popitem(last=False)
        self._answer.set()
        self._bad_hosts.clear()
        if self._down_since is not None:
            logger.warning(log_events.EGRESS_UP, self.down_s)
            self._down_since, self._blames_all, self._probe_pause_s = None, False, PROBE_FIRST_SECONDS
            self._events.publish(EgressChanged(is_down=False))

    def suspects(self, host: str) -> bool:
        """Notes that what came from a host is no HTTP; returns whether this worker's network may have sent it."""
        if len(self._bad_hosts) < BAD_HOSTS:
            self._bad_hosts.add(host)
        return self.is_down or len(self._bad_hosts) >= BAD_HOSTS

    def answered_since(self, moment: float) -> bool:
        """Returns whether anybody has answered this worker since a moment by the event loop's clock."""
        return self._answered_at >= moment

    async def blames(self, host: str, site: str, ask: Callable[[Place], Awaitable[None]]) -> bool:
        """Returns whether a host that has just given no answer is at fault; False: this worker's way out may be.

        Args:
            site: Of the page that failed.
            ask: Asks a place for anything; `answered` is called if it answers.
        """
        failed_at = _now()
        if not self._doubt_s:
            return True
        if self._down_since is None and (failed_at < self._proven.get(site, 0.0) or await self._is_answered_soon()):
            return True
        async with self._checking:
            if self._lost_at >= failed_at:
                return self._blames_all
            for place in await self._places_to_ask(host, site):
                if self._answered_at < failed_at:
                    await ask(place)
            if self._answered_at < failed_at:
                return await self._doubt(host)
            self._proven[site] = _now() + PROVEN_SECONDS
            return True

    async def share(self) -> None:
        """Tells other workers now and then that this one is answered, and where."""
        if self._answered_at > self._shared_at and _now() >= self._shared_at + SHARE_SECONDS:
            self._shared_at = _now()
            place, _before = next(reversed(self._places.values()))
            with contextlib.suppress(RedisError):
                await self._redis.set(self._key, f"{place.authority} {place.site}", px=SHARED_MILLISECONDS)

    async def _is_answered_soon(self) -> bool:
        self._answer.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._answer.wait(), LISTEN_SECONDS)
            return True
        return False

    async def _places_to_ask(self, host: str, site: str) -> list[Place]:
        """Returns the place that last answered this worker, and another worker's.

        Of those that answered this worker it is rather one of another site, and rather not the host itself.
        """
        latest_first = [place for of_site in reversed(self._places.values()) for place in of_site]
        elsewhere = [place for place in latest_first if urls.host(place.authority) != host]
        foreign = [place for place in elsewhere if place.site != site]
        shared = await self._shared()
        return list(dict.fromkeys([*(foreign or elsewhere or latest_first)[:1], *([shared] if shared else [])]))

    async def _shared(self) -> Place | None:
        """Returns the place that last answered any worker; None: Redis names none, or has junk in its place."""
        raw = None
        with contextlib.suppress(RedisError):
            raw = await cast("Awaitable[bytes | None]", self._redis.get(self._key))
        authority, _, site = as_text(raw or b"").partition(" ")
        url = f"{authority}/"
        is_place = urls.is_canonical(url) and urls.origin(url) == authority and is_site_name(site)
        return Place(authority, site) if is_place else None

    async def _doubt(self, host: str) -> bool:
        """Takes the way out for lost, or probes it less often; returns whether the host is blamed all the same."""
        now = self._lost_at = _now()
        if self._down_since is None:
            self._down_since = now
            logger.warning(log_events.EGRESS_DOWN, host)
            self._events.publish(EgressChanged(is_down=True))
        self._probe_at = now + self._probe_pause_s
        self._probe_pause_s = min(2 * self._probe_pause_s, PROBE_LONGEST_SECONDS)
        self._blames_all = now - self._down_since >= self._doubt_s and await self._shared() is None
        return self._blames_all


def _now() -> float:
    return asyncio.get_running_loop().time()
