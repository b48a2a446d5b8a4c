"""`scrapy runspider`, as in Scrapy. A spider of the frontier starts only where `scrapy crawl` would start it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands.runspider import Command as ScrapyRunSpider
from scrapy.utils.spider import iter_spider_classes

from crawler.base.errors import HeadroomError
from crawler.base.scrapy_private import import_file
from crawler.cli.command import INTERRUPTED
from crawler.cli.spider_command import SpiderCommand
from crawler.cli.start_check import check_start
from crawler.config import logs

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider


class Command(SpiderCommand, ScrapyRunSpider):
    """Runs the spider of a file. One of the frontier's that can't start ends with one line and exit status 1."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs the spider, when it can start."""
        spider = _frontier_spider(args[0]) if len(args) == 1 else None
        if spider is None:
            super().run(args, opts)
            return
        assert self.settings is not None  # Scrapy has set it before it runs a command
        settings = self.settings.copy()
        try:
            logs.install(settings)
            spider.update_settings(settings)
            check_start(settings)
        except HeadroomError as error:
            self.tell(error)
            self.exitcode = 1
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED
        else:
            self.run_to_end(spider, opts)


def _frontier_spider(file: str) -> type[Spider] | None:
    """Returns the spider that Scrapy would run of a file, if it is one of the frontier's."""
    try:
        spiders = list(iter_spider_classes(import_file(file)))
    except (ImportError, ValueError):  # Scrapy says why
        return None
    base = sys.modules.get("crawler.spiders.base")  # a file with such a spider has imported it
    return spiders[-1] if base and spiders and issubclass(spiders[-1], base.FrontierSpider) else None
