"""`scrapy demo`: a whole crawl on this machine, from a plan to items, with every server started for it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from crawler.commands.base import HeadroomCommand, print_json
from crawler.errors import HeadroomError

if TYPE_CHECKING:
    import argparse

    from crawler.demo.services import Services
    from crawler.demo.summary import Summary

SIGNALLED = 128  # what shells add to a signal's number for an exit status


class Command(HeadroomCommand):
    """Runs the demo and sums it up."""

    def syntax(self) -> str:
        """Returns what the command line looks like."""
        return "[--keep]"

    def short_desc(self) -> str:
        """Returns the line in `scrapy`'s list of commands."""
        return "Crawl a small forum from a plan to items, with every server started for it"

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return (
            "Runs plans/demo.yaml against a forum on this machine, with one producer and two consumers, and writes to "
            "demo-output. Servers that REDIS_URL, MONGO_URL and KAFKA_BOOTSTRAP_SERVERS name are used, under names of "
            "the demo's own; others are started. All that was started has ended, and all that was written to named "
            "servers is removed, when the command returns."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--keep`."""
        super().add_options(parser)
        parser.add_argument("--keep", action="store_true", help="keep the servers up afterwards, until Ctrl-C")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs the demo.

        Raises:
            HeadroomError: Something went wrong; no process is left.
            UsageError: The command line is none.
        """
        from rich.console import Console

        from crawler.demo import run, summary
        from crawler.demo.screen import Screen

        if args:
            raise UsageError(f"{args[0]} after demo, expected nothing")
        console = Console(stderr=opts.json, highlight=False, emoji=False)

        def report(result: Summary, services: Services) -> None:
            if opts.json:
                print_json(result)
                return
            summary.show(result, console)
            if opts.keep:
                summary.show_kept(services, result, console)
            elif not result.problems:
                summary.show_next(result.plan, console)

        try:
            with Screen(console) as screen:
                result = run.run(self._named(), screen, report, keep=opts.keep)
        except run.Stopped as stopped:
            print("stopped: nothing of it is left running", file=sys.stderr)
            self.exitcode = SIGNALLED + stopped.number
            return
        if result.problems:
            raise HeadroomError("; ".join(result.problems))

    def _named(self) -> dict[str, str]:
        """Returns the addresses that the environment or `-s` gives; the settings' own defaults name no server."""
        from crawler.demo.services import ADDRESSES

        by_option = SETTINGS_PRIORITIES["cmdline"]
        given = (key for key in ADDRESSES.values() if os.environ.get(key) or self.values.getpriority(key) == by_option)
        return {key: str(self.values[key]) for key in given}
