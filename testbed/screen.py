"""What a demo shows while it runs: a live table in a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

import psutil
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from crawler.text import one_line

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console, RenderableType

    from testbed.progress import Short, Snapshot

FRAMES_PER_SECOND = 4  # as often as there is news
PLAIN_SECONDS = 2.0  # between two lines of progress where lines stay
STATES = ("ready", "executing", "finished", "failed")
FRONTIERS = {"nav": "search pages", "content": "content pages"}


class Screen:
    """Notes stay; snapshots replace each other in a terminal, and become a line every 2 s elsewhere.

    Args:
        console: Where to; whether it is a terminal decides.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._began = psutil.Process().create_time()
        self._live = None
        if console.is_terminal:
            self._live = Live(console=console, refresh_per_second=FRAMES_PER_SECOND)
        self._plain_at = 0.0
        self._last = ""

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def elapsed_s(self) -> float:
        """Seconds since this process began: what the user has waited."""
        return time.time() - self._began

    def note(self, text: str) -> None:
        """Prints a line that stays, with the time; from any thread."""
        self.console.print(Text(f"{self.elapsed_s:5.1f} s  {one_line(text)}"), soft_wrap=True)

    def show(self, snapshot: Snapshot) -> None:
        """Shows how far the crawl is."""
        if self._live:
            self._live.update(_frame(snapshot))
        elif time.monotonic() >= self._plain_at:
            line = _line(snapshot)
            if line != self._last:
                self.note(line)
                self._plain_at, self._last = time.monotonic() + PLAIN_SECONDS, line

    def end(self) -> None:
        """Leaves the last frame on the screen and moves below it."""
        if self._live:
            self._live.stop()


def in_short(short: Short) -> str:
    """Returns an item as half a line."""
    return one_line("  ".join(filter(None, (short.title, short.author, short.published, short.site))))


def _frame(snapshot: Snapshot) -> RenderableType:
    seeds = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    seeds.add_column("")
    for state in STATES:
        seeds.add_column(state, justify="right", min_width=9)
    for frontier, account in snapshot.accounts.items():
        seeds.add_row(FRONTIERS[frontier], *(f"{getattr(account, state):,}" for state in STATES))
    facts = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    facts.add_column(style="bold", no_wrap=True, min_width=13)
    facts.add_column(no_wrap=True, overflow="ellipsis")
    facts.add_row("items", Text(_items(snapshot)))
    facts.add_row("latest", Text(in_short(snapshot.latest) if snapshot.latest else "none yet"))
    facts.add_row("speed", Text(f"{snapshot.pages_per_minute:,} pages per minute"))
    facts.add_row("sinks", Text(_sinks(snapshot)))
    return Group("", seeds, facts)


def _line(snapshot: Snapshot) -> str:
    seeds = []
    for frontier, account in snapshot.accounts.items():
        done, all_seeds = account.finished + account.failed, account.offered - account.known
        seeds.append(f"{FRONTIERS[frontier]} {done} of {all_seeds}")
    speed = f"{snapshot.pages_per_minute:,} pages per minute"
    return "; ".join((*seeds, f"items: {_items(snapshot)}", speed, f"sinks: {_sinks(snapshot)}"))


def _items(snapshot: Snapshot) -> str:
    return ", ".join(f"{site} {number:,}" for site, number in snapshot.items.items()) or "none yet"


def _sinks(snapshot: Snapshot) -> str:
    return ", ".join(f"{sink} {state}" for sink, state in snapshot.sinks.items())
