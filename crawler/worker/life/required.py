"""Refuses to start a spider of the frontier by another command, or without what its guarantees rest on.

A dict that is given on the command line replaces the crawl's: `-s ITEM_PIPELINES={...}` with one's own pipeline alone
would finish seeds that no sink has, one of downloader middlewares would ask hosts without their turns. Another
scheduler would end the crawl at once, without an error, and another event loop fails in the middle of its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.utils.misc import load_object

from crawler import config
from crawler.base.errors import ConfigError, HeadroomError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

DOWNLOADER_MIDDLEWARES = (
    "crawler.middlewares.known_site.KnownSiteMiddleware",
    "crawler.middlewares.scope.ScopeMiddleware",
    "crawler.middlewares.decoding.DecodingMiddleware",
    "crawler.middlewares.turns.TurnMiddleware",
)
ROBOTS_MIDDLEWARE = "crawler.middlewares.robots.RobotsMiddleware"
VISITS_MIDDLEWARE = "crawler.middlewares.visits.VisitSpiderMiddleware"
SINK_PIPELINE = "crawler.pipelines.sink.SinkPipeline"
DELIVERY = "crawler.worker.settling.delivery.Delivery"
REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
PARTS = {  # settings that name one class each
    "SCHEDULER": "crawler.scheduler.Scheduler",  # any other asks the frontier for nothing
    "DOWNLOADER": "scrapy.core.downloader.Downloader",  # runs the downloader middlewares
    "ITEM_PROCESSOR": "scrapy.pipelines.ItemPipelineManager",  # runs the pipelines, and with them the sinks
}


def require_parts(settings: BaseSettings) -> None:
    """Checks that the parts of Scrapy's process that the crawl runs in are what it expects, or subclasses of that.

    Raises:
        ConfigError: One of them isn't, or can't be loaded.
    """
    has_reactor = settings.getbool("TWISTED_REACTOR_ENABLED", default=True)
    for name, path in (PARTS | ({"TWISTED_REACTOR": REACTOR} if has_reactor else {})).items():
        value = settings[name]
        if value != path and path not in _paths_or_none(value):
            raise ConfigError(name, value, f"{path} or a subclass of it")


def refuse_command(spider: str) -> NoReturn:
    """Ends a command of Scrapy's that would fetch a page with a spider of the frontier: shell, fetch, parse or check.

    Its page would go among the seeds that the spider claims, and some of them would be left in its hands. Scrapy prints
    any error here with a traceback, or goes on without the spider.

    Args:
        spider: Its name.

    Raises:
        SystemExit: Always, with the reason.
    """
    advice = "scrapy site check FILE URL shows what a page yields"
    raise SystemExit(f"error: the spider {spider!r} runs by scrapy crawl {spider} alone; {advice}")


def require_components(settings: BaseSettings) -> None:
    """Checks that the components are switched on, each itself or as a subclass.

    The sinks' pipeline may be missing where ITEM_SINKS chooses none, that of robots.txt where ROBOTSTXT_OBEY is off.

    Raises:
        HeadroomError: One of them isn't.
        ConfigError: ROBOTSTXT_OBEY or ITEM_SINKS has a value that it can't have.
    """
    is_obedient, has_sinks = config.ROBOTSTXT_OBEY.of(settings), bool(config.ITEM_SINKS.of(settings))
    for name, required in {
        "DOWNLOADER_MIDDLEWARES": (*DOWNLOADER_MIDDLEWARES, *[ROBOTS_MIDDLEWARE] * is_obedient),
        "SPIDER_MIDDLEWARES": (VISITS_MIDDLEWARE,),
        "EXTENSIONS": (DELIVERY,),
        "ITEM_PIPELINES": (SINK_PIPELINE,) * has_sinks,
    }.items():
        components = [component for component, order in settings.getdict(name).items() if order is not None]
        enabled = {path for component in components for path in _paths(component)}
        for path in required:
            if path not in enabled:
                why = "a dict on the command line replaces the crawl's"
                raise HeadroomError(f"setting {name}: expected {path} in it, which is missing ({why})")


def _paths_or_none(component: Any) -> tuple[str, ...]:
    """Returns what `_paths` yields; nothing for a component that can't be found."""
    try:
        return tuple(_paths(component))
    except (ImportError, NameError, TypeError, ValueError):  # what `load_object` raises
        return ()


def _paths(component: Any) -> Iterator[str]:
    """Yields the import paths of a component and of the classes that it derives from."""
    for base in getattr(load_object(component), "__mro__", ()):
        yield f"{base.__module__}.{base.__qualname__}"
