"""What the demo shows: notes and progress while it runs; at its end the result, and what to do next."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil
from rich.progress import BarColumn, MofNCompleteColumn, Progress
from rich.text import Text

from crawler.base.text import inert, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from crawler.frontier.ledger import Account

PLAIN_SECONDS = 2.0  # between two lines of progress where no terminal shows bars


class Screen:
    """Prints notes, and below them the crawl's progress: bars in a terminal, lines anywhere else."""

    def __init__(self, console: Console) -> None:
        columns = ("{task.description:<13}", BarColumn(), MofNCompleteColumn(), "{task.fields[more]}")
        self._bars = Progress(*columns, console=console, disable=not console.is_terminal)
        for kind in ("search pages", "content pages"):
            self._bars.add_task(kind, total=None, more="")
        self._console = console
        self._line_at = 0.0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bars.stop()

    @property
    def elapsed_s(self) -> float:
        """Seconds since this process began: what the user has waited."""
        return time.time() - psutil.Process().create_time()

    def note(self, text: str) -> None:
        """Prints a line that stays, with the time."""
        self._print(f"{self.elapsed_s:5.1f} s  {one_line(text)}")

    def progress(self, nav: Account, content: Account, more: str) -> None:
        """Shows how many search pages and content pages are done, of those that are known, and what else there is."""
        parts = []
        for task, account, beside in zip(self._bars.tasks, (nav, content), ("", more), strict=True):
            done, known = account.finished + account.failed, account.offered - account.known
            self._bars.update(task.id, completed=done, total=known, more=beside)
            parts.append(f"{task.description} {done:,} of {known:,}")
        if self._bars.disable and time.monotonic() >= self._line_at:
            self._line_at = time.monotonic() + PLAIN_SECONDS
            self.note("; ".join((*parts, more)))

    def result(self, result: Mapping[str, Any], settings: Mapping[str, str] | None) -> None:
        """Prints the result below the bars, and what to try next.

        Args:
            result: As `demo.audit` returns it.
            settings: Settings by which another terminal finds the servers that stay up; None: they end with the demo.
        """
        self._bars.stop()
        sound = not result["problems"]
        rows = {
            "seeds": f"{result['search_pages']:,} search pages, {result['content_pages']:,} content pages; "
            f"{result['known']:,} results had been found before",
            "failed": f"{_counts(result['failures'])}; the forum has such pages on purpose",
            "items": _counts(result["items"]),
            "sinks": _counts(result["sinks"]) + ("; the same by id, and all that the forum has" if sound else ""),
            **{f"no {sink}": why for sink, why in result["left_out"].items()},
            "speed": f"{result['pages_per_minute']:,} pages per minute, as politely as the sites' definitions ask",
            "ledger": f"difference {result['difference']}" + (", and a recount agrees" if sound else ""),
            "files": f"{result['folder']}/items/*.jsonl; images and videos in media/, the workers' logs in logs/",
            "time": f"{result['total_s']:.1f} s",
        }
        self._table("Result", rows)
        scrapy = os.path.relpath(Path(sys.executable).with_name("scrapy"))
        if settings is not None:
            title = f"The servers stay up until Ctrl-C, the forum at {result['forum']}. Meanwhile, in another terminal"
            self._table(title, {f"export {name}={shlex.quote(value)}": "" for name, value in settings.items()})
            commands = {
                f"{scrapy} ledger --verify": "# where every seed is, and a recount",
                f"{scrapy} plan list": "# how far each plan is",
                f"{scrapy} seeds list --state failed": "# which pages failed, and why",
            }
            if "kafka" in result["sinks"]:
                commands[f"{scrapy} items tail demo_forum --from-start"] = "# a topic, from its first item"
            self._table("and then", commands)
        elif sound:
            commands = {
                f"head -n 1 {result['folder']}/items/*.jsonl": "# some items, as every sink has them",
                f"{scrapy} plan check {result['plan']}": "# what the plan asks for; plans/template.yaml explains it",
                f"{scrapy} site check demo_forum": "# how a site is searched and read",
                "make demo ARGS=--keep": "# once more, and the servers stay up to look into",
            }
            self._table("Try next", commands)

    def monitor(self, address: str, user: str, password: str) -> None:
        """Says where the monitor is, and who may sign in there."""
        self._table(f"The monitor is at {address}", {"user": user, "password": password})

    def _table(self, title: str, rows: Mapping[str, str]) -> None:
        self._print(f"\n{title}", "bold")
        width = max(map(len, rows))
        for name, value in rows.items():
            self._print(f"  {name:<{width}}  {value}".rstrip())

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(inert(text), style), soft_wrap=True)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items()) or "none"
