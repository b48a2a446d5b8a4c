"""Seeds of the frontier in a worker's hands: how many it claims, how each ends, and which further ones it offers."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.reasons import OUT_OF_MEMORY
from crawler.frontier.queue import queues_of
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.session import SessionLost
from crawler.plans.registry import Registry
from crawler.servers.redis_full import RedisFull
from crawler.worker.claiming.claims import Claims
from crawler.worker.claiming.fair_share import FairShare
from crawler.worker.claiming.naming_pages import NamingPages
from crawler.worker.claiming.plan_budgets import PlanBudgets
from crawler.worker.claiming.preference import Preference
from crawler.worker.definitions.plan_cache import PlanCache
from crawler.worker.definitions.plan_crawl import PlanCrawls
from crawler.worker.definitions.plan_words import PlanWords
from crawler.worker.definitions.search_wishes import SearchWishes
from crawler.worker.definitions.site_cache import SiteCache
from crawler.worker.offers.known_pages import KnownPages
from crawler.worker.offers.offers import Offers
from crawler.worker.offers.search_progress import SearchProgress
from crawler.worker.offers.search_yield import SearchYield
from crawler.worker.offers.traps import Traps
from crawler.worker.settling.gaps import Gaps
from crawler.worker.settling.hand_backs import HandBacks
from crawler.worker.settling.settler import Settler
from crawler.worker.settling.teller import Teller
from crawler.worker.visits.visit import VisitEnded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis.asyncio import Redis
    from scrapy.statscollectors import StatsCollector

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.base.models import Frontier
    from crawler.frontier.settlement import Settlement
    from crawler.sites import Site
    from crawler.worker.config import WorkerConfig
    from crawler.worker.life.life import Life
    from crawler.worker.rendering.browser_at_hand import BrowserAtHand
    from crawler.worker.visits.visit import Visit

logger: EventLogger = logging.getLogger(__name__)


class SeedSettled(NamedTuple):
    """Event: a seed's claim has ended so; the frontier is told with the next batch."""

    settlement: Settlement


