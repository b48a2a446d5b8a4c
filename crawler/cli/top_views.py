"""What `scrapy top` shows: tables of one moment of the crawl, on a screen or one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.cli.output import bytes_text, shown_count
from crawler.cli.text_tables import cell_text, print_table
from crawler.cli.worker_rows import NAMES, worker_rows
from crawler.cluster.activity import PERIODS, TOTALS, family, per_second_now, sum_of
from crawler.cluster.overview import SEED_STATES, Overview, read_overview
from crawler.cluster.troubles import Trouble, troubles
from crawler.telemetry import history, host_history

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table

    from crawler.plans.operator import Operator
    from crawler.telemetry.host_history import HostCounts

REASONS_SHOWN = 8
CELL_CHARACTERS_MIN = 4  # the least width of a column, however narrow the terminal is


@dataclass(frozen=True, slots=True)
class Moment:
    """The figures that the views are made of.

    Attributes:
        overview: How the crawl stands.
        troubles: What is wrong now.
        hour: What was done in the last hour, by the names of the history.
        per_second: Pages, items and bytes.
        hosts: The busiest hosts of the last hour.
    """

    overview: Overview
    troubles: Sequence[Trouble]
    hour: Mapping[str, int]
    per_second: Mapping[str, float]
    hosts: Mapping[str, HostCounts]

    def as_json(self) -> dict[str, Any]:
        """Returns all of it as JSON values."""
        return {
            **self.overview.as_json(),
            "wrong_now": [str(trouble) for trouble in self.troubles],
            "last_hour": dict(self.hour),
            "per_second": dict(self.per_second),
            "hosts": {host: counts._asdict() for host, counts in self.hosts.items()},
        }


@dataclass(frozen=True, slots=True)
class View:
    """A table: the names of its columns, and its rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[object]]


async def read_moment(operator: Operator) -> Moment:
    """Returns the figures of now."""
    now_s = await operator.registry.now_ms() // 1000
    resolution, seconds = PERIODS["hour"]
    place: dict[str, Any] = {"redis": operator.redis, "keys": operator.keys, "resolution": resolution}
    hour = await history.read(**place, last_s=now_s, seconds=seconds)
    hosts = await host_history.read(**place, last_s=now_s, seconds=seconds)
    overview = await read_overview(operator)
    return Moment(overview, troubles(overview, hour), sum_of(hour), per_second_now(hour, now_s), hosts)


def _overview(moment: Moment) -> list[View]:
    overview, hour = moment.overview, moment.hour
    work = [(name, shown_count(name, hour.get(name, 0)), shown_count(name, moment.per_second[name])) for name in TOTALS]
    seeds = [(name, *(getattr(totals, state) for state in SEED_STATES)) for name, totals in overview.frontiers.items()]
    alive = sum(worker["state"] in ("alive", "redis-full") for worker in overview.workers)
    memory = ", ".join(
        bytes_text(server.used_bytes) + (f" of {bytes_text(server.limit_bytes)}" if server.limit_bytes else "")
        for server in overview.redis
    )
    health = [
        ("workers alive", f"{alive} of {len(overview.workers)}"),
        ("oldest due", f"{overview.oldest_due_s:,.0f} s"),
        ("difference", f"{overview.difference:,}"),
        ("turns held", f"{overview.turns_held:,}"),
        ("Redis's memory", memory),
    ]
    failed = [*family(hour, "failed:").items()][:REASONS_SHOWN]
    statuses = [*family(hour, "status:").items()][:REASONS_SHOWN]
    return [
        View(("wrong now",), [(str(trouble),) for trouble in moment.troubles]),
        View(("", "last hour", "per second now"), work),
        View(("frontier", *SEED_STATES), seeds),
        View(("reason", "failed in the last hour"), failed),  # it stands above what a small screen leaves out
        View(("status", "answers in the last hour"), statuses),
        View(("", ""), health),
    ]


def _nodes(moment: Moment) -> list[View]:
    return [View(NAMES, worker_rows(moment.overview.workers))]


def _hosts(moment: Moment) -> list[View]:
    frontiers = [(name, totals.hosts, totals.hosts_due) for name, totals in moment.overview.frontiers.items()]
    hosts = [
        (host, totals.pages, shown_count("bytes", totals.bytes), totals.errors) for host, totals in moment.hosts.items()
    ]
    return [
        View(("frontier", "hosts with ready seeds", "due"), frontiers),
        View(("host", "pages", "bytes", "errors"), hosts),
    ]


VIEWS: Mapping[str, Callable[[Moment], list[View]]] = {"overview": _overview, "nodes": _nodes, "hosts": _hosts}


def print_moment(name: str, moment: Moment) -> None:
    """Prints a view, for scripts and pipes."""
    shown_views = [view for view in VIEWS[name](moment) if view.rows]
    for number, view in enumerate(shown_views):
        if number:
            print()
        print_table(view.names, view.rows)
    if not shown_views:
        print("no worker runs" if name == "nodes" else "nothing to show")


def screen(name: str, moment: Moment | None, problem: str, console: Console) -> RenderableType:
    """Returns what fills a terminal: the views' names, the tables as far as they fit, and what is wrong.

    Args:
        moment: None: nothing is known so far.
        problem: Why the figures aren't of now; empty: they are.
    """
    from rich.console import Group
    from rich.text import Text

    words: list[tuple[str, str] | str] = ["scrapy top  "]
    for view_name in VIEWS:
        words += [(f" {view_name} ", "reverse" if view_name == name else ""), " "]
    parts: list[RenderableType] = [_line(Text.assemble(*words))]
    parts.append(_line(Text(problem or "tab, arrows: another view   q: quit", "bold red" if problem else "dim")))
    room = console.height - len(parts)
    for view in VIEWS[name](moment) if moment else ():
        rows = view.rows[: max(0, room - 2)]
        if rows:
            parts += [Text(), _table(view, rows)]
            room -= len(rows) + 2
    return Group(*parts)


def _line(text: Any) -> Any:
    """Returns a text that is cut at the terminal's edge."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _table(view: View, rows: Sequence[Sequence[object]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(view.names):
        is_number = all(isinstance(row[number], int | float) for row in rows)
        table.add_column(
            Text(name), justify="right" if is_number else "left", no_wrap=True, min_width=CELL_CHARACTERS_MIN
        )
    for row in rows:
        table.add_row(*(_line(Text(cell_text(value))) for value in row))
    return table
