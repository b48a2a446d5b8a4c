"""How the crawl stands, in one look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.cli.output import bytes_text
from crawler.cluster.activity import PERIODS, TOTALS
from crawler.cluster.overview import SEED_STATES
from crawler.monitor import charts, formats
from crawler.monitor.tables import ShownTable

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.cluster.overview import Overview
    from crawler.monitor.gatherer import LatestFigures
    from crawler.monitor.web import WebRequest
    from crawler.monitor.words import Messages

MAX_REASONS = 12  # most reasons of failures on the page


async def show(web: WebRequest) -> Response:
    """Shows the figures; where Redis is away, the last ones, and says so."""
    figures = await web.monitor.gatherer.latest()
    period = web.choice("period", PERIODS)
    overview = figures.overview
    return web.html(
        "overview",
        figures=figures,
        troubles=[(trouble, web.words(f"trouble.{trouble.kind}", **trouble.values)) for trouble in figures.troubles],
        overview=overview,
        period=period,
        periods=tuple(PERIODS),
        charts=_charts(figures, period, web.words),
        seeds=_seeds(overview, web.words) if overview else [],
        failures=overview.failures().most_common(MAX_REASONS) if overview else [],
    )


async def table(web: WebRequest) -> ShownTable:
    """Returns what the crawl did in each step of a period."""
    figures = await web.monitor.gatherer.latest()
    steps = figures.activity.steps(web.choice("period", PERIODS))
    rows = [
        {"begin": formats.at(begin * 1000)} | {name: counts.get(name, 0) for name in TOTALS} for begin, counts in steps
    ]
    return ShownTable("activity", ("begin", *TOTALS), rows)


def _charts(figures: LatestFigures, period: str, words: Messages) -> list[dict[str, Any]]:
    """Returns a chart of each count: what it is now, the most it was, and the drawing."""
    steps = figures.activity.steps(period)
    now = figures.activity.per_second()
    length_s = PERIODS[period][0].seconds
    shown_charts = []
    for name in TOTALS:
        rates = [counts.get(name, 0) / length_s for _begin, counts in steps[:-1]]  # only steps that have ended count
        shown = bytes_text if name == "bytes" else formats.number
        values = {"now": shown(now[name]), "most": shown(max(rates, default=0.0)), "period": words(f"period.{period}")}
        label = words(f"chart.{name}", **values)
        shown_charts.append({"name": name, **values, "drawing": charts.area(rates, label)})
    return shown_charts


def _seeds(overview: Overview, words: Messages) -> list[dict[str, Any]]:
    """Returns a row for each frontier: how many seeds are in each state, and a bar of them."""
    rows = []
    for name, frontier in overview.frontiers.items():
        parts = [(state, getattr(frontier, state)) for state in SEED_STATES]
        label = ", ".join(f"{words(f'state.{state}')} {formats.number(seeds)}" for state, seeds in parts)
        rows.append({"name": name, "frontier": frontier, "parts": parts, "bar": charts.stack(parts, label)})
    return rows
