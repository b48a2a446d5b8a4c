"""The failures: how many there are of each reason, the latest failed seeds, and sending them again by selection."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from crawler.base.errors import HeadroomError
from crawler.cli.retrying import Retrying
from crawler.frontier.ledger import Account
from crawler.frontier.seed_admin import LATEST_FAILED, FailedPlace
from crawler.monitor import formats
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.tables import ShownTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from crawler.base.models import Frontier
    from crawler.frontier.seed_admin import Progress, UnfinishedSeed
    from crawler.monitor.gatherer import LatestFigures
    from crawler.monitor.web import WebRequest
    from crawler.plans.operator import Operator

SHOWN = 50  # most seeds on a page
BATCH = 500  # most seeds that are looked up at once, in some 10 ms
# Most seeds that are looked at for one page: where a rare one is asked for, the next page goes on from there.
MAX_LOOKED_AT = 5_000
# The place after which a page goes on: a time in ms, and a number within it; so many fail in one ms at most.
PLACE = re.compile(r"(\d{1,15})\.(\d{1,4})")
TARGET = "failed seeds"  # the name under which sending again is known while it goes on; no plan's name has a blank
COLUMNS = ("time", "reason", "site", "host", "plans", "url", "frontier", "seed")
REASON_COLUMNS = ("reason", "seeds")


@dataclass(frozen=True, slots=True)
class WantedFailures:
    """Which failed seeds are wanted: those for which all of it holds; what is empty holds for all."""

    frontier: Frontier
    reason: str
    site: str
    host: str
    plan: str

    def holds(self, failed: UnfinishedSeed) -> bool:
        """Returns whether a seed is wanted."""
        pairs = ((self.reason, failed.reason), (self.site, failed.seed.site), (self.host, failed.seed.host))
        return (not self.plan or self.plan in failed.plans) and all(wanted in ("", value) for wanted, value in pairs)

    def as_parameters(self) -> dict[str, str]:
        """Returns it as an address or a form has it."""
        return {name: str(value) for name, value in asdict(self).items() if value}


async def show(web: WebRequest) -> Response:
    """Shows the failures."""
    wanted = _wanted(web.request.query_params)
    rows, last = await _some(web, wanted, _place_before(web))
    figures = await web.monitor.gatherer.latest()
    parameters = wanted.as_parameters()
    return web.html(
        "failures",
        figures=figures,
        reasons=_reasons(figures, wanted),
        wanted=wanted,
        rows=rows,
        query=urlencode(parameters),
        older=urlencode(parameters | {"after": f"{last.at_ms:.0f}.{last.passed}"}) if last else "",
        action=web.monitor.slow_actions.of(TARGET),
    )


async def table(web: WebRequest) -> ShownTable:
    """Returns as many failed seeds as the page shows, as a table."""
    rows, _last = await _some(web, _wanted(web.request.query_params), _place_before(web))
    return ShownTable("failures", COLUMNS, rows)


async def reasons_table(web: WebRequest) -> ShownTable:
    """Returns how many seeds failed for which reason, as a table."""
    wanted = _wanted(web.request.query_params)
    reasons = _reasons(await web.monitor.gatherer.latest(), wanted)
    return ShownTable(
        "failure-reasons", REASON_COLUMNS, [{"reason": reason, "seeds": number} for reason, number in reasons]
    )


async def act(web: WebRequest, form: dict[str, str]) -> Response:
    """Makes failed seeds ready again: those that were ticked, or all that were looked for, which goes on by itself."""
    wanted = _wanted(form)
    target = ", ".join(f"{name} {value}" for name, value in wanted.as_parameters().items())
    if form.get("action") == "ticked":
        chosen = [_place(name) for name in form if name.startswith("seed.")]
        if not chosen:
            raise RefusedRequestError(400, "error.none-ticked")
        target = f"{len(chosen)} ticked, {target}"
    elif form.get("action") == "all":
        chosen = None
    else:
        raise RefusedRequestError(400, "error.form")

    async def retry(operator: Operator, progress: Progress) -> None:
        retrying = Retrying(await operator.registry.plans(), wanted.holds)
        admin = operator.admins[wanted.frontier]
        if chosen is None:
            await admin.retry(retrying.may_retry, wanted.plan or None, progress)
        else:
            await admin.retry_some(chosen, retrying.may_retry)
        if left := retrying.left():
            raise HeadroomError(left)

    await web.monitor.slow_actions.begin(TARGET, "seeds-retry", web.sign_in.user.name, retry, label=target)
    return RedirectResponse(f"/failures?{urlencode(wanted.as_parameters())}", 303)


async def _some(
    web: WebRequest, wanted: WantedFailures, after: FailedPlace
) -> tuple[list[dict[str, Any]], FailedPlace | None]:
    """Returns the rows of a page, and the place of the last seed that was looked at; None: there are no more."""
    rows: list[dict[str, Any]] = []
    place = after
    async with web.monitor.connection.operator() as operator:
        admin = operator.admins[wanted.frontier]
        for _ in range(MAX_LOOKED_AT // BATCH):
            failed = await admin.failed(place, BATCH)
            for failure, place in failed:
                if failure and wanted.holds(failure):
                    rows.append(_row(failure, place.at_ms, wanted.frontier))
                    if len(rows) == SHOWN:
                        return rows, place
            if not failed:
                return rows, None
    return rows, place


def _row(failure: UnfinishedSeed, at_ms: float, frontier: Frontier) -> dict[str, Any]:
    seed = failure.seed
    return {
        "time": formats.at(at_ms),
        "reason": failure.reason,
        "site": seed.site,
        "host": seed.host,
        "plans": list(failure.plans),
        "url": seed.url,
        "frontier": frontier,
        "seed": f"seed.{failure.partition}.{failure.fingerprint.hex()}",
    }


def _place(name: str) -> tuple[int, bytes]:
    """Returns partition and fingerprint of a seed that was ticked."""
    try:
        _seed, partition, fingerprint = name.split(".")
        return int(partition), bytes.fromhex(fingerprint)
    except ValueError:
        raise RefusedRequestError(400, "error.form") from None


def _wanted(parameters: Mapping[str, str]) -> WantedFailures:
    """Returns which seeds an address or a form asks for."""
    frontier = parameters.get("frontier") or "content"
    if frontier not in ("content", "nav"):
        raise RefusedRequestError(400, "error.nothing")
    reason, site, host, plan = (parameters.get(name, "").strip() for name in ("reason", "site", "host", "plan"))
    return WantedFailures(cast("Frontier", frontier), reason, site, host, plan)


def _place_before(web: WebRequest) -> FailedPlace:
    """Returns the place after which a page begins."""
    text = web.parameter("after")
    match = PLACE.fullmatch(text)
    if text and match is None:
        raise RefusedRequestError(400, "error.nothing")
    return FailedPlace(int(match[1]), int(match[2])) if match else LATEST_FAILED


def _reasons(figures: LatestFigures, wanted: WantedFailures) -> list[tuple[str, int]]:
    """Returns how many seeds of a frontier failed for each reason, of the site and plan that are asked for."""
    whole = Account()
    for (plan, site), accounts in figures.overview.ledger.items() if figures.overview else ():
        account = accounts.get(wanted.frontier)
        if account and wanted.plan in ("", plan) and wanted.site in ("", site):
            whole.add(account)
    counts = [(reason, number) for reason, number in whole.failures.items() if number]
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))
