"""The base class of Headroom's commands: an error is one line and exit status 1, `--json` is known, the log is off."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import shutil
import sys
import textwrap
from abc import abstractmethod
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.utils.log import configure_logging
from scrapy.utils.project import inside_project

from crawler import addon
from crawler.base.errors import HeadroomError, shown
from crawler.cli.output import print_error
from crawler.config import logs
from crawler.config.check import check, misspelt_names

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from contextlib import AbstractAsyncContextManager

    from scrapy.settings import Settings

    from crawler.plans.operator import Operator

ADD_ON = 'ADDONS = {"crawler.Headroom": 100}'  # what switches Headroom on in a project
INTERRUPTED = 130  # the exit status that shells expect after Ctrl-C: 128 + SIGINT
MIN_HELP_CHARACTERS = 60  # the least width of the help text, however narrow the terminal is
HELP_INDENT_CHARACTERS = 24  # the column at which it is told what an option does, as in Scrapy's help texts


class HelpFormatter(ScrapyHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Scrapy's format of help texts, which keeps the lines of the description: it is broken already."""


class HeadroomCommand(ScrapyCommand):
    """A command that prints its answer on stdout, or ends with one line on stderr and exit status 1.

    A subclass is called `Command`, stands in a module of `crawler.commands` that has the command's name, and implements
    `execute`. It imports what it needs inside its methods, because Scrapy imports every command's module at each start.

    Attributes:
        summary: The line in Scrapy's list of commands.
        usage: What follows the command's name on the command line, for the help text.
        arguments_max: How many words it takes that are no options.
        description: The text above the options in the help text; empty: the summary.
        example: A command line to try, without `scrapy`.
    """

    summary: ClassVar[str]
    usage: ClassVar[str] = "[options]"
    arguments_max: ClassVar[float] = 0
    description: ClassVar[str] = ""
    example: ClassVar[str] = ""
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}  # `-L LEVEL` turns the log on

    @abstractmethod
    def execute(self, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Does the command's work. It may be async.

        Args:
            args: The words of the command line that are no options.
            opts: The options; `opts.json` asks for JSON on stdout.

        Raises:
            HeadroomError: The command failed; the error's text becomes the line on stderr.
            UsageError: The command line is wrong; likewise.
        """

    def syntax(self) -> str:
        """Returns `usage`."""
        return self.usage

    def short_desc(self) -> str:
        """Returns `summary`."""
        return self.summary

    def long_desc(self) -> str:
        """Returns the description and the example, as paragraphs."""
        example = f"Example: scrapy {self.example}" if self.example else ""
        paragraphs = filter(None, (self.description or self.summary, example))
        return "\n\n".join(textwrap.fill(paragraph, help_width()) for paragraph in paragraphs)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--json` to Scrapy's options, and has errors of the parser end as all others do."""
        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        parser.error = self._refuse  # type: ignore[method-assign]  # argparse has several lines and status 2
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs `execute` and turns its errors into an exit status."""
        logs.install(self.values)
        configure_logging(self.settings)
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that can't show Chinese shows question marks
        try:
            self._refuse_other_projects()
            self._refuse_words(args)
            check(self.values)
            for line in misspelt_names():
                print("warning:", line, file=sys.stderr)
            if inspect.iscoroutine(work := self.execute(args, opts)):
                asyncio.run(work)
            sys.stdout.flush()
        except (HeadroomError, UsageError) as error:
            print_error(error, self.values)
            self.exitcode = 1
        except BrokenPipeError:  # `scrapy ... | head`: nobody reads on, and Python must not complain when it exits
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def connect(self, *, begin: bool = False, any_format: bool = False) -> AbstractAsyncContextManager[Operator]:
        """Returns a context manager that connects to the crawl's Redis and gives an `Operator`, by its `connect`."""
        from crawler.plans.operator import Operator

        return Operator.connect(self.values, begin=begin, any_format=any_format)

    def _refuse(self, message: str) -> NoReturn:
        """Ends the process because of what the parser says of the command line."""
        print_error(UsageError(message), self.values)
        sys.exit(1)

    def _refuse_other_projects(self) -> None:
        """Refuses a project without the add-on: the command would act on a crawl that is none of this project's."""
        if addon.is_switched_on(self.values):
            return
        if not inside_project():
            raise HeadroomError(f"no Scrapy project here; scrapy {self.name} runs in one whose settings say {ADD_ON}")
        module = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
        raise HeadroomError(f"the settings of this project ({module}) don't say {ADD_ON}")

    def _refuse_words(self, args: list[str]) -> None:
        """Refuses unknown options, which Scrapy leaves among the arguments, and too many of these."""
        for arg in args:
            if arg.startswith("-") and arg != "-":
                raise UsageError(f"unknown option {shown(arg)}; scrapy {self.name} -h lists them")
        if len(args) > self.arguments_max:
            raise UsageError(f"scrapy {self.name} takes {'one argument' if self.arguments_max else 'no arguments'}")

    @property
    def name(self) -> str:
        """The command's name on the command line."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def values(self) -> Settings:
        """The settings, which Scrapy has set before it runs a command."""
        if self.settings is None:
            raise HeadroomError("the command was started without settings")
        return self.settings


def help_entry(head: str, text: str) -> list[str]:
    """Returns the lines of a name and its text beside it, or below it where the name is long."""
    lines = [head] if len(head) >= HELP_INDENT_CHARACTERS - 1 else []
    indent = " " * HELP_INDENT_CHARACTERS
    first = indent if lines else head.ljust(HELP_INDENT_CHARACTERS)
    return lines + textwrap.wrap(text, help_width(), initial_indent=first, subsequent_indent=indent)


def help_width() -> int:
    """Returns how many characters a line of the help text has at most."""
    return max(MIN_HELP_CHARACTERS, shutil.get_terminal_size().columns - 2)  # argparse has the same width
