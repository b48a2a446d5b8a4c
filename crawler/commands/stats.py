"""`scrapy stats`: what is wrong now, and what all workers did of late: pages, items, bytes, answers, failures."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawler.base.text import one_line
from crawler.cli.command import HeadroomCommand
from crawler.cli.output import bytes_text, print_answer, shown_count
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crawler.cluster.answers_of_hour import Hour
    from crawler.plans.operator import Operator

LAST = ("hour", "day", "month")  # the periods of `crawler.cluster.activity`
BY = ("status", "host", "plan", "node")  # the kinds of `crawler.telemetry.hour_answers`
MAX_ROWS = 20  # most rows of a table, the most frequent ones; --json has all


class Command(HeadroomCommand):
    """Shows what the crawl did of late."""

    summary = "Show what the whole crawl did of late: pages, items, bytes, answers, failures, and by site"
    example = "stats --last day"
    description = (
        "Adds up what all workers did in the last hour, day or month, and per second now. A page is an answer of a "
        "host, of whatever status; items are those that all sinks have acknowledged; finished and failed are seeds; "
        "errors of a host are its answers of status 400 and above. Of each step the 100 busiest hosts are known. "
        "The counts lag behind by some seconds, and a worker that is killed takes its last seconds with it: what must "
        "add up is scrapy ledger. What is wrong with the crawl now stands above. With "
        "--json the steps of the period stand there one by one. With --hour or --by it is what came back in one hour: "
        "requests by how they were answered, bytes in and out, how long answers took to begin, and the pauses that "
        "hosts were given between two requests. A page that several plans want counts for the first of them. The "
        "busiest 200 hosts have rows of their own, those beyond are summed as (others)."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--last`, `--hour` and what belongs to it, and `--metrics`."""
        super().add_options(parser)
        parser.add_argument("--last", choices=LAST, default="hour", help="the period (default hour; month: 30 days)")
        parser.add_argument("--hour", help="what came back in this hour, in UTC, such as 2026-11-28T11", metavar="HOUR")
        parser.add_argument("--by", choices=BY, help="what came back in an hour (the present one), by this alone")
        parser.add_argument("--csv", action="store_true", help="print the rows of an hour as CSV, sizes in bytes")
        parser.add_argument(
            "--metrics",
            action="store_true",
            help="print how the crawl stands and all it ever did as Prometheus metrics, for a textfile collector",
        )

    async def execute(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows the counts."""
        if opts.hour or opts.by or opts.csv:
            await self._show_hour(opts)
            return
        from crawler.cluster.activity import (
            COARSE_PERIODS,
            PERIODS,
            TOTALS,
            family,
            of_sites,
            per_second_now,
            sum_of,
        )
        from crawler.cluster.overview import read_overview
        from crawler.cluster.troubles import troubles
        from crawler.telemetry import history, host_history

        if opts.metrics:
            async with self.connect() as operator:
                await _print_metrics(operator)
            return
        async with self.connect() as operator:
            now_s = await operator.registry.now_ms() // 1000
            place = (operator.redis, operator.keys)
            resolution, seconds = PERIODS["hour"]
            last_hour = steps = await history.read(*place, resolution, last_s=now_s, seconds=seconds)
            if opts.last != "hour":
                resolution, seconds = PERIODS[opts.last]
                steps = await history.read(*place, resolution, last_s=now_s, seconds=seconds)
            coarse, seconds = COARSE_PERIODS[opts.last]
            by_site = await history.read(*place, coarse, last_s=now_s, seconds=seconds)
            hosts = await host_history.read(*place, coarse, last_s=now_s, seconds=seconds)
            overview = await read_overview(operator)
            wrong_now = troubles(overview, last_hour)
        totals = sum_of(steps)
        answer = {
            "wrong_now": [str(trouble) for trouble in wrong_now],
            "period": opts.last,
            "step_seconds": resolution.seconds,
            "per_second": per_second_now(last_hour, now_s),
            "filters": overview.frontiers["content"].filter_rates,
            "totals": {name: totals[name] for name in TOTALS},
            "statuses": family(totals, "status:"),
            "failed": family(totals, "failed:"),
            "retried": family(totals, "retried:"),
            "sites": of_sites(sum_of(by_site)),
            "hosts": {host: counts._asdict() for host, counts in hosts.items()},
            "steps": [
                {"begin": f"{datetime.fromtimestamp(begin, UTC):%Y-%m-%dT%H:%M:%SZ}", "counts": counts}
                for begin, counts in steps
            ],
        }
        print_answer(opts, answer, _print)

    async def _show_hour(self, opts: argparse.Namespace) -> None:
        """Shows what came back in an hour."""
        from crawler.cli.csv_text import csv_text
        from crawler.cluster.answers_of_hour import COLUMNS, read_hour

        async with self.connect() as operator:
            hour = await read_hour(operator, opts.hour or "", opts.by)
        if opts.csv:
            sys.stdout.buffer.write(csv_text(COLUMNS, hour.rows).encode())
        else:
            print_answer(opts, {"hour": hour.name, "rows": hour.rows}, lambda _answer: _print_hour(hour))


async def _print_metrics(operator: Operator) -> None:
    """Prints the same metrics as `/metrics` of the monitor."""
    from crawler.cluster.metrics import metrics
    from crawler.cluster.overview import read_overview
    from crawler.telemetry.exposition import exposition

    _content_type, text = exposition(metrics(await read_overview(operator)))
    sys.stdout.buffer.write(text)


def _print(answer: dict[str, Any]) -> None:
    for sentence in answer["wrong_now"]:
        print(one_line(f"wrong now: {sentence}"))
    if filters := answer["filters"]:
        print("new pages that filters take for finished: {} expected, {} measured".format(*filters))
    rates = answer["per_second"]
    rows = [
        (name, shown_count(name, total), shown_count(name, rates[name])) for name, total in answer["totals"].items()
    ]
    print_table(("", f"last {answer['period']}", "per second now"), rows)
    _print_some(("status", "answers"), [*answer["statuses"].items()])
    _print_some(("reason", "failed"), [*answer["failed"].items()])
    _print_some(("reason", "tried again"), [*answer["retried"].items()])
    sites = [(site, counts["finished"], counts["failed"]) for site, counts in answer["sites"].items()]
    _print_some(("site", "finished", "failed"), sites)
    hosts = [
        (host, counts["pages"], shown_count("bytes", counts["bytes"]), counts["errors"])
        for host, counts in answer["hosts"].items()
    ]
    _print_some(("host", "pages", "bytes", "errors"), hosts)


def _print_hour(hour: Hour) -> None:
    """Prints the table of all, then one for each kind."""
    from crawler.cluster.answers_of_hour import ALL, OF_BYTES

    print(f"what came back in {hour.name}, UTC")
    for by in (ALL, *BY):
        rows = [row for row in hour.rows if row["by"] == by]
        shown = [
            (row["name"], *(bytes_text(number) if key in OF_BYTES else number for key, number in [*row.items()][2:]))
            for row in rows
        ]
        names = ("" if by == ALL else by, *(key.replace("_", " ") for key in [*hour.rows[0]][2:]))
        _print_some(names, shown)


def _print_some(names: Sequence[str], rows: Sequence[tuple[str, *tuple[int | str, ...]]]) -> None:
    """Prints the first rows of a table, a blank line before it; nothing where there are none."""
    if not rows:
        return
    print()
    print_table(names, ((one_line(name), *others) for name, *others in rows[:MAX_ROWS]))
    if len(rows) > MAX_ROWS:
        print(f"and {len(rows) - MAX_ROWS} more; --json has all")
