"""`scrapy nodes`: which workers crawl on which node, their load, and which of them have fallen silent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_answer
from crawler.cli.tables import print_table
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse

COLUMNS = {
    "carries": "carrying",
    "room": "room",
    "pages/min": "pages_per_minute",
    "CPU %": "cpu_percent",
    "mem %": "memory_percent",
}


class Command(HeadroomCommand):
    """Shows every worker with its load."""

    summary = "Show which workers crawl on which node, their load, and which have fallen silent"
    example = "nodes"
    description = (
        "Shows a row for each worker (a process of scrapy crawl): its node; its frontier (nav: search pages, content: "
        "pages that hold data); how many seeds it carries and has room for; its pages a minute; the CPU and memory in "
        "use on its node; and its state. alive: it works; redis-full: Redis refuses claims and offers, so raise its "
        "maxmemory; claims nothing: what it waits for; silent: its next report is overdue by SESSION_SECONDS; lapsed: "
        "it is gone, and other workers get its seeds; it is shown for an hour at most. While versions differ, as "
        "during an upgrade, a last line counts them."
    )

    async def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows the workers.

        Raises:
            HeadroomError: Redis can't be reached.
            UsageError: There is an argument.
        """
        from crawler.cli.workers import read_workers

        if args:
            raise UsageError("scrapy nodes takes no arguments")
        async with self.connect() as operator:
            workers = await read_workers(operator)
        print_answer(opts, {"workers": workers}, _print_workers)


def _print_workers(answer: dict[str, list[dict[str, Any]]]) -> None:
    rows = []
    for worker in answer["workers"]:
        process = worker["owner"].removeprefix(f"{worker['node']}:").partition(":")[0]
        figures = (worker[name] for name in COLUMNS.values())
        rows.append((worker["node"], process, worker["frontier"], *figures, _state(worker)))
    if rows:
        print_table(("node", "process", "frontier", *COLUMNS, "state"), rows)
        living = (worker for worker in answer["workers"] if worker["state"] != "lapsed" and worker["age_s"] is not None)
        versions = Counter(one_line(worker["version"]) or "0.1.0 or earlier" for worker in living)
        if len(versions) > 1:  # an upgrade is under way
            print("versions:", ", ".join(f"{number} of {version}" for version, number in sorted(versions.items())))
    else:
        print("no worker runs; scrapy crawl producer and scrapy crawl consumer start one each")


def _state(worker: dict[str, Any]) -> str:
    state = str(worker["state"])
    if state == "silent":
        state = f"silent for {worker['age_s']:.0f} s"
    elif state == "lapsed" and worker["session_s"] is not None:
        state = f"lapsed {-worker['session_s']:.0f} s ago"
    elif worker["age_s"] is None:
        state = f"{state}, without figures so far"
    why = worker["why_no_claims"]
    return f"{state}, claims nothing: {why}" if why and worker["state"] in ("alive", "redis-full") else state
