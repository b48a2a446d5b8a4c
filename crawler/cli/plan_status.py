"""How far a submitted plan is: the figures, and how people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from crawler.base.text import inert, one_line
from crawler.cli.ledger_table import print_ledger
from crawler.cli.output import duration, format_time
from crawler.cli.text_tables import print_table
from crawler.frontier.ledger import Account

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.plans.operator import Operator
    from crawler.plans.plan_record import PlanRecord

# What the crawl counts of a combination's searches -> what that is called.
SEARCH_COLUMNS = {
    "pages": "search pages",
    "found": "results",
    "new": "new",
    "items": "items",
    "off_topic": "off topic",
    "low_yield": "low-yield, not asked for",
    "words": "combination",
}
COLUMNS = ("plan", "state", "searches", "offered", "finished", "failed", "done")
NEARLY_DONE_PERCENT = 99  # the share from which on decimals are shown: 100 % must mean that all is done


async def plan_status(operator: Operator, record: PlanRecord) -> dict[str, Any]:
    """Returns a plan's state and how far it is, as JSON values."""
    total = Account()
    for accounts in (await operator.ledger(record.name)).values():
        for account in accounts.values():
            total.add(account)
    offering = record.offering_until_ms > await operator.registry.now_ms()
    seeds = total.offered - total.known
    return {
        "plan": record.name,
        "state": record.state,
        "edition": record.edition,
        "schedule": record.definition.get("schedule") or "",
        "offering": offering,
        "complete": not record.offering_until_ms,
        "nav_seeds": record.nav_seeds,
        "offered": total.offered,
        "known": total.known,
        "ready": total.ready,
        "executing": total.executing,
        "finished": total.finished,
        "failed": total.failed,
        "percent_done": round(100 * (total.finished + total.failed) / seeds, 1) if seeds else 0.0,
        "done": not (offering or total.ready or total.executing),
    }


def print_plans(answer: dict[str, list[dict[str, Any]]]) -> None:
    """Prints a table of what `plan_status` returned for each of the `plans`."""
    names = ("nav_seeds", "offered", "finished", "failed")
    rows = [
        (plan["plan"], _state(plan), *(plan[name] for name in names), _percent_done(plan)) for plan in answer["plans"]
    ]
    if rows:
        print_table(COLUMNS, rows)
    else:
        print("no plans; scrapy plan submit FILE sends one")


def print_plan(plan: Mapping[str, Any]) -> None:
    """Prints a plan's status, with its sites, definition, what its combinations brought, and its ledger.

    Args:
        plan: What `plan_status` returned, and `seconds_left`, `slowest_site`, `sites`, `definition`, `searches` and
            `ledger`.
    """
    done = f"{_percent_done(plan)} of its seeds{_left(plan)}"
    print(one_line(f"plan {plan['plan']}: {_state(plan)}, {done}, submitted {format_time(plan['edition'])}"))
    print_sites(plan["sites"])
    print()
    print(inert(yaml.safe_dump(plan["definition"], allow_unicode=True, sort_keys=False)))
    if searches := [row for row in plan["searches"] if row["words"]]:
        print_table([*SEARCH_COLUMNS.values()], ([row[name] for name in SEARCH_COLUMNS] for row in searches))
        print()
    print_ledger(plan["ledger"])


def print_sites(sites: list[dict[str, Any]]) -> None:
    """Prints the names, versions and places of a plan's sites as one line."""
    places = [", ".join(filter(None, (f"version {site['version']}", site["base"]))) for site in sites]
    shown = [f"{site['site']} ({place})" for site, place in zip(sites, places, strict=True)]
    print("sites:", one_line(", ".join(shown)))


def _state(plan: Mapping[str, Any]) -> str:
    if plan["state"] == "cancelled":  # also one that was never wholly submitted
        return "cancelled"
    if plan["offering"]:
        return "being submitted"
    if not plan["complete"]:
        return "half submitted"
    return "done" if plan["done"] and plan["state"] == "active" else str(plan["state"])


def _left(plan: Mapping[str, Any]) -> str:
    """Returns when a plan will be done, and by which site; empty: nothing is left, or the plan stands still."""
    site, seconds = plan["slowest_site"], plan["seconds_left"]
    if not site:
        return ""
    return f", site {site} stands still" if seconds is None else f", some {duration(seconds)} left for site {site}"


def _percent_done(plan: Mapping[str, Any]) -> str:
    rounded = plan["percent_done"] < NEARLY_DONE_PERCENT or plan["done"]
    return f"{plan['percent_done']:.{0 if rounded else 1}f} %"
