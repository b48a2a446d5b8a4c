"""`scrapy settings`, as in Scrapy, but with the crawl's own settings from wherever they come; and their reference.

Scrapy's settings are shown as a project's own spiders have them. A project without the add-on gets Scrapy's command
unchanged.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

from scrapy.commands.settings import Command as ScrapySettings

from crawler import addon, config
from crawler.base.errors import HeadroomError
from crawler.cli.output import print_error
from crawler.config.check import complete, redaction_of

if TYPE_CHECKING:
    import argparse


class Command(ScrapySettings):
    """Prints the value of a setting, from wherever it comes, or the reference of all settings."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--reference` to Scrapy's options."""
        super().add_options(parser)
        parser.add_argument(
            "--reference", action="store_true", help="print docs/settings.md: every setting of the crawl"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Prints what was asked for."""
        if opts.reference:
            from crawler.cli import reference_pages  # which takes long to load

            print(reference_pages.settings(), end="")
            return
        assert self.settings is not None  # Scrapy has set it before it runs a command
        if not addon.is_switched_on(self.settings):
            super().run(args, opts)
            return
        settings = self.settings.copy()
        printed = io.StringIO()
        try:
            completed = settings.copy()
            complete(completed)
            for name in (setting.name for setting in config.ALL if not setting.owner):
                settings.set(name, completed[name], completed.getpriority(name) or 0)
            self.settings = settings
            with contextlib.redirect_stdout(printed):
                super().run(args, opts)
        except HeadroomError as error:
            print_error(error, settings)
            self.exitcode = 1
        print(redaction_of(settings)(printed.getvalue()), end="")
