"""`scrapy ledger`: where every offered seed is, by plan and site. The ledger must reconcile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_json
from crawler.errors import FrontierError
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse

    from crawler.plans.operator import Operator

VERIFY_TRIES = 3  # seeds that move during a recount look like faults; a real fault is found each time


class Command(HeadroomCommand):
    """Shows the ledger, and fails when it doesn't reconcile."""

    def syntax(self) -> str:
        """Returns what follows `scrapy ledger` in the help text."""
        return "[PLAN] [options]"

    def short_desc(self) -> str:
        """Returns the line in Scrapy's list of commands."""
        return "Show where every offered seed is; check that none is lost"

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return (
            "For each plan and site, counts the seeds (pages) that were offered, that were known already, that are "
            "ready to be crawled, are being crawled, are finished, or have failed, with the reasons of the failures. "
            "The difference (offered minus all the others) must be 0. Otherwise, or when --verify finds a problem, "
            "the exit status is 1."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--verify`."""
        super().add_options(parser)
        parser.add_argument(
            "--verify", action="store_true", help="count the seeds of all plans again, in the sets that hold them"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows the ledger.

        Raises:
            FrontierError: It doesn't reconcile.
            HeadroomError: There is no such plan, or Redis can't be reached.
            UsageError: More than one plan is named.
        """
        if len(args) > 1:
            raise UsageError("scrapy ledger [PLAN]")
        asyncio.run(self._show(args[0] if args else None, opts))

    async def _show(self, plan: str | None, opts: argparse.Namespace) -> None:
        from crawler.cli.ledger_table import ledger_as_json, print_ledger

        async with self.connect() as operator:
            counted = await operator.ledger(plan)
            if plan is not None and not counted:
                await operator.registry.plan(plan)  # raises when there is no plan of that name
            problems = await _verify(operator) if opts.verify else []
        ledger = ledger_as_json(counted)
        if opts.json:
            print_json(ledger | {"problems": problems} if opts.verify else ledger)
        else:
            print_ledger(ledger)
            for problem in problems:
                print("problem:", one_line(problem))
        for row in ledger["rows"]:
            if row["nav"]["difference"] or row["content"]["difference"]:
                raise FrontierError(f"the ledger doesn't reconcile: {row['plan']} {row['site']} has a difference")
        if problems:
            raise FrontierError(f"the recount found {len(problems)} problems, such as: {problems[0]}")


async def _verify(operator: Operator) -> list[str]:
    """Returns what a recount found wrong each time; empty when all agrees."""
    problems: list[str] = []
    for _ in range(VERIFY_TRIES):
        problems = await operator.recount()
        if not problems:
            break
    return problems
