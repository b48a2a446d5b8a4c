"""What this worker has done since it last told: it goes into the history of the whole crawl."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base.reasons import LACKS_WORDS
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.telemetry import history, host_history, plan_yield
from crawler.telemetry.host_history import NOTHING, HostCounts, busiest
from crawler.worker.claiming.claiming import SeedSettled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redis import Redis
    from scrapy.statscollectors import StatsCollector

    from crawler.base.events import Events
    from crawler.base.models import Seed
    from crawler.frontier.keys import Keys
    from crawler.frontier.settlement import Settlement

# Scrapy's statistic -> its name in the history.
TOTALS = {
    "response_received_count": "pages",
    "downloader/response_bytes": "bytes",
    "item_scraped_count": "items",
}
# What begins the names of Scrapy's statistics that are told one by one, and what their names in the history begin with.
FAMILIES = {
    "downloader/response_status_count/": "status:",
    "frontier/fail/": "failed:",
    "frontier/retry/": "retried:",
}
HOST_SECONDS = 60  # how often hosts are told, which takes Redis 1.4 ms: for 200 nodes 0.5 % of a core
MAX_HOSTS_TOLD = 50  # most hosts that a worker tells of each time, the busiest
MAX_HOSTS_COUNTED = 10_000  # most hosts that are counted until then, in some 3 MB; no worker fetches from more
MAX_PLANS_COUNTED = 100  # most plans that are counted until they are told, some seconds later
ERROR_STATUS = 400
# Operation -> what it counts as for its site; Redis makes a failure of a seed's last try.
SETTLED = {"finish": "finished", "fail": "failed", "retry": "retried"}


def _of_content(settlement: Settlement) -> Iterator[str]:
    """Yields what else the end of a content page counts as: one that says why it is finished led elsewhere."""
    if settlement.claimed.seed.frontier == "content" and settlement.operation in ("finish", "fail"):
        yield "content"
        if settlement.operation == "finish" and not settlement.reason:
            yield "items"


class Tally:
    """Counts, and tells after each renewal of the session, in the session's thread; the rest is the event loop's."""

    def __init__(self, keys: Keys, events: Events, stats: StatsCollector) -> None:
        self._keys = keys
        self._stats = stats
        self._known: Counter[str] = Counter()  # Scrapy's statistics at the last `collect`
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()  # not told yet, as are hosts and plans
        self._hosts: dict[str, HostCounts] = {}
        self._plans: dict[str, Counter[str]] = {}
        self._hosts_told_s = 0  # when hosts were told last, by the partitions' clocks
        events.subscribe(SeedSettled, lambda event: self.settled(event.settlement))
        events.subscribe(SessionRenewed, lambda event: self.tell(event.redis, event.now_s))
        events.subscribe(SessionEnding, lambda event: self.tell(event.redis, event.now_s, is_last=True))

    def settled(self, settlement: Settlement) -> None:
        """Counts a seed for its site, and what was delivered for its plans."""
        if word := SETTLED.get(settlement.operation):
            claimed = settlement.claimed
            with self._lock:
                self._counts.update(f"site:{claimed.seed.site}:{name}" for name in (word, *_of_content(settlement)))
            is_item = word == "finished"
            if claimed.seed.frontier == "content" and (is_item or settlement.reason == LACKS_WORDS):
                for seed in (claimed.seed, *claimed.also):
                    self._of_plan(seed.plan, plan_yield.counts_of_page(seed, is_item=is_item))

    def searched(self, seed: Seed, results: int, new: int) -> None:
        """Counts a page of results for its plan.

        Args:
            results: On it.
            new: Of these, those that the plan hadn't asked for before.
        """
        self._of_plan(seed.plan, plan_yield.counts_of_search(seed, results, new))

    def low_yield(self, seed: Seed) -> None:
        """Counts a search page that isn't worth a request."""
        self._of_plan(seed.plan, plan_yield.counts_of_low_yield(seed))

    def answered(self, host: str, status: int, size_bytes: int) -> None:
        """Counts an answer for its host."""
        with self._lock:
            if host in self._hosts or len(self._hosts) < MAX_HOSTS_COUNTED:
                counts = HostCounts(1, size_bytes, int(status >= ERROR_STATUS))
                self._hosts[host] = self._hosts.get(host, NOTHING) + counts

    def collect(self) -> None:
        """Takes in by how much Scrapy's statistics have grown."""
        counted = Counter(counts_of(self._stats.get_stats()))
        grown = counted - self._known
        self._known |= counted
        with self._lock:
            self._counts += grown

    def tell(self, redis: Redis, now_s: int, *, is_last: bool = False) -> None:
        """Adds what was counted to the crawl's history, if anything was. Blocking.

        Args:
            is_last: Hosts are told, too, however short ago they were.

        Raises:
            redis.exceptions.RedisError: Redis is away; it is told the next time.
        """
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if counts:
            try:
                history.add(redis, self._keys, now_s, counts)
            except RedisError:
                with self._lock:
                    self._counts += counts
                raise
        self._tell_plans(redis)
        if is_last or now_s >= self._hosts_told_s + HOST_SECONDS:
            self._tell_hosts(redis, now_s)

    def _of_plan(self, plan: str, counts: Mapping[str, int]) -> None:
        with self._lock:
            if plan in self._plans or len(self._plans) < MAX_PLANS_COUNTED:
                self._plans.setdefault(plan, Counter()).update(counts)

    def _tell_plans(self, redis: Redis) -> None:
        """Adds what plans brought; what Redis doesn't get of it is lost."""
        with self._lock:
            plans, self._plans = self._plans, {}
        if any(plans.values()):
            with redis.pipeline(transaction=False) as pipeline:
                for plan, counts in plans.items():
                    if counts:
                        plan_yield.add(pipeline, self._keys, plan, counts)
                pipeline.execute()

    def _tell_hosts(self, redis: Redis, now_s: int) -> None:
        """Adds the busiest hosts; what Redis doesn't get of them is lost."""
        self._hosts_told_s = now_s
        with self._lock:
            hosts, self._hosts = self._hosts, {}
        if hosts:
            host_history.add(redis, self._keys, now_s, busiest(hosts, MAX_HOSTS_TOLD))


def counts_of(stats: Mapping[str, Any]) -> dict[str, int]:
    """Returns what is told of Scrapy's statistics, by the names in the history."""
    named = ((_name_of(stat), value) for stat, value in stats.items())
    return {name: value for name, value in named if name and isinstance(value, int)}


def _name_of(stat: str) -> str:
    """Returns the name that a statistic has in the history; empty: it isn't told."""
    if stat in TOTALS:
        return TOTALS[stat]
    for beginning, name in FAMILIES.items():
        if stat.startswith(beginning):
            return name + stat.removeprefix(beginning)
    return ""
