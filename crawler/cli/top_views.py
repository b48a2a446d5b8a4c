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

    from rich.console import RenderableType

    from crawler.plans.operator import Operator
    from crawler.telemetry.host_history import HostCounts

    View = Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]]  # tables: the names of columns, and the rows

REASONS_SHOWN = 8


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


async def read_moment(operator: Operator) -> Moment:
    """Returns the figures of now."""
    now_s = await operator.registry.now_ms() // 1000
    resolution, seconds = PERIODS["hour"]
    place: dict[str, Any] = {"redis": operator.redis, "keys": operator.keys, "resolution": resolution}
    hour = await history.read(**place, last_s=now_s, seconds=seconds)
    hosts = await host_history.read(**place, last_s=now_s, seconds=seconds)
    overview = await read_overview(operator)
    return Moment(overview, troubles(overview, hour), sum_of(hour), per_second_now(hour, now_s), hosts)


def _overview(moment: Moment) -> View:
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
    return [
        (("wrong now",), [(str(trouble),) for trouble in moment.troubles]),
        (("", "last hour", "per second now"), work),
        (("frontier", *SEED_STATES), seeds),
        # It stands above what a small screen leaves out.
        (("reason", "failed in the last hour"), [*family(hour, "failed:").items()][:REASONS_SHOWN]),
        (("status", "answers in the last hour"), [*family(hour, "status:").items()][:REASONS_SHOWN]),
        (("", ""), health),
    ]


def _nodes(moment: Moment) -> View:
    return [(NAMES, worker_rows(moment.overview.workers))]


def _hosts(moment: Moment) -> View:
    frontiers = [(name, totals.hosts, totals.hosts_due) for name, totals in moment.overview.frontiers.items()]
    hosts = [
        (host, totals.pages, shown_count("bytes", totals.bytes), totals.errors) for host, totals in moment.hosts.items()
    ]
    return [
        (("frontier", "hosts with ready seeds", "due"), frontiers),
        (("host", "pages", "bytes", "errors"), hosts),
    ]


VIEWS: Mapping[str, Callable[[Moment], View]] = {"overview": _overview, "nodes": _nodes, "hosts": _hosts}


def print_moment(name: str, moment: Moment) -> None:
    """Prints a view, for scripts and pipes."""
    tables = [(names, rows) for names, rows in VIEWS[name](moment) if rows]
    for number, (names, rows) in enumerate(tables):
        if number:
            print()
        print_table(names, rows)
    if not tables:
        print("no worker runs" if name == "nodes" else "nothing to show")


def screen(name: str, moment: Moment, problem: str) -> RenderableType:
    """Returns the tables of a view for a terminal, which leaves out what has no room below.

    Args:
        problem: Why the figures aren't of now; empty: they are.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    def line(text: str, style: str = "") -> Text:
        return Text(text, style, no_wrap=True, overflow="ellipsis")

    parts: list[RenderableType] = [line(problem, "bold red")] if problem else []
    for names, rows in VIEWS[name](moment):
        if rows:
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
            for column, heading in enumerate(names):
                is_number = all(isinstance(row[column], int | float) for row in rows)
                table.add_column(line(heading), justify="right" if is_number else "left", no_wrap=True)
            for row in rows:
                table.add_row(*(line(cell_text(value)) for value in row))
            parts += [table, Text()]
    return Group(*parts)
