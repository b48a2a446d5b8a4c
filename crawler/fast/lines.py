"""Scrapy's log lines of every page and item, made only where somebody would read them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Request, Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure

_engine = logging.getLogger("scrapy.core.engine")
_scraper = logging.getLogger("scrapy.core.scraper")


class LeanLogFormatter(LogFormatter):
    """A formatter for the setting LOG_FORMATTER.

    Scrapy's loggers let everything pass and leave it to their handlers: each page makes two records that LOG_LEVEL=INFO
    throws away.
    """

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Returns the line of a page; None: it would be thrown away."""
        return super().crawled(request, response, spider) if _debugs(_engine) else None  # type: ignore[return-value]

    def scraped(self, item: Any, response: Response | Failure | None, spider: Spider) -> LogFormatterResult:
        """Returns the line of an item; likewise."""
        return super().scraped(item, response, spider) if _debugs(_scraper) else None  # type: ignore[return-value]


def _debugs(logger: logging.Logger | None) -> bool:
    """Returns whether any handler takes debug records of a logger."""
    if logger is None or not logger.isEnabledFor(logging.DEBUG):
        return False
    while logger is not None:
        for handler in logger.handlers:
            if handler.level <= logging.DEBUG:
                return True
        logger = logger.parent if logger.propagate else None
    return False
