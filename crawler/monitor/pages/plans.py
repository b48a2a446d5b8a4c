"""The plans: how far each is, its ledger, and what analysts do to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from crawler.base.errors import PlanError
from crawler.cluster.plan_progress import shown_state, time_left
from crawler.frontier.ledger import COUNTS, Account
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.pages.sites import shown_definition
from crawler.monitor.tables import ShownTable
from crawler.plans.operator import Operator
from crawler.telemetry import plan_yield
from crawler.telemetry.plan_yield import Yield

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.responses import Response

    from crawler.frontier.seed_admin import Progress
    from crawler.monitor.gatherer import LatestFigures
    from crawler.monitor.web import WebRequest

YIELD_COLUMNS = ("words", "page", *Yield.__slots__)
MAX_YIELD_ROWS = 100  # most combinations on the page
COLUMNS = ("plan", "state", *COUNTS, "difference", "percent_done", "seconds_left", "slowest_site")
LEDGER_COLUMNS = ("site", "frontier", *COUNTS, "difference")
# What can be done to a plan -> what does it, as `scrapy plan` does.
ACTIONS: Mapping[str, Callable[[Operator, str, Progress], Awaitable[object]]] = {
    "pause": Operator.pause,
    "resume": Operator.resume,
    "cancel": Operator.cancel,
    "delete": Operator.delete,
}


async def show(web: WebRequest) -> Response:
    """Shows all plans."""
    figures = await web.monitor.gatherer.latest()
    return web.html("plans", figures=figures, rows=_rows(figures), counts=COUNTS)


async def table(web: WebRequest) -> ShownTable:
    """Returns all plans as a table."""
    return ShownTable("plans", COLUMNS, _rows(await web.monitor.gatherer.latest()))


async def show_one(web: WebRequest) -> Response:
    """Shows one plan: its ledger by site, its failures, and what it says."""
    plan = web.parameter("name")
    rows, account = await _ledger(web, plan)
    figures = await web.monitor.gatherer.latest()
    async with web.monitor.connection.operator() as operator:
        try:
            record = await operator.registry.plan(plan)
        except PlanError:
            record = None  # its pages were offered one by one
        brought = await plan_yield.read(operator.redis, operator.keys, plan)
    if record is None and not rows:
        raise RefusedRequestError(404, "error.nothing")
    summary = next((row for row in _rows(figures) if row["plan"] == plan), None)
    return web.html(
        "plan",
        figures=figures,
        plan=plan,
        action=web.monitor.slow_actions.of(plan),
        record=record,
        state=shown_state(record.state, account) if record else "",
        seeds_behind=partial(seeds_behind, plan),
        definition=await shown_definition(record.definition) if record else "",
        rows=rows,
        summary=summary,
        counts=COUNTS,
        brought=brought,
        combinations=[*brought.combinations.items()][:MAX_YIELD_ROWS],
        failures=sorted(account.failures.items(), key=lambda pair: (-pair[1], pair[0])),
    )


def seeds_behind(plan: str, row: Mapping[str, Any], count: str) -> str:
    """Returns the address that shows the seeds behind a number of a plan's ledger; empty where there is none."""
    if not row[count]:
        return ""
    if count == "failed":
        return "/failures?" + urlencode({"plan": plan, "site": row["site"], "frontier": row["frontier"]})
    if count == "finished" and row["frontier"] == "content":
        return "/items?" + urlencode({"plan": plan, "site": row["site"]})
    return ""


async def ledger_table(web: WebRequest) -> ShownTable:
    """Returns one plan's ledger as a table."""
    rows, _account = await _ledger(web, web.parameter("name"))
    return ShownTable("plan", LEDGER_COLUMNS, rows)


async def yield_table(web: WebRequest) -> ShownTable:
    """Returns what one plan's searches brought as a table, by combination, then by page of results."""
    async with web.monitor.connection.operator() as operator:
        brought = await plan_yield.read(operator.redis, operator.keys, web.parameter("name"))
    return ShownTable("yield", YIELD_COLUMNS, brought.rows())


async def act(web: WebRequest, form: dict[str, str]) -> Response:
    """Pauses, resumes, cancels or deletes a plan; what takes long goes on by itself, and the plan's page says so."""
    plan, name = form.get("name", ""), form.get("action", "")
    if name not in ACTIONS:
        raise RefusedRequestError(400, "error.form")

    def work(operator: Operator, progress: Progress) -> Awaitable[object]:
        return ACTIONS[name](operator, plan, progress)

    is_done = await web.monitor.slow_actions.begin(plan, f"plan-{name}", web.sign_in.user.name, work)
    address = "/plans" if is_done and name == "delete" else f"/plan?{urlencode({'name': plan})}"
    return web.then(address, f"plan-{name}") if is_done else RedirectResponse(address, 303)


def _rows(figures: LatestFigures) -> list[dict[str, Any]]:
    """Returns a row for each plan that has seeds."""
    if figures.overview is None:
        return []
    left = time_left(figures.overview, figures.activity.steps("hour"))
    rows = []
    for plan, account in sorted(figures.overview.by_plan().items()):
        state = figures.overview.plan_states.get(plan, "active")
        seeds, ended = account.offered - account.known, account.finished + account.failed
        rows.append(
            {
                "plan": plan,
                "state": shown_state(state, account),
                **{name: getattr(account, name) for name in COUNTS},
                "difference": account.difference,
                "percent_done": round(100 * ended / seeds, 1) if seeds else 0.0,
                "seconds_left": left[plan].seconds,
                "slowest_site": left[plan].site,
            }
        )
    return rows


async def _ledger(web: WebRequest, plan: str) -> tuple[list[dict[str, Any]], Account]:
    """Returns a row for each site and frontier of a plan, and all of it together."""
    whole, rows = Account(), []
    async with web.monitor.connection.operator() as operator:
        ledger = await operator.ledger(plan)
    for (_plan, site), accounts in sorted(ledger.items()):
        for frontier, account in accounts.items():
            whole.add(account)
            values = {name: getattr(account, name) for name in COUNTS}
            rows.append({"site": site, "frontier": frontier, **values, "difference": account.difference})
    return rows, whole
