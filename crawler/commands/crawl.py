"""`scrapy crawl`, as in Scrapy. A spider of the frontier starts only with valid settings and a Redis that answers.

Scrapy finds the command by an entry point, in every project. One without the add-on gets Scrapy's command unchanged.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.addons import AddonManager
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import inside_project

from crawler import addon
from crawler.base.errors import HeadroomError, existing, shown
from crawler.cli.command import INTERRUPTED
from crawler.cli.spider_command import SpiderCommand
from crawler.cli.start_check import check_start
from crawler.config import logs

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings


class Command(SpiderCommand, ScrapyCrawl):
    """Runs a spider. A spider of the frontier that can't start ends with one line on stderr and exit status 1."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Reads the options, then checks that the spider can start. Nothing runs yet, not even the log."""
        super().process_options(args, opts)
        if not inside_project():
            raise UsageError("scrapy crawl runs a spider of a project, and here is none", print_help=False)
        try:
            if settings := self._frontier_settings(args):
                logs.install(settings)
                check_start(settings)
        except HeadroomError as error:
            self.tell(error)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs the spider."""
        if len(args) != 1 or not addon.is_switched_on(self.settings or {}):
            super().run(args, opts)
        else:
            self.run_to_end(args[0], opts)

    def _frontier_settings(self, args: list[str]) -> BaseSettings | None:
        """Returns the settings that the spider will run with; None for a spider that doesn't use the frontier."""
        assert self.settings is not None  # set before a command's options are read
        if len(args) != 1 or not addon.is_switched_on(self.settings):
            return None
        from crawler.spiders.base import FrontierSpider

        settings = self.settings.copy()
        AddonManager.load_pre_crawler_settings(settings)  # Scrapy does so when it comes to run the spider
        loader = get_spider_loader(settings)
        if args[0] not in loader.list():
            raise HeadroomError(f"no spider {shown(args[0])}; {existing(args[0], loader.list(), 'there are')}")
        spider = loader.load(args[0])
        if not issubclass(spider, FrontierSpider):
            return None
        spider.update_settings(settings)
        return settings
