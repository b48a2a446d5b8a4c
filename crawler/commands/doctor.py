"""`scrapy doctor`: is this set-up fit for a crawl, and would it lose data?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base.errors import HeadroomError
from crawler.cli.command import HeadroomCommand, help_entry
from crawler.cli.output import print_answer
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    import argparse


class Command(HeadroomCommand):
    """Makes every check of the table that these settings call for, and shows what each found."""

    summary = "Check servers, node and settings: is the crawl fit to run, and would it lose data?"
    description = (
        "Looks at this node, Redis and the sinks that ITEM_SINKS names, and says of each thing that it is ok, or what "
        "is wrong and what to do. It changes nothing, and ends within 15 seconds whatever doesn't answer. The exit "
        "status is 1 if something loses data, keeps the crawl from running, or fell silent while it was asked; else 0, "
        "also where something couldn't be looked at for another reason, such as a right that is missing."
    )
    example = "doctor -s ITEM_SINKS=kafka,mongo"

    def long_desc(self) -> str:
        """Returns the description, and below it the states and the checks."""
        from crawler.doctor.checks import GROUPS
        from crawler.doctor.finding import MEANINGS

        states = [line for state, text in MEANINGS.items() for line in help_entry(f"  {state.value}", text)]
        checks = [check for group in GROUPS for check in group.checks]
        entries = [line for check in checks for line in help_entry(f"  {check.name}", check.looks_at)]
        return "\n".join([super().long_desc(), "", "States", "======", *states, "", "Checks", "======", *entries])

    async def execute(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Makes the checks."""
        from crawler.doctor.checks import GROUPS
        from crawler.doctor.examination import examine
        from crawler.doctor.finding import State

        rows = [
            {"check": name, "state": finding.state.value, "text": finding.text}
            for name, finding in await examine(GROUPS, self.values)
        ]
        print_answer(
            opts,
            {"checks": rows},
            lambda _: print_table(("check", "state", "what was found"), [row.values() for row in rows]),
        )
        bad = {
            what: [row["check"] for row in rows if row["state"] == state.value]
            for state, what in (
                (State.LOSS, "data will be lost"),
                (State.STOPS, "the crawl can't run"),
                (State.NO_ANSWER, "no answer"),
            )
        }
        if any(bad.values()):
            raise HeadroomError("; ".join(f"{what}: {', '.join(names)}" for what, names in bad.items() if names))
