"""`scrapy ledger`: where every offered seed is, by plan and site. The ledger must reconcile."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.base.errors import FrontierError
from crawler.cli.command import HeadroomCommand
from crawler.cli.ledger_words import legend
from crawler.cli.output import print_answer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from crawler.plans.operator import Operator

PROGRESS_SECONDS = 5.0  # least time between two lines of progress, where no terminal shows a bar


class Command(HeadroomCommand):
    """Shows the ledger, and fails when it doesn't reconcile."""

    summary = "Show where every offered seed is; check that none is lost"
    usage = "[PLAN] [options]"
    arguments_max = 1
    description = (
        "For each plan and site, counts the seeds (pages) that were offered, that were known already, that are ready "
        "to be crawled, are being crawled, are finished, or have failed, with the reasons of the failures. The "
        "difference (offered minus all the others) must be 0. Otherwise, or when --verify finds a problem, the exit "
        "status is 1."
    )
    example = "ledger demo --verify"

    def long_desc(self) -> str:
        """Returns the description, and below it what every word means that the ledger counts by."""
        return f"{super().long_desc()}\n\n{legend()}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--verify` and `--since`."""
        super().add_options(parser)
        parser.add_argument(
            "--verify", action="store_true", help="count the seeds of all plans again, in the sets that hold them"
        )
        parser.add_argument(
            "--since",
            metavar="FILE",
            help="show by how much it differs from one that `scrapy ledger --json > FILE` saved; offered, known, "
            "finished or failed below 0 is what a Redis that was restored has forgotten",
        )

    async def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows the ledger."""
        from crawler.cli.ledger_changes import changes, print_changes, saved_ledger
        from crawler.cli.ledger_table import ledger_as_json, print_ledger

        if opts.since is not None:
            if args or opts.verify:
                raise UsageError("ledger --since is about all plans, and counts nothing anew")
            before = saved_ledger(opts.since)
            async with self.connect() as operator:
                now = ledger_as_json(await operator.ledger())
            print_answer(opts, {"changes": changes(before, now)}, print_changes)
            return
        plan = args[0] if args else None
        async with self.connect() as operator:
            counted = await (operator.ledger() if plan is None else operator.ledger_of(plan))
            verified = await _verify(operator, quiet=opts.json) if opts.verify else {}
        ledger = ledger_as_json(counted)
        print_answer(opts, ledger | verified, print_ledger)
        for row in ledger["rows"]:
            if row["nav"]["difference"] or row["content"]["difference"]:
                raise FrontierError(f"the ledger doesn't reconcile: {row['plan']} {row['site']} has a difference")
        if problems := verified.get("problems"):
            raise FrontierError(f"the recount found {len(problems)} problems, such as: {problems[0]}")


async def _verify(operator: Operator, *, quiet: bool) -> dict[str, Any]:
    """Recounts all seeds and shows on stderr how far that is; returns their numbers, what disagrees, and the time.

    Args:
        quiet: Shows nothing.
    """
    from rich.console import Console
    from rich.progress import Progress

    begun = time.monotonic()
    counted = 0
    on_terminal = sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet or not on_terminal) as bar:
        task = bar.add_task("seeds")
        say = _progress_lines()

        def show(done: int, total: int) -> None:
            nonlocal counted
            counted = done
            bar.update(task, completed=done, total=total)
            if not (quiet or on_terminal):
                say(done, total)

        problems = await operator.recount(show)
    finished = sum([(await queue.totals()).finished for queue in operator.queues.values()])  # as counted, or a problem
    seconds = round(time.monotonic() - begun, 1)
    return {"problems": problems, "counted": counted, "counted_finished": finished, "seconds": seconds}


def _progress_lines() -> Callable[[int, int], None]:
    """Returns a function that prints how far a count is, once every few seconds."""
    said_at = time.monotonic()

    def say(done: int, total: int) -> None:
        nonlocal said_at
        if time.monotonic() - said_at >= PROGRESS_SECONDS:
            said_at = time.monotonic()
            print(f"{done:,} of {total:,} seeds counted", file=sys.stderr, flush=True)

    return say
