"""The seeds that a worker holds: claimed ahead of need, each a visit in a lane, until it has ended.

Claimed seeds wait in lanes, one lane for each turn that the worker holds. A lane gives out its next seed when the page
before it has been fetched and the host's delay has passed.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import defaultdict
from typing import TYPE_CHECKING

from crawler.base import log_events, reasons
from crawler.base.errors import UnavailableError
from crawler.frontier.session import SessionExpired, SessionLost
from crawler.worker.definitions.site_cache import UNREAD_SITE_SECONDS
from crawler.worker.life.egress import EgressChanged
from crawler.worker.life.wakeups import PolitenessChanged, SitesChanged
from crawler.worker.turns.lanes import LaneEmpty, Lanes
from crawler.worker.turns.turns import CrawlDelay, HostBackoff
from crawler.worker.visits.visit import Lane, Visit, VisitEnded

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger
    from crawler.base.models import Claimed, Seed
    from crawler.frontier.queue import ClaimAnswer
    from crawler.sites import Site
    from crawler.worker.turns.turns import Turns
    from crawler.worker.worker import Worker

logger: EventLogger = logging.getLogger(__name__)
NO_ROOM_SECONDS = 1.0  # retry delay when the worker has no room for more seeds: the load is sampled once a second
STARVED_POLL_SECONDS = 0.25  # retry delay while other workers are starved: soon after they aren't any more
# Longest sleep while a part of Redis is away: it may be the part that tells of new seeds and turns, which only a minute
# of silence shows.
DEAF_SECONDS = 1.0
TURN_RETRY_SECONDS = 0.01  # shortest retry delay when seeds are due: another worker was just taking their host's turn
# How long a worker waits that found the claim lock taken: about as long as a claim takes (lua/lib/budget.lua). The wait
# is jittered, so that workers that were refused together don't come back together.
LOCK_RETRY_SECONDS = 0.01


class HeldSeeds:
    """Claims seeds when there is room, starts their visits, and gives up what the worker may no longer hold.

    Args:
        parallel: CONCURRENT_REQUESTS: no more is claimed while so many lanes have work to do.
        idle_wait_s: IDLE_WAIT_SECONDS: the longest wait until the next claim.

    Attributes:
        lanes: Of the turns that came with the seeds.
        visits: Those that haven't ended.
    """

    def __init__(self, worker: Worker, *, parallel: int, idle_wait_s: float) -> None:
        self._life, self._claiming, self._turns = worker.life, worker.claiming, worker.turns
        self._events = events = worker.events
        self._settle_wait_s = worker.config.settle_wait_s
        self._parallel = parallel
        self._idle_wait_s = idle_wait_s
        self.lanes = Lanes(events)
        self.visits: set[Visit] = set()
        self._runs_alone = False  # a quarantined seed is held, which may kill its worker: nothing is claimed beside it
        self._follow_hosts(self.lanes)
        self._follow_hosts(self._turns)
        events.subscribe(VisitEnded, self._visit_ended)
        events.subscribe(LaneEmpty, self._lane_empty)
        events.subscribe(EgressChanged, self._egress_changed)
        events.subscribe(SessionExpired, self._session_expired)
        events.subscribe(SessionLost, self._session_lost)

    def _follow_hosts(self, held: Lanes | Turns) -> None:
        """Keeps turns that are held to what is heard of their hosts."""
        subscribe = self._events.subscribe
        subscribe(HostBackoff, lambda event: held.back_off(event.host, event.seconds))
        subscribe(CrawlDelay, lambda event: held.slow_down(event.host, event.seconds))
        subscribe(SitesChanged, lambda _event: held.change_politeness())
        subscribe(PolitenessChanged, lambda event: held.change_politeness(event.host))

    async def claim(self) -> float:
        """Claims seeds if they are needed and there is room; returns the seconds to wait before the next claim."""
        if self._runs_alone:
            return self._idle_wait_s  # `_visit_ended` ends the wait
        if self.lanes.active() >= self._parallel:
            return NO_ROOM_SECONDS
        if self._claiming.fair_share.lets_others_claim(holds_turns=self.lanes.any_held):
            return STARVED_POLL_SECONDS
        slow_visits = min(self.lanes.slow_visits() + self._turns.queued, self._parallel)
        max_seeds = self._claiming.room(slow_visits)
        if max_seeds == 0:
            return NO_ROOM_SECONDS
        answer = await self._claiming.claims.claim(max_seeds)
        if answer.seeds:
            self._claiming.fair_share.end_starving()
            await self._take(answer)
            return 0.0
        return self._pause_after(answer)

    async def _take(self, answer: ClaimAnswer) -> None:
        """Starts a visit for each claimed seed. All are held before anything can fail, so that none is forgotten."""
        self._runs_alone = answer.state == "quarantined"
        by_turn: dict[tuple[str, int], list[Claimed]] = defaultdict(list)
        for claimed in answer.seeds:
            if not claimed.delivered:
                by_turn[claimed.seed.host, claimed.turn].append(claimed)
        lanes = [Lane.of(seeds, self._events) for seeds in by_turn.values()]
        # The lanes of seeds that need no fetch stand for no turn.
        to_be_told = [Lane.of([seed], self._events).not_started.popleft() for seed in answer.seeds if seed.delivered]
        self.visits.update(to_be_told, *(lane.not_started for lane in lanes))
        self.lanes.hold(lanes)
        await self._claiming.sites.load({claimed.seed.site for claimed in answer.seeds})
        if general := [seed for claimed in answer.seeds for seed in claimed.seeds if seed.general]:
            await self._claiming.plan_crawls.load(general)
        if self._life.stopping.is_set():
            self.lanes.release_not_started()
        for claimed in answer.seeds:
            if claimed.hopeless:  # it runs alone, so nothing else of its host is held
                self.lanes.end_not_started(
                    claimed.seed.host, lambda visit: visit.end_at_once("fail", reasons.CRASHED_WORKER)
                )
        for lane in lanes:
            self.lanes.start(lane)
        for visit in to_be_told:
            self._tell(visit)

    def _tell(self, visit: Visit) -> None:
        """Has plans told of a delivered page, without a fetch.

        Unless its site has come to follow links since, or its text is to have words of theirs: then the page is fetched
        for them.
        """
        name = visit.seed.site
        site = self._claiming.sites.get(name)
        if visit.ended:  # its session was lost, or the worker has stopped, while the site was read
            return
        if site is None and self._claiming.sites.is_being_read(name):
            visit.end_at_once("postpone", reasons.UNREAD_SITE, int(UNREAD_SITE_SECONDS * 1000))
        elif any(self._may_lead_on(seed, site) for seed in visit.seeds):
            visit.end_at_once("fetch", reasons.FOLLOWS)
        elif site is not None and any(map(site.matches_text, visit.seeds)):
            visit.end_at_once("fetch", reasons.MATCHES_TEXT)
        else:
            self._claiming.teller.tell(visit)

    def _may_lead_on(self, seed: Seed, site: Site | None) -> bool:
        """Returns whether links of a seed's page may be followed for its plan, or the page may be out of its scope."""
        if seed.general:
            try:
                crawl = self._claiming.plan_crawls.get(seed)
            except UnavailableError:
                return True
            if crawl.is_general or (crawl.scope is not None and crawl.scope.asks_later):
                return True
        return site is not None and site.follow is not None and seed.depth < site.follow.depth

    def _pause_after(self, answer: ClaimAnswer) -> float:
        """Returns the seconds to wait before the next claim, after one that brought no seeds."""
        if answer.state == "locked":
            return random.uniform(0.1, 1.0) * LOCK_RETRY_SECONDS
        if answer.state in ("lapsed", "laden", "late"):
            return NO_ROOM_SECONDS
        wait_s = self._idle_wait_s if self._life.session.reachable else min(self._idle_wait_s, DEAF_SECONDS)
        if answer.wait_ms is not None:
            wait_s = min(wait_s, max(answer.wait_ms / 1000, TURN_RETRY_SECONDS))
        if not answer.may_lack_turn:
            self._claiming.fair_share.end_starving()
        elif answer.state == "ok" and not self.lanes.any_held:
            pause_s = self._claiming.fair_share.starve()
            self._life.wakeups.hold_turns(pause_s)
            wait_s = max(wait_s, pause_s)
        return wait_s

    def release_all(self) -> None:
        """Releases every visit that hasn't ended, and its lane."""
        for visit in list(self.visits):
            visit.release()
            self.lanes.release(visit.lane)

    # -- Events -------------------------------------------------------------------------------------------------------

    def _visit_ended(self, event: VisitEnded) -> None:
        self.visits.discard(event.visit)
        if event.visit.claimed.quarantined:
            self._runs_alone = False
        if not self.visits:
            self._life.wake.set()

    def _lane_empty(self, event: LaneEmpty) -> None:
        self._turns.release(event.lane)
        # The host can be claimed again once its delay has passed and the settler has told the frontier of the release.
        later_s = event.lane.pause_s() + 2 * self._settle_wait_s
        self._claiming.fair_share.released_turn(later_s)
        asyncio.get_running_loop().call_later(later_s, self._life.wake.set)

    def _egress_changed(self, event: EgressChanged) -> None:
        """Leaves to others what this worker can't fetch; claims again as soon as it can."""
        if event.is_down:
            self.lanes.release_not_started()
        else:
            self._life.wake.set()

    def _session_expired(self, event: SessionExpired) -> None:
        """Ends whatever is fetched for seeds, or on turns, of the partition: others may ask those hosts from now on.

        Pages that were fetched by then are delivered all the same, and their seeds end if the lease can still be
        renewed.
        """
        self.lanes.release_not_started(event.partition)
        users = self._turns.users(event.partition)
        fetching = [
            visit
            for visit in self.visits
            if visit.fetching and (visit.claimed.partition == event.partition or visit in users)
        ]
        if fetching:
            logger.warning(log_events.SESSION_EXPIRED, event.partition, len(fetching))
        for visit in fetching:
            visit.release(reasons.NO_SESSION)
            self.lanes.go_on(visit)

    def _session_lost(self, event: SessionLost) -> None:
        """Drops the visits and lanes of the partition: other workers have claimed their seeds by now."""
        lease = (event.partition, event.owner)
        lost = {visit for visit in self.visits if (visit.claimed.partition, visit.claimed.owner) == lease}
        self.visits -= lost
        for visit in lost:
            self._claiming.abandon(visit)
            if visit.claimed.quarantined:
                self._runs_alone = False
        self.lanes.forget(event.partition)
