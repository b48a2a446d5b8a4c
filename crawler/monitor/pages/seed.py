"""Where one page is, and the sentence that says why it isn't done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.base import urls
from crawler.base.errors import PlanError, UrlError
from crawler.cli.seed_status import content_statuses, finished_until_s, search_pages, seed_status
from crawler.monitor import formats
from crawler.monitor.tables import ShownTable
from crawler.telemetry import failed_answers

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.monitor.web import WebRequest

COLUMNS = ("frontier", "site", "state", "why", "plans", "tries", "reason", "since", "until", "fingerprint")


async def show(web: WebRequest) -> Response:
    """Shows the form, and what is known of the page that was asked for."""
    url, plan = web.parameter("url"), web.parameter("plan")
    rows, wrong = [], ""
    if url:
        try:
            rows = await _rows(web, url, plan)
        except (UrlError, PlanError) as error:
            wrong = str(error)
    return web.html("seed", 400 if wrong else 200, url=url, plan=plan, rows=rows, wrong=wrong)


async def table(web: WebRequest) -> ShownTable:
    """Returns what is known of a page as a table."""
    return ShownTable("seed", COLUMNS, await _rows(web, web.parameter("url"), web.parameter("plan")))


async def _rows(web: WebRequest, text: str, plan: str) -> list[dict[str, Any]]:
    """Returns a row for each seed that the page is, on each site, and as a search page of a plan if one is given."""
    url = urls.canonical(text, routes=True)
    async with web.monitor.connection.operator() as operator:
        statuses = await content_statuses(operator, url, None)
        if plan:
            statuses += [await seed_status(operator, seed) for seed in await search_pages(operator, url, plan)]
        known = [status for status in statuses if status["state"] != "unknown"] or statuses[:1]
        answers = [
            await failed_answers.read(operator.redis, operator.keys, status["fingerprint"])
            if status["state"] == "failed"
            else None
            for status in known
        ]
    return [_row(status) | {"answer": answer} for status, answer in zip(known, answers, strict=True)]


def _row(status: dict[str, Any]) -> dict[str, Any]:
    details = status["details"]
    finished_s = details.get("finished_s", 0)
    since_ms = details.get("score_ms") or 1000 * finished_s
    return {
        **{name: status[name] for name in ("frontier", "site", "state", "why", "fingerprint")},
        "plans": details.get("plans", []),
        "tries": details.get("tries"),
        "reason": details.get("reason", ""),
        "since": formats.at(since_ms) if since_ms else "",
        "until": formats.at(1000 * finished_until_s(finished_s)) if finished_s else "",  # at the latest
    }
