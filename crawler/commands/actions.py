"""Commands of several actions: `scrapy plan submit FILE`, `scrapy seeds show URL`."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand

if TYPE_CHECKING:
    import argparse


class ActionCommand(HeadroomCommand):
    """A command whose first word is an action. An action `show` is the method `do_show(args, opts)`, plain or async.

    Attributes:
        actions: Of each action, what it takes and what it does. Words in capitals must be there, those in brackets may
            be missing, and with `...` there may be more.
    """

    __module__ = "crawler.commands"  # no command of its own, see HeadroomCommand
    actions: ClassVar[dict[str, tuple[str, str]]] = {}

    def syntax(self) -> str:
        """Returns what follows the command's name."""
        return "ACTION ..."

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return " | ".join(
            f"{' '.join(filter(None, (name, takes)))}: {text}" for name, (takes, text) in self.actions.items()
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Does one action.

        Raises:
            HeadroomError: It can't be done.
            UsageError: No such action, or it takes something else.
        """
        action, *rest = args or [""]
        if action not in self.actions:
            raise UsageError(f"{action or 'nothing'} after {self.name}, expected one of {', '.join(self.actions)}")
        takes = self.actions[action][0]
        words = takes.replace("...", "").split()
        least = sum(not word.startswith(("[", "]")) for word in words)
        if not least <= len(rest) <= (len(rest) if "..." in takes else len(words)):
            raise UsageError(f"{self.name} {action}: expected {takes or 'nothing more'}")
        done = getattr(self, f"do_{action}")(rest, opts)
        if inspect.iscoroutine(done):
            asyncio.run(done)
