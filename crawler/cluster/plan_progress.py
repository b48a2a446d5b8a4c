"""When plans will be done, as far as the last hour tells."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from crawler.cluster.activity import PERIODS, SETTLED
from crawler.telemetry import history

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.models import Frontier
    from crawler.cluster.activity import Steps
    from crawler.cluster.overview import Overview
    from crawler.frontier.ledger import Account
    from crawler.plans.operator import Operator

STEP_SECONDS = PERIODS["hour"][0].seconds
# A plan's pace is that of the last PACE_SECONDS, or of as much longer as it takes for PACE_SEEDS to end: fewer tell
# little.
PACE_SECONDS = 600
PACE_SEEDS = 30
OUTAGE_SEEDS = 10  # where so many would have ended and none did, the site was away, which says nothing of its pace


def shown_state(state: str, account: Account) -> str:
    """Returns a plan's state for people to read: an active one of which nothing is left is done."""
    return "done" if state == "active" and not account.ready + account.executing else state


class TimeLeft(NamedTuple):
    """When a plan will be done.

    Attributes:
        seconds: Until its slowest site is done; 0: nothing is left; None: there is no telling, since a site of it
            stands still, or the plan does.
        site: The slowest one, or the first that stands still; empty: nothing is left, or the plan stands still.
    """

    seconds: float | None
    site: str


NO_TELLING = TimeLeft(None, "")


async def read_time_left(operator: Operator, overview: Overview) -> dict[str, TimeLeft]:
    """Returns for each plan when it will be done, by a history that is read for that.

    Raises:
        redis.exceptions.RedisError: Redis is away.
    """
    resolution, seconds = PERIODS["hour"]
    last_s = overview.at_ms // 1000
    return time_left(
        overview, await history.read(operator.redis, operator.keys, resolution, last_s=last_s, seconds=seconds)
    )


def time_left(overview: Overview, last_hour: Steps) -> dict[str, TimeLeft]:
    """Returns for each plan when its slowest site is done at its pace of late.

    All that waits on a site counts, since plans share its pace; and so do the pages that search pages still lead to,
    as many as those before did. What content pages lead to can't be known.

    Args:
        last_hour: The steps of it.
    """
    work: Counter[str] = Counter()  # site -> pages to be visited
    sites: dict[str, set[str]] = {}  # plan -> its sites that have anything left
    for (plan, site), accounts in overview.ledger.items():
        pages = _work(accounts)
        sites.setdefault(plan, set())
        if pages:
            sites[plan].add(site)
        if overview.plan_states.get(plan, "active") == "active":
            work[site] += pages
    paces = {site: _pace(site, last_hour, overview.at_ms / 1000) for site in set().union(*sites.values())}

    def of_plan(plan: str) -> TimeLeft:
        if not sites[plan]:
            return TimeLeft(0.0, "")
        if overview.plan_states.get(plan, "active") != "active":
            return NO_TELLING
        if still := sorted(site for site in sites[plan] if not paces[site]):
            return TimeLeft(None, still[0])
        return max(TimeLeft(work[site] / paces[site], site) for site in sites[plan])

    return {plan: of_plan(plan) for plan in sites}


def _work(accounts: Mapping[Frontier, Account]) -> int:
    """Returns how many pages of a plan and site are to be visited, but for those that wait for their next run."""
    nav, content = accounts["nav"], accounts["content"]
    searches = nav.ready + nav.executing - nav.notes.get("waiting", 0)
    read = nav.finished + nav.failed + nav.notes.get("visits", 0)
    results = searches * (content.offered - content.known) / read if read else 0
    pages = content.ready + content.executing - content.notes.get("waiting", 0)
    return round(searches + results + pages)


def _pace(site: str, last_hour: Steps, now_s: float) -> float:
    """Returns how many seeds of a site end per second of late; 0: none has within the hour."""
    ended = [
        (begin, sum(counts.get(f"{history.BY_SITE}{site}:{how}", 0) for how in SETTLED)) for begin, counts in last_hour
    ]
    active = [index for index, (_begin, seeds) in enumerate(ended) if seeds]
    if not active:
        return 0.0
    first = active[0] + (len(active) > 1)  # it began at some moment of its first step
    mean = sum(seeds for _begin, seeds in ended) / len(active)
    total, elapsed_s = 0, 0.0
    for is_active, steps in groupby(reversed(ended[first:]), key=lambda step: step[1] > 0):
        run = list(steps)
        if not is_active and len(run) * mean >= OUTAGE_SEEDS:
            continue
        for begin, seeds in run:
            total += seeds
            elapsed_s += max(1.0, min(STEP_SECONDS, now_s - begin))
            if total >= PACE_SEEDS and elapsed_s >= PACE_SECONDS:
                return total / elapsed_s
    return total / elapsed_s
