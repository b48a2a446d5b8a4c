"""`scrapy top`: the crawl live in a terminal, in the words of `scrapy nodes` and `scrapy stats`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from crawler.base.errors import UnavailableError
from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_answer

if TYPE_CHECKING:
    import argparse

    from crawler.cli.top_views import Moment

NAMES = ("overview", "nodes", "hosts")
REFRESH_SECONDS = 2.0  # how often the screen is drawn anew; workers report every 3 s


class Command(HeadroomCommand):
    """Shows the crawl until somebody interrupts it."""

    summary = "Watch the crawl live: an overview, the nodes, the busiest hosts"
    example = "top --view nodes"
    description = (
        "Shows how the crawl stands, every other second, until Ctrl-C: what was done in the last hour and is done now, "
        "seeds by state, failures; or the workers of each node; or the busiest hosts of the last hour. While Redis is "
        "away it shows what it knew last, and goes on when Redis is back. With --once, or where the output is no "
        "terminal, the view is printed. NO_COLOR turns colours off."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--view` and `--once`."""
        super().add_options(parser)
        parser.add_argument("--view", choices=NAMES, default=NAMES[0], help="what is shown (default overview)")
        parser.add_argument("--once", action="store_true", help="print the view and end")

    async def execute(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows the view."""
        from crawler.cli.top_views import print_moment, read_moment

        is_screen = sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        async with self.connect() as operator:
            moment = await read_moment(operator)
        if opts.json:
            print_answer(opts, moment.as_json(), print)
        elif opts.once or not is_screen:
            print_moment(opts.view, moment)
        else:
            await self._watch(opts.view, moment)

    async def _watch(self, view: str, moment: Moment) -> None:
        """Draws a view again and again, each time over a new connection, since Redis may have been away."""
        from rich.console import Console
        from rich.live import Live

        from crawler.cli.top_views import read_moment, screen

        console, problem = Console(highlight=False, markup=False, emoji=False), ""
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(screen(view, moment, problem), refresh=True)
                await asyncio.sleep(REFRESH_SECONDS)
                try:
                    async with self.connect() as operator:
                        moment, problem = await read_moment(operator), ""
                except UnavailableError as error:
                    problem = f"as it was before: {error}"
