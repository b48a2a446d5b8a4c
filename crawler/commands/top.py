"""`scrapy top`: the crawl live in a terminal, in the words of `scrapy nodes` and `scrapy stats`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from crawler.base.errors import UnavailableError
from crawler.base.tasks import cancel
from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_answer

if TYPE_CHECKING:
    import argparse

    from rich.live import Live

    from crawler.cli.top_views import Moment

NAMES = ("overview", "nodes", "hosts")
REFRESH_SECONDS = 2.0  # how often the screen is drawn anew; workers report every 3 s


class Command(HeadroomCommand):
    """Shows the crawl until somebody quits."""

    summary = "Watch the crawl live: an overview, the nodes, the busiest hosts"
    example = "top --view nodes"
    description = (
        "Shows how the crawl stands, every other second: what was done in the last hour and is done now, seeds by "
        "state, failures; the workers of each node; the busiest hosts of the last hour. Tab, the arrows and 1 to 3 "
        "change the view, q quits. While Redis is away it shows what it knew last, and goes on when Redis is back. "
        "With --once, or where the output is no terminal, one view is printed. NO_COLOR turns colours off."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--view` and `--once`."""
        super().add_options(parser)
        parser.add_argument("--view", choices=NAMES, default=NAMES[0], help="the view to begin with (default overview)")
        parser.add_argument("--once", action="store_true", help="print the view and end")

    async def execute(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows the views."""
        from crawler.cli.top_views import print_moment, read_moment

        is_screen = sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        async with self.connect() as operator:
            moment = await read_moment(operator)
        if opts.json:
            print_answer(opts, moment.as_json(), print)
        elif opts.once or not is_screen:
            print_moment(opts.view, moment)
        else:
            await _Watch(self, opts.view, moment).run()


class _Watch:
    """What is on the screen, and what changes it: time and keys.

    Args:
        moment: The first figures to show.
    """

    def __init__(self, command: Command, view: str, moment: Moment) -> None:
        self._command = command
        self._view = view
        self._moment = moment
        self._problem = ""
        self._quit = asyncio.Event()
        self._live: Live | None = None

    async def run(self) -> None:
        """Shows the views until somebody quits."""
        from rich.console import Console
        from rich.live import Live

        from crawler.cli.keyboard import pressed

        console = Console(highlight=False, markup=False, emoji=False)
        with pressed(self._press), Live(console=console, screen=True, auto_refresh=False) as self._live:
            self._draw()
            refreshing, quitting = asyncio.create_task(self._refresh()), asyncio.create_task(self._quit.wait())
            try:
                await asyncio.wait([refreshing, quitting], return_when=asyncio.FIRST_COMPLETED)
                if refreshing.done():
                    refreshing.result()  # raises why it has ended
            finally:
                await cancel(refreshing, quitting)

    async def _refresh(self) -> None:
        """Reads the figures again and again, and connects anew after Redis was away."""
        from crawler.cli.top_views import read_moment

        while True:
            try:
                async with self._command.connect() as operator:
                    while True:
                        self._moment, self._problem = await read_moment(operator), ""
                        self._draw()
                        await asyncio.sleep(REFRESH_SECONDS)
            except UnavailableError as error:
                self._problem = f"as it was before: {error}"
                self._draw()
                await asyncio.sleep(REFRESH_SECONDS)

    def _press(self, key: str) -> None:
        """Does what a key stands for."""
        if key in ("q", "Q"):
            self._quit.set()
        elif key in ("left", "right"):
            step = 1 if key == "right" else -1
            self._view = NAMES[(NAMES.index(self._view) + step) % len(NAMES)]
        elif key in ("1", "2", "3"):
            self._view = NAMES[int(key) - 1]
        self._draw()

    def _draw(self) -> None:
        from crawler.cli.top_views import screen

        if self._live is not None:
            view = screen(self._view, self._moment, self._problem, self._live.console)
            self._live.update(view, refresh=True)
