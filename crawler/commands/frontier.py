"""`scrapy frontier`: brings a frontier that an earlier version began to the format of this one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from crawler.cli.actions import Action, ActionCommand
from crawler.cli.output import print_answer

if TYPE_CHECKING:
    import argparse


DRAIN = (
    "Stop all workers first, by SIGTERM: pages under way end, and nobody claims more. While a worker is alive, or a "
    "command asks hosts, it refuses to begin. From its beginning on, workers of the old version are refused; those of "
    "this one are refused until it has ended. Killed midway it goes on when it is run again."
)


class Command(ActionCommand):
    """Migrates the frontier."""

    summary = "Bring a frontier that an earlier version began to this version's format"
    actions: ClassVar[dict[str, Action]] = {
        "migrate": Action(
            "",
            "bring the frontier to this version's format; does nothing where it has it",
            "migrate",
            more=(DRAIN,),
        ),
    }

    async def do_migrate(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Migrates, and says on stderr how far it is.

        Raises:
            HeadroomError: It can't begin, or Redis can't be reached; or was lost midway, which is no harm.
        """
        from crawler.frontier.keys import SCHEMA_VERSION
        from crawler.frontier.migration import migrate

        def say(version: int, done: int, parts: int) -> None:
            print(f"from format {version} to {version + 1}: {done} of {parts} parts", file=sys.stderr, flush=True)

        async with self.connect(any_format=True) as operator:
            before = await migrate(operator.redis, operator.keys, operator.partitions, say)
        print_answer(opts, {"from": before, "to": SCHEMA_VERSION}, _print_result)


def _print_result(answer: dict[str, int]) -> None:
    if answer["from"] == answer["to"]:
        print(f"the frontier has format {answer['to']}, this version's: nothing to do")
    else:
        print(f"the frontier has format {answer['to']} now: workers of this version may start")