class Claiming:
    """What one worker claims, settles and offers. Publishes `SeedSettled`; acts on `VisitEnded` and `SessionLost`.

    Args:
        browser: Without one, pages that must be rendered are left to others.
        stats: Counts each settlement by its operation and reason.
        sites: Definitions that needn't be read from Redis.

    Attributes:
        queues: Both frontiers.
        queue: The one that is worked on.
        redis_full: Whether Redis takes no more.
        registry: Plans and sites, as they were submitted.
        sites: Those that are worked on.
        plans: What the plans say that are worked on.
        plan_words: The words of these plans.
        plan_crawls: What they say of links.
        plan_budgets: What they have used of their budgets.
        traps: What is known of traps; None: they aren't looked for.
        searches: What is known of searches under way.
        search_wishes: What plans want of them.
        search_yield: What search pages are expected to bring.
        naming_pages: Has pages crawled again that have named another one, which brings no item.
        gaps: What items lack.
        teller: Tells plans of pages that were delivered before.
        fair_share: Whether other workers should claim first.
        preference: Which hosts this worker claims first.
    """

    def __init__(
        self,
        config: WorkerConfig,
        frontier: Frontier,
        redis: Redis,
        life: Life,
        browser: BrowserAtHand,
        *,
        events: Events,
        stats: StatsCollector,
        sites: Iterable[Site] = (),
    ) -> None:
        keys, self._session_s = config.frontier.keys, config.frontier.session_s
        self._life = life
        self._events = events
        self._stats = stats
        self._hand_backs = HandBacks()
        self._sinks_down: dict[str, str] = {}  # sinks that can't be reached, and why
        self.redis_full = RedisFull()
        self.queues = queues_of(config.frontier, redis)
        self.queue = self.queues[frontier]
        self.registry = Registry(redis, keys, config.frontier.partitions)
        self.sites = SiteCache(self.registry, events, sites)
        self.plans = PlanCache(self.registry, events)
        self.plan_words = PlanWords(self.plans, self.sites)
        self.plan_crawls = PlanCrawls(self.plans, self.sites, config.settings)
        self.plan_budgets = PlanBudgets(redis, keys, config.frontier.partitions, events)
        admin = SeedAdmin(self.queues["content"])
        self.traps = Traps(redis, config.frontier, admin, config.trap_links) if config.trap_links else None
        self.searches = SearchProgress(redis, keys)
        self.search_wishes = SearchWishes(self.plans)
        self.search_yield = SearchYield(redis, keys)
        self.gaps = Gaps()
        self.teller = Teller(events)
        self.fair_share = FairShare(redis, keys.wake(frontier), life.session.name, events)
        self.preference = Preference(redis, keys, frontier, life.session.name)
        self.settler = Settler(
            self.queue, batch=config.settle_batch, wait_s=config.settle_wait_s, events=events, stats=stats
        )
        self.claims = Claims(
            self.queue,
            life.session,
            self.settler,
            browser=browser,
            preference=self.preference,
            send_s=self._session_s,
            redis_full=self.redis_full,
            wake=life.wake,
            stats=stats,
        )
        self.offers = Offers(
            self.queues,
            life.session.leases,
            known_pages=KnownPages(self.queues["content"], config.known_pages),
            redis_full=self.redis_full,
            stopping=life.stopping,
            events=events,
            stats=stats,
        )
        self.naming_pages = NamingPages(
            self.plan_crawls, self.offers, self.settle, config.frontier.max_attempts, events
        )
        events.subscribe(VisitEnded, self._visit_ended)
        events.subscribe(SessionLost, self._session_lost)

    # -- How many are claimed -----------------------------------------------------------------------------------------

    def why_none(self) -> str:
        """Returns why this worker claims nothing, for operators; empty: it claims.

        One that no host answers still claims a seed now and then, to find out when one answers again.
        """
        if obstacle := self._obstacle():
            return obstacle
        if self.redis_full.now:
            return "Redis is full"
        if self._life.egress.is_down:
            return "no host answers it"
        lack = self._life.headroom.short_of()
        return f"its node has no {lack} left" if lack else ""

    def _obstacle(self) -> str:
        """Returns why no claim is tried at all, whatever room there is; empty: one may be."""
        if self._life.stopping.is_set():
            return "it stops"
        if self._life.orders.drained:
            return "an operator has drained its node"
        if self._sinks_down:
            return "it waits for " + ", ".join(f"{name} ({why})" for name, why in sorted(self._sinks_down.items()))
        return "" if self._life.session.alive else "its session isn't alive"

    def room(self, slow_visits: int = 0) -> int:
        """Returns how many seeds may be claimed now, by the node's headroom; while no host answers, one now and then.

        Args:
            slow_visits: Number of visits that are held up on slow lanes.
        """
        egress, carrying = self._life.egress, self.claims.carrying
        if self._obstacle():
            return 0
        if egress.is_down:
            return int(egress.probe_is_due and carrying == 0)
        return self._life.headroom.room(carrying, slow_visits)

    @property
    def sinks_down(self) -> list[str]:
        """The names of sinks that are waited for."""
        return sorted(self._sinks_down)

    def sink_down(self, name: str, why: str) -> None:
        """Stops claims while a sink can't be reached, or takes nothing; `why` is for operators."""
        self._sinks_down[name] = why

    def sink_up(self, name: str) -> None:
        """Lets claims go on, unless another sink is down."""
        self._sinks_down.pop(name, None)
        self._life.wake.set()

    # -- How each ends ------------------------------------------------------------------------------------------------

    def _visit_ended(self, event: VisitEnded) -> None:
        if event.settlement.reason == OUT_OF_MEMORY:
            self._life.headroom.lacks("memory")
            event = event._replace(settlement=self._hand_backs.bounded(event.settlement))
        self.naming_pages.settle(event)

    def settle(self, settlement: Settlement) -> None:
        """Settles a claim; the frontier is told with the next batch."""
        headroom = self._life.headroom
        self.claims.seed_ended()
        was_fetched = settlement.operation in ("finish", "retry", "fail") and not settlement.claimed.delivered
        headroom.settled(was_fetched=was_fetched)
        self._stats.inc_value("/".join(filter(None, ("frontier", settlement.operation, settlement.reason))))
        self._events.publish(SeedSettled(settlement))
        self.settler.settle(settlement.claimed.owner, settlement)

    def abandon(self, visit: Visit) -> None:
        """Ends a visit whose seed others have claimed by now."""
        self.claims.seed_ended()
        visit.abandon()

    def _session_lost(self, event: SessionLost) -> None:
        """Forgets all that was held under the lost lease, and begins a new one."""
        logger.warning(log_events.SESSION_LOST, event.owner)
        self._stats.inc_value("frontier/sessions_lost")
        self.settler.forget(event.partition, event.owner)
        self.queue.forget(event.partition, event.owner)
        self._life.session.begin_anew(event.partition)

    async def close(self) -> None:
        """Stops all that goes on in the background, and sends the settlements left, as long as Redis takes them."""
        await self.naming_pages.close()
        await self.sites.close()
        await self.plans.close()
        await self.teller.close()
        await self.offers.close()
        await self.fair_share.close()
        if not await self.settler.send_all(self._session_s):
            logger.warning(log_events.REDIS_AWAY_AT_END)
        await self.settler.close()
        await self.plan_budgets.close()
        for lease in self._life.session.leases:
            if lease.reachable:
                with contextlib.suppress(RedisError):
                    await self.queue.recall(lease.partition, lease.owner)  # the seeds of a claim whose answer was lost
