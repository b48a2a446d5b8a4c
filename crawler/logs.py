"""What any log of ours holds: no secrets, no control characters, and no line that a page could have forged.

An extension, since Scrapy makes its log handler anew for each crawl and has no setting for the formatter.
"""

from __future__ import annotations

import copy
import logging
import os
from typing import TYPE_CHECKING, Self

from scrapy.utils.log import get_scrapy_root_handler

from crawler.redaction import Redaction
from crawler.text import inert, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from scrapy.crawler import Crawler

MOST_CHARACTERS = 20_000  # of a record; the longest of Scrapy's own, its statistics, has some 5,000
INDENT = "    "


class InertFormatter(logging.Formatter):
    """Lets another formatter write records that can do no harm.

    A record is one line. Only tracebacks, and dumps whose own template has line breaks, go on over more: those are
    indented, so what begins at a line's start is a record.

    Args:
        inner: Writes them; its own layout and colours stay.
        redact: Hides secrets.
    """

    def __init__(self, inner: logging.Formatter, redact: Redaction) -> None:
        super().__init__()
        self._inner = inner
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Returns the record as text."""
        clean = copy.copy(record)  # other handlers get it as it was
        text = self._shortened(self._redact(record.getMessage()))
        clean.msg = self._indented(text) if "\n" in str(record.msg) else one_line(text)
        clean.args = None
        if record.exc_info:
            exception = record.exc_text or self._inner.formatException(record.exc_info)
            clean.exc_text = INDENT + self._indented(self._shortened(self._redact(exception)))
        if record.stack_info:
            clean.stack_info = INDENT + self._indented(self._redact(record.stack_info))
        return self._inner.format(clean)

    def _indented(self, text: str) -> str:
        return inert(text).replace("\n", "\n" + INDENT)

    def _shortened(self, text: str) -> str:
        return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "..."


class InertLogs:
    """Puts the formatter on Scrapy's log handler."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Does it at once: what Scrapy logs next is its settings."""
        install(crawler.settings)
        return cls()


def install(settings: Mapping[str, Any]) -> None:
    """Makes Scrapy's log handler write inert records without the secrets of the settings and the environment."""
    handler = get_scrapy_root_handler()
    if handler is not None:
        inner = handler.formatter or logging.Formatter()
        if not isinstance(inner, InertFormatter):
            handler.setFormatter(InertFormatter(inner, Redaction.of(settings, os.environ)))
