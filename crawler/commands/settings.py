"""`scrapy settings`, as in Scrapy, but with the crawl's own settings from wherever they come.

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
    """Prints the value of a setting, from wherever it comes."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Prints what was asked for."""
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
