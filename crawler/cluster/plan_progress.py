"""When plans will be done, as far as the last hour tells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawler.cluster.activity import PERIODS, of_sites, sum_of

if TYPE_CHECKING:
    from crawler.cluster.activity import Steps
    from crawler.cluster.overview import Overview
    from crawler.frontier.ledger import Account

STEP_SECONDS = PERIODS["hour"][0].seconds


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


def time_left(overview: Overview, last_hour: Steps) -> dict[str, TimeLeft]:
    """Returns for each plan when its slowest site is done at the pace of the last hour.

    All that waits on a site counts, since plans share its pace; what pages will still lead to can't be known.

    Args:
        last_hour: The steps of it.
    """
    active = [begin for begin, counts in last_hour if counts]
    elapsed_s = last_hour[-1][0] + STEP_SECONDS - active[0] if active else 0  # to the end of the last step
    settled = {site: counts["finished"] + counts["failed"] for site, counts in of_sites(sum_of(last_hour)).items()}
    left: Counter[str] = Counter()
    sites: dict[str, set[str]] = {}
    for (plan, site), accounts in overview.ledger.items():
        unfinished = sum(account.ready + account.executing for account in accounts.values())
        sites.setdefault(plan, set())
        if unfinished:
            sites[plan].add(site)
        if overview.plan_states.get(plan, "active") == "active":
            left[site] += unfinished

    def of_plan(plan: str) -> TimeLeft:
        if not sites[plan]:
            return TimeLeft(0.0, "")
        if overview.plan_states.get(plan, "active") != "active":
            return TimeLeft(None, "")
        if still := sorted(site for site in sites[plan] if not settled.get(site)):
            return TimeLeft(None, still[0])
        return max(TimeLeft(left[site] * elapsed_s / settled[site], site) for site in sites[plan])

    return {plan: of_plan(plan) for plan in sites}
