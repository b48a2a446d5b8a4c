"""What Headroom's commands share: one line and exit status 1 for an error, `--json`, no log noise on the terminal."""

from __future__ import annotations

import json
import os
import sys
from abc import abstractmethod
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.utils.log import configure_logging

from crawler import logs
from crawler.errors import HeadroomError
from crawler.redaction import Redaction
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy.settings import Settings

INTERRUPTED = 130  # what shells expect after Ctrl-C: 128 + SIGINT


class HeadroomCommand(ScrapyCommand):
    """A command that answers on stdout, or ends with one line on stderr and exit status 1.

    Subclasses are called `Command`, stand in a module with the command's name and implement `execute`. They import what
    they need inside their methods: Scrapy imports every command's module at each start.
    """

    __module__ = "crawler.commands"  # Scrapy takes each command class for a command that is named like its module
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}  # `-L LEVEL` turns the log on

    @abstractmethod
    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Does the work.

        Args:
            args: Words of the command line that are no options.
            opts: The options; `opts.json` asks for JSON on stdout.

        Raises:
            HeadroomError: The command failed; its text becomes the line on stderr.
            UsageError: The command line is wrong; likewise.
        """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--json` to Scrapy's options."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs `execute` and turns its errors into an exit status."""
        logs.install(self.values)
        configure_logging(self.settings)
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that can't show Chinese shows question marks
        try:
            self._refuse_options(args)
            self.execute(args, opts)
            sys.stdout.flush()
        except (HeadroomError, UsageError) as error:
            complain(error, self.values)
            self.exitcode = 1
        except BrokenPipeError:  # `scrapy ... | head`: nobody reads on; Python must not complain at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def _refuse_options(self, args: list[str]) -> None:
        """Scrapy hands options that it doesn't know on as arguments."""
        for arg in args:
            if arg.startswith("-") and arg != "-":
                raise UsageError(f"unknown option {arg}; scrapy {self.name} -h lists them")

    @property
    def name(self) -> str:
        """The command's name on the command line."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def values(self) -> Settings:
        """The settings; Scrapy has set them before it runs a command."""
        if self.settings is None:
            raise HeadroomError("the command was started without settings")
        return self.settings


def complain(error: Exception, settings: Mapping[str, Any]) -> None:
    """Prints an error as one line on stderr, without the secrets of the settings and the environment."""
    print("error:", one_line(Redaction.of(settings, os.environ)(str(error))), file=sys.stderr)


def print_json(value: object) -> None:
    """Prints a value of JSON types, dataclasses among them, indented, in UTF-8 whatever the terminal's locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(as_json(value, orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def as_json(value: object, option: int = 0) -> bytes:
    """Returns a value as JSON that can't act on a terminal: what doesn't show is escaped, and means the same."""
    encoded = orjson.dumps(value, option=option)
    text = encoded.decode()
    if text.replace("\n", "").isprintable():  # line breaks are between values; within them JSON has none
        return encoded
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text).encode()
