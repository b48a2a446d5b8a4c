"""When plans will be done, as far as the last hour tells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.cluster.activity import PERIODS, of_sites, sum_of

if TYPE_CHECKING:
    from crawler.cluster.activity import Steps
    from crawler.cluster.overview import Overview
    from crawler.frontier.ledger import Account

STEP_SECONDS = PERIODS["hour"][0].seconds


def shown_state(state: str, account: Account) -> str:
    """Returns a plan's state for people to read: an active one of which nothing is left is done."""
    return "done" if state == "active" and not account.ready + account.executing else state


def seconds_left(overview: Overview, last_hour: Steps) -> dict[str, float | None]:
    """Returns for each plan in how many seconds its slowest site is done at the pace of the last hour.

    All that waits on a site counts, since plans share its pace; what pages will still lead to can't be known. 0:
    nothing is left; None: there is no telling, since a site of it stands still, or the plan does.

    Args:
        last_hour: The steps of it.
    """
    active = [begin for begin, counts in last_hour if counts]
    elapsed_s = last_hour[-1][0] + STEP_SECONDS - active[0] if active else 0  # to the end of the last step
    settled = {name: sum(counts.values()) for name, counts in of_sites(sum_of(last_hour)).items()}
    left: Counter[str] = Counter()
    sites: dict[str, set[str]] = {}
    for (plan, site), accounts in overview.ledger.items():
        unfinished = sum(account.ready + account.executing for account in accounts.values())
        sites.setdefault(plan, set())
        if unfinished:
            sites[plan].add(site)
        if overview.plan_states.get(plan, "active") == "active":
            left[site] += unfinished

    def of_plan(plan: str) -> float | None:
        if not sites[plan]:
            return 0.0
        if overview.plan_states.get(plan, "active") != "active" or any(not settled.get(site) for site in sites[plan]):
            return None
        return max(left[site] * elapsed_s / settled[site] for site in sites[plan])

    return {plan: of_plan(plan) for plan in sites}
