"""`scrapy nodes`: who crawls, how much, and who has fallen silent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand, print_json

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

    def short_desc(self) -> str:
        """Returns the line in the list of commands."""
        return "Show who crawls: each node's workers, their load, and who has fallen silent"

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return (
            "A row per worker: its frontier, seeds it carries and has room for, its pages a minute, the CPU and memory "
            "in use on its node, sinks it waits for. State: alive, redis-full (claims and offers wait: raise Redis's "
            "maxmemory), silent (no news), or lapsed (what it held goes to others)."
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows the workers.

        Raises:
            HeadroomError: No Redis.
            UsageError: There is an argument.
        """
        if args:
            raise UsageError("scrapy nodes takes no arguments")
        workers = asyncio.run(self._read())
        if opts.json:
            print_json({"workers": workers})
        elif workers:
            _print_workers(workers)
        else:
            print("no worker runs; scrapy crawl producer and scrapy crawl consumer start one each")

    async def _read(self) -> list[dict[str, Any]]:
        from crawler.commands.workers import read_workers
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            return await read_workers(operator)


def _print_workers(workers: list[dict[str, Any]]) -> None:
    from crawler.commands.views import print_table

    rows = []
    for one in workers:
        process = one["owner"].removeprefix(f"{one['node']}:").partition(":")[0]
        down = ", ".join(one["sinks_down"])
        state = f"{_state(one)}, waits for {down}" if down else _state(one)
        rows.append((one["node"], process, one["frontier"], state, *(one[name] for name in COLUMNS.values())))
    print_table(("node", "process", "frontier", "state", *COLUMNS), rows)


def _state(worker: dict[str, Any]) -> str:
    if worker["state"] in ("alive", "redis-full"):
        return str(worker["state"])
    if worker["state"] == "silent":
        return f"silent for {worker['age_s']:.0f} s"
    return "lapsed" if worker["session_s"] is None else f"lapsed {-worker['session_s']:.0f} s ago"
