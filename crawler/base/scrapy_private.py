"""Every private name of Scrapy's that is used here: what for, since when, and what stands in where it is missing.

Scrapy promises nothing of a name that begins with an underscore. So nothing else in the project touches one, but for
the methods that a subclass in `crawler/fast` overrides or calls on itself, which `SUBCLASSED` lists. `make matrix`
tries all of it on each version of Scrapy that pyproject.toml allows. A public name that some lack is here, too.

The name, since which version it is as it is used here (2.11 stands for that and earlier ones), and what for:

    ExecutionEngine._slot.nextcall                  2.13  has the engine ask the scheduler; by itself it does every 5 s
    ExecutionEngine._stopping                       2.14  shows SIGTERM: no signal tells that a stop begins
    commands.runspider._import_file                 2.11  imports the file of `scrapy runspider`
    Crawler._create_engine                          2.11  puts in an engine of one's own: no setting names one
    ScrapyCommand._create_crawler                   2.18  warns of feeds that nothing exports; before, nothing does
    MiddlewareManager._mw_methods_requiring_spider  2.14  tells which middlewares still want the spider
    Scraper._scrape                                 2.13  is Scrapy's own way of a response
    Scraper._check_if_closing                       2.13  lets a closing spider end
    Spider._parse                                   2.11  only calls `parse`, unless a subclass has another
    DepthMiddleware._init_depth                     2.11  sets the depth that callbacks read
    utils._download_handlers                        2.15  has what Scrapy's handlers do about limits and StopDownload
    utils.log._get_handler                          2.11  makes the log's handler: no setting names its formatter
    spidermiddlewares.metacopy                      2.18  (public) is one more middleware; before, there is none
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.commands.runspider import _import_file
from scrapy.core.engine import ExecutionEngine
from scrapy.utils import log
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from types import ModuleType

    from scrapy.commands import ScrapyCommand
    from scrapy.core.scraper import Scraper
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from scrapy.middleware import MiddlewareManager
    from scrapy.settings import Settings
    from scrapy.spidermiddlewares.depth import DepthMiddleware
    from twisted.python.failure import Failure

__all__ = ["check_stop_download", "get_maxsize_msg", "get_warnsize_msg"]  # and what is defined below

# Methods that `crawler/fast/engine.py` overrides, or calls on itself.
SUBCLASSED = ("_download", "_start_scheduled_request")


def missing_methods() -> list[str]:
    """Returns which methods of `SUBCLASSED` this version of Scrapy doesn't have; overriding them would do nothing."""
    return [f"ExecutionEngine.{name}" for name in SUBCLASSED if not hasattr(ExecutionEngine, name)]


# -- The engine --------------------------------------------------------------------------------------------------------


def ask_for_request(engine: ExecutionEngine) -> None:
    """Makes the engine ask its scheduler for requests in the next turn of the event loop, if the spider is open."""
    if engine._slot is not None:
        engine._slot.nextcall.schedule()


def is_stopping(engine: ExecutionEngine) -> bool:
    """Returns whether the engine was told to stop; its `running` doesn't say so for one stopped while it started."""
    return engine._stopping


def replace_engine(crawler: Crawler, create: Callable[[], ExecutionEngine]) -> None:
    """Has a crawler make its engine by another function than Scrapy's."""
    crawler._create_engine = create  # type: ignore[method-assign]  # that is the purpose


# -- Middlewares ----------------------------------------------------------------------------------------------------


def methods_with_spider(manager: MiddlewareManager) -> set[Callable[..., Any]]:
    """Returns the methods of middlewares that still want the spider as an argument."""
    return manager._mw_methods_requiring_spider


# -- The scraper and the spider ----------------------------------------------------------------------------------------


async def scrape(scraper: Scraper, result: Response | Failure, request: Request) -> None:
    """Takes a response or an error to the spider, and what that yields onwards, in Scrapy's own way."""
    await scraper._scrape(result, request)


def end_closing(scraper: Scraper) -> None:
    """Lets a spider that closes end, if the scraper has nothing left to do."""
    scraper._check_if_closing()


def set_depth(middleware: DepthMiddleware, response: Response) -> None:
    """Sets the depth of a response that has none, which callbacks read."""
    middleware._init_depth(response)


def has_own_parse(spider: Spider) -> bool:
    """Returns whether a spider answers a request without a callback by its method `parse`, as `Spider` does."""
    return type(spider)._parse is Spider._parse


def _metacopy() -> tuple[type, ...]:
    try:
        from scrapy.spidermiddlewares.metacopy import MetaCopyDetectionMiddleware
    except ImportError:
        return ()
    return (MetaCopyDetectionMiddleware,)


METACOPY_MIDDLEWARES = _metacopy()  # Scrapy has none before 2.18

# -- Commands ----------------------------------------------------------------------------------------------------------


def create_crawler(command: ScrapyCommand, spider: str | type[Spider]) -> Crawler:
    """Returns a crawler of a command's process, as `scrapy crawl` makes it."""
    assert command.crawler_process is not None  # Scrapy has made it before the command runs
    create = getattr(command, "_create_crawler", command.crawler_process.create_crawler)
    crawler: Crawler = create(spider)
    return crawler


def import_file(file: str) -> ModuleType:
    """Returns the module of a file, as `scrapy runspider` imports it.

    Raises:
        ImportError: There is no such file, or it can't be imported.
        ValueError: It is no Python file.
    """
    module: ModuleType = _import_file(file)
    return module


def format_log_by(formatter: logging.Formatter) -> None:
    """Has Scrapy's log handlers write by a formatter: the one that is there, and all that follow it."""
    scrapys = log._get_handler

    def handler_of(settings: Settings) -> logging.Handler:
        handler = scrapys(settings)
        handler.setFormatter(formatter)
        return handler

    log._get_handler = handler_of
    if (present := log.get_scrapy_root_handler()) is not None:
        present.setFormatter(formatter)
