"""`scrapy ledger`: where every offered seed is, per plan and site; it must reconcile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand, print_json
from crawler.errors import FrontierError
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.frontier.ledger import Ledger
    from crawler.plans.operator import Operator

VERIFY_TRIES = 3  # seeds that move during a count look like faults; a real one is there each time
COLUMNS = ("offered", "known", "ready", "executing", "finished", "failed", "difference")


class Command(HeadroomCommand):
    """Shows the ledger, and fails when it doesn't reconcile."""

    def syntax(self) -> str:
        """Returns what follows `scrapy ledger`."""
        return "[PLAN]"

    def short_desc(self) -> str:
        """Returns the line in the list of commands."""
        return "Show where every offered seed is; check that none is lost"

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return (
            "Shows per plan and site how many seeds were offered, were known already, are ready, are executing, are "
            "finished, have failed and why. The difference must be 0; else, or with problems found by --verify, the "
            "exit status is 1."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--verify`."""
        super().add_options(parser)
        parser.add_argument(
            "--verify", action="store_true", help="recount the seeds of all plans in the sets themselves"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows the ledger.

        Raises:
            FrontierError: It doesn't reconcile.
            HeadroomError: No such plan, or no Redis.
            UsageError: More than one plan.
        """
        if len(args) > 1:
            raise UsageError("scrapy ledger " + self.syntax())
        asyncio.run(self._show(args[0] if args else None, verify=opts.verify, as_json=opts.json))

    async def _show(self, plan: str | None, *, verify: bool, as_json: bool) -> None:
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            ledger = await operator.ledger(plan)
            if plan is not None and not ledger:
                await operator.registry.plan(plan)  # none of that name: an error
            problems = await _verify(operator) if verify else None
        answer = as_rows(ledger)
        if as_json:
            print_json(answer if problems is None else answer | {"problems": problems})
        else:
            print_ledger(answer)
            for problem in problems or ():
                print("problem:", one_line(problem))
        wrong = [row for row in answer["rows"] if row["nav"]["difference"] or row["content"]["difference"]]
        if wrong:
            raise FrontierError(f"the ledger doesn't reconcile: {wrong[0]['plan']} {wrong[0]['site']} has a difference")
        if problems:
            raise FrontierError(f"the recount found {len(problems)} problems, such as: {problems[0]}")


async def _verify(operator: Operator) -> list[str]:
    from crawler.frontier.ledger import recount

    problems: list[str] = []
    for _ in range(VERIFY_TRIES):
        problems = await recount(operator.redis, operator.keys, operator.partitions)
        if not problems:
            break
    return problems


def as_rows(ledger: Ledger) -> dict[str, Any]:
    """Returns the ledger as JSON values: a row per plan and site, nav and content summed and apart, and the total."""
    from crawler.frontier.ledger import Account

    rows, total = [], Account()
    for (plan, site), accounts in sorted(ledger.items()):
        both = Account()
        for account in accounts.values():
            both.add(account)
        total.add(both)
        nav, content = accounts["nav"].as_dict(), accounts["content"].as_dict()
        rows.append({"plan": plan, "site": site} | both.as_dict() | {"nav": nav, "content": content})
    return {"rows": rows, "total": total.as_dict()}


def print_ledger(answer: dict[str, Any]) -> None:
    """Prints what `as_rows` returned, as a table with the failures by reason, and what else was counted, below."""
    from crawler.commands.views import print_table

    if not answer["rows"]:
        print("nothing was offered yet; scrapy plan submit FILE begins")
        return
    print_table(("", *COLUMNS), _table_rows(answer), bold_last=True)
    lines = [
        f"{label}, {row['plan']} {row['site']}: {_by_number(row[kind])}"
        for kind, label in (("failures", "failed"), ("notes", "besides"))
        for row in answer["rows"]
        if row[kind]
    ]
    if lines:
        print()
    for line in lines:
        print(one_line(line))


def _by_number(counts: dict[str, int]) -> str:
    most_first = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{word} {number:,}" for word, number in most_first)


def _table_rows(answer: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for row in answer["rows"]:
        yield f"{row['plan']} {row['site']}", *(row[name] for name in COLUMNS)
        for frontier in ("nav", "content"):
            yield f"  {frontier}", *(row[frontier][name] for name in COLUMNS)
    yield "all", *(answer["total"][name] for name in COLUMNS)
