"""Commands whose first word is an action: `scrapy plan submit FILE`, `scrapy seeds show URL`.

The subparsers of argparse would do some of this, but lose what people type. Of `-s A=1 list -s B=2` only `B` would
count, because an option after the action hides the same option before it. Of `offer URL --site NAME URL` the last URL
would not count. And a wrong word would end with several lines and exit status 2.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from crawler.cli.command import HeadroomCommand

if TYPE_CHECKING:
    from collections.abc import Coroutine

ACTION_CHARACTERS = 24  # width of an action with its arguments in the help text: that of the options below
HELP_CHARACTERS_MIN = 60  # width of the help text, however narrow the terminal is


class ActionHelp(ScrapyHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Scrapy's format of help texts, which keeps the lines of the description: there each action has its own."""


class ActionCommand(HeadroomCommand):
    """A command of several actions. The action `show` is the method `do_show(args, opts)`, plain or async.

    Attributes:
        actions: The arguments and the help text of each action. An argument in capitals is required, one in brackets
            is not, and `...` stands for more of the same.
    """

    actions: ClassVar[dict[str, tuple[str, str]]] = {}
    usage = "ACTION [arguments] [options]"

    def long_desc(self) -> str:
        """Returns the list of actions, which stands above the options in the help text."""
        lines, indent = ["Actions", "======="], " " * ACTION_CHARACTERS
        width = max(HELP_CHARACTERS_MIN, shutil.get_terminal_size().columns - 2)  # as argparse has it
        for action, (arguments, text) in self.actions.items():
            head = f"  {action} {arguments}".ljust(ACTION_CHARACTERS)
            lines += textwrap.wrap(text, width, initial_indent=head, subsequent_indent=indent)
        return "\n".join(lines)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Has the help text keep the lines of the list of actions."""
        super().add_options(parser)
        parser.formatter_class = ActionHelp

    def execute(self, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Does one action.

        Raises:
            HeadroomError: It failed.
            UsageError: There is no such action, or it takes other arguments.
        """
        action, *rest = args or [""]
        if action not in self.actions:
            raise UsageError(f"{action or 'nothing'} after {self.name}, expected one of {', '.join(self.actions)}")
        arguments = self.actions[action][0]
        words = arguments.replace("...", "").split()
        min_words = sum(not word.startswith(("[", "]")) for word in words)
        max_words = len(rest) if "..." in arguments else len(words)
        if not min_words <= len(rest) <= max_words:
            raise UsageError(f"{self.name} {action}: expected {arguments or 'nothing more'}")
        work: Coroutine[Any, Any, None] | None = getattr(self, f"do_{action}")(rest, opts)
        return work
