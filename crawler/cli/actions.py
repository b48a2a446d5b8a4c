"""Commands whose first word is an action: `scrapy plan submit FILE`, `scrapy seeds show URL`.

The subparsers of argparse would do some of this, but lose what people type. Of `-s A=1 list -s B=2` only `B` would
count, because an option after the action hides the same option before it. Of `offer URL --site NAME URL` the last URL
would not count. And a wrong word would end with several lines and exit status 2.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.base.errors import existing, shown
from crawler.cli.command import HeadroomCommand, HelpFormatter, help_entry, help_width

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping

FLAG = {"action": "store_true"}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an action.

    Attributes:
        name: Such as `--plan`.
        text: What it does, for the help text. Another action's option of the same name may do something else.
        kind: Further arguments of `argparse.ArgumentParser.add_argument`, the same wherever the name stands.
    """

    name: str
    text: str
    kind: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """The option with a name for its value."""
        choices = "{" + ",".join(self.kind["choices"]) + "}" if "choices" in self.kind else ""
        return f"{self.name} {self.kind.get('metavar', choices)}".strip()


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a command.

    Attributes:
        arguments: An argument in capitals is required, one in brackets is not, and `...` stands for more of the same.
        text: What it does, in a line or two.
        example: What may follow the command's name on a command line that does it.
        options: Those that it takes beside those of all commands.
        more: What else should be known, in paragraphs; shown only in the action's own help text.
    """

    arguments: str
    text: str
    example: str
    options: tuple[Option, ...] = ()
    more: tuple[str, ...] = ()


class ActionCommand(HeadroomCommand):
    """A command of several actions. The action `show` is the method `do_show(args, opts)`, plain or async.

    Such a method raises what `execute` does.

    Attributes:
        actions: By name.
        default_action: What the command does without a word; empty: nothing.
    """

    actions: ClassVar[Mapping[str, Action]] = {}
    default_action: ClassVar[str] = ""
    usage = "ACTION [arguments] [options]"
    arguments_max = float("inf")  # each action has its own

    def long_desc(self) -> str:
        """Returns the list of actions, which stands above the options in the help text."""
        return "\n".join(["Actions", "=======", *self._action_lines()])

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds the options of all actions, which the help text shows with their actions, and a `--help` of each."""
        super().add_options(parser)
        self._parser = parser
        _add_help(parser)
        for option in self._options():
            parser.add_argument(option.name, help=argparse.SUPPRESS, **option.kind)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Reads the options; with `--help` prints the help text, that of an action if one is named, and ends."""
        super().process_options(args, opts)
        if opts.help:
            parser = self._parser_of(args[0]) if args and args[0] in self.actions else self._parser
            parser.print_help()
            sys.exit(0)

    def execute(self, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Does one action.

        Raises:
            HeadroomError: It failed.
            UsageError: There is no such action, or it takes other arguments or options.
        """
        name, *rest = args or [self.default_action]
        if name not in self.actions:
            raise UsageError(
                f"{shown(name) if name else 'nothing'} after {self.name}; {existing(name, self.actions, 'actions')}"
            )
        action = self.actions[name]
        words = action.arguments.replace("...", "").split()
        min_words = sum(not word.startswith(("[", "]")) for word in words)
        max_words = len(rest) if "..." in action.arguments else len(words)
        if not min_words <= len(rest) <= max_words:
            raise UsageError(f"{self.name} {name}: expected {action.arguments or 'nothing more'}")
        self._refuse_options_of_others(name, opts)
        return self.act(name, rest, opts)

    def act(self, name: str, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Does one action, by the method of its name; a subclass may do several by one method."""
        work: Coroutine[Any, Any, None] | None = getattr(self, f"do_{name}")(args, opts)
        return work

    def _refuse_options_of_others(self, name: str, opts: argparse.Namespace) -> None:
        """Refuses an option that the action would ignore."""
        own = {option.name for option in self.actions[name].options}
        for option in self._options():
            given = getattr(opts, option.name.removeprefix("--").replace("-", "_"))
            if option.name not in own and given not in (None, False, option.kind.get("default")):
                raise UsageError(
                    f"{self.name} {name} takes no {option.name}; scrapy {self.name} {name} -h lists its options"
                )

    def _options(self) -> Iterator[Option]:
        """Yields the options of all actions, each name once."""
        by_name = {option.name: option for action in self.actions.values() for option in action.options}
        yield from by_name.values()

    def _parser_of(self, name: str) -> argparse.ArgumentParser:
        """Returns a parser whose help text is that of one action."""
        action = self.actions[name]
        usage = f"scrapy {self.name} {name} {action.arguments}".rstrip()
        paragraphs = [textwrap.fill(paragraph, help_width()) for paragraph in (action.text, *action.more)]
        parser = argparse.ArgumentParser(
            formatter_class=HelpFormatter,
            usage=f"{usage} [options]",
            conflict_handler="resolve",
            description="\n\n".join((*paragraphs, f"Example: scrapy {self.name} {action.example}")),
        )
        for option in action.options:
            parser.add_argument(option.name, help=option.text, **option.kind)
        super().add_options(parser)
        _add_help(parser)
        return parser

    def _action_lines(self) -> Iterator[str]:
        """Yields the lines of each action: its arguments and what it does, its options, an example."""
        for name, action in self.actions.items():
            yield from help_entry(f"  {name} {action.arguments}", action.text)
            for option in action.options:
                yield from help_entry(f"    {option.shown}", option.text)
            yield f"    example: scrapy {self.name} {action.example}"
        yield ""
        yield f"scrapy {self.name} ACTION --help says more of one."


def _add_help(parser: argparse.ArgumentParser) -> None:
    """Adds a `--help` that waits until the other words are read, in place of argparse's own."""
    parser.add_argument("-h", "--help", action="store_true", help="show this text; after an action, what it takes")
