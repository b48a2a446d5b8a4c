"""The sites: what each yielded and what is wrong with it, its definition in force, and which plans use it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import yaml

from crawler.base.redaction import without_credentials, without_secrets
from crawler.cluster.activity import OF_SITES, of_sites, sum_of, tries_in_vain
from crawler.cluster.plan_progress import shown_state
from crawler.cluster.troubles import VAIN_SEEDS, VAIN_TRIES, sites_without_items
from crawler.frontier.ledger import COUNTS, Account
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.tables import ShownTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from crawler.monitor.gatherer import LatestFigures
    from crawler.monitor.web import WebRequest
    from crawler.plans.stored_site import StoredSite

COLUMNS = (
    "site", "version", "ready", "executing", "finished", "failed", "content", "items", "finished_last_hour",
    "failed_last_hour", "content_last_hour", "items_last_hour", "plans", "trouble",
)  # fmt: skip
# What the page shows of a row's numbers: a column's kind of message -> the row's keys, which share a cell.
SHOWN_COUNTS = {
    "state.ready": ("ready",),
    "state.executing": ("executing",),
    "finished-ever": ("finished",),
    "failed-ever": ("failed",),
    "items-of-content-ever": ("items", "content"),
    "finished-last-hour": ("finished_last_hour",),
    "failed-last-hour": ("failed_last_hour",),
    "items-of-content-last-hour": ("items_last_hour", "content_last_hour"),
}
PLAN_COLUMNS = ("plan", "state", "frontier", *COUNTS)
NONE = dict.fromkeys(OF_SITES, 0)


async def show(web: WebRequest) -> Response:
    """Shows the sites."""
    figures = await web.monitor.gatherer.latest()
    rows = _rows(figures, await _stored(web))
    return web.html("sites", figures=figures, rows=rows, counts=SHOWN_COUNTS)


async def table(web: WebRequest) -> ShownTable:
    """Returns the sites as a table."""
    return ShownTable("sites", COLUMNS, _rows(await web.monitor.gatherer.latest(), await _stored(web)))


async def show_one(web: WebRequest) -> Response:
    """Shows one site."""
    site, stored = web.parameter("name"), await _stored(web)
    figures = await web.monitor.gatherer.latest()
    row = next((row for row in _rows(figures, stored) if row["site"] == site), None)
    if row is None:
        raise RefusedRequestError(404, "error.nothing")
    plans, whole = _plans(figures, site)
    return web.html(
        "site",
        figures=figures,
        row=row,
        plans=plans,
        counts=COUNTS,
        stored=stored.get(site),
        definition=await shown_definition(stored[site].definition) if site in stored else "",
        failures=sorted(whole.failures.items(), key=lambda pair: (-pair[1], pair[0])),
    )


async def plans_table(web: WebRequest) -> ShownTable:
    """Returns the plans that use one site as a table, with what they have there."""
    figures = await web.monitor.gatherer.latest()
    return ShownTable("site", PLAN_COLUMNS, _plans(figures, web.parameter("name"))[0])


async def shown_definition(definition: Any) -> str:
    """Returns a definition as people write it, without passwords that may stand in it.

    That is done in a thread: a plan's hundred thousand words take some seconds.
    """
    return await asyncio.to_thread(_written, definition)


def _written(definition: Any) -> str:
    return without_credentials(yaml.safe_dump(without_secrets(definition), allow_unicode=True, sort_keys=False))


async def _stored(web: WebRequest) -> dict[str, StoredSite]:
    async with web.monitor.connection.operator() as operator:
        return await operator.registry.stored_sites()


def _plans(figures: LatestFigures, site: str) -> tuple[list[dict[str, Any]], Account]:
    """Returns a row for each plan and frontier that has seeds on a site, and all of them together."""
    rows, whole = [], Account()
    overview = figures.overview
    if overview is None:
        return [], whole
    states = {
        plan: shown_state(overview.plan_states.get(plan, "active"), account)
        for plan, account in overview.by_plan().items()
    }
    for (plan, name), accounts in sorted(overview.ledger.items()):
        if name != site:
            continue
        state = states[plan]
        for frontier, account in accounts.items():
            whole.add(account)
            values = {name: getattr(account, name) for name in COUNTS}
            rows.append({"plan": plan, "state": state, "frontier": frontier, **values})
    return rows, whole


def _rows(figures: LatestFigures, stored: Mapping[str, StoredSite]) -> list[dict[str, Any]]:
    """Returns a row for each site that is defined, has seeds, or had some."""
    if figures.overview is None:
        return []
    ever = of_sites(figures.overview.totals)
    hour = figures.activity.steps("hour")
    late = of_sites(sum_of(hour))
    away = {site for site, tries in tries_in_vain(hour).items() if tries.number >= VAIN_TRIES}
    without_items = sites_without_items(figures.overview, hour)
    plans: dict[str, list[str]] = {}
    waiting: dict[str, dict[str, int]] = {}
    for (plan, site), accounts in sorted(figures.overview.ledger.items()):
        plans.setdefault(site, []).append(plan)
        left = waiting.setdefault(site, {"ready": 0, "executing": 0})
        for account in accounts.values():
            left["ready"] += account.ready
            left["executing"] += account.executing
    return [
        {
            "site": site,
            "version": stored[site].version if site in stored else None,
            **waiting.get(site, {"ready": 0, "executing": 0}),
            **ever.get(site, NONE),
            **{f"{name}_last_hour": number for name, number in late.get(site, NONE).items()},
            "plans": plans.get(site, []),
            "trouble": _trouble(
                late.get(site, NONE),
                waiting.get(site, {}),
                is_stored=site in stored,
                is_away=site in away,
                is_empty=site in without_items,
            ),
        }
        for site in sorted(ever.keys() | plans.keys() | stored.keys())
    ]


def _trouble(
    late: Mapping[str, int], waiting: Mapping[str, int], *, is_stored: bool, is_away: bool, is_empty: bool
) -> str:
    """Returns what is wrong with a site, the kind of a message; empty where nothing is."""
    if not is_stored and any(waiting.values()):
        return "undefined"
    if late["failed"] >= VAIN_SEEDS and not late["finished"]:
        return "vain"
    if is_away and any(waiting.values()):
        return "away"
    if is_empty:
        return "empty"
    return "failing" if late["failed"] > late["finished"] else ""
