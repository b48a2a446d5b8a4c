"""What our logs hold: no secrets, no control characters, and no line that a page could have forged.

Scrapy makes its log handler and formatter anew several times and has no setting for them; the records themselves are
made in one place, for every handler there is.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, ClassVar, Self

from crawler.redaction import Redaction
from crawler.text import inert, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

MOST_CHARACTERS = 20_000  # of a record; the longest of Scrapy's own, its statistics, has some 5,000
INDENT = "    "


class InertRecord(logging.LogRecord):
    """A log record that can do no harm.

    It is one line. Only tracebacks, and dumps whose own template has line breaks, go on over more: those are indented,
    so what begins at a line's start is a record.

    Attributes:
        redact: Hides the process's secrets.
    """

    redact: ClassVar[Redaction] = Redaction()
    _traceback: str | None

    def getMessage(self) -> str:  # noqa: N802 -- logging's name
        """Returns the text with its arguments."""
        text = _shortened(self.redact(super().getMessage()))
        return _indented(text) if "\n" in str(self.msg) else one_line(text)

    @property
    def exc_text(self) -> str | None:
        """The traceback, which formatters put below the text; None when there is none."""
        if not self.exc_info:
            return None
        if self._traceback is None:
            text = logging.Formatter().formatException(self.exc_info)
            self._traceback = INDENT + _indented(_shortened(self.redact(text)))
        return self._traceback

    @exc_text.setter
    def exc_text(self, _text: str | None) -> None:
        self._traceback = None

    @property
    def stack_info(self) -> str | None:
        """Likewise, the stack that somebody asked for."""
        return self._stack

    @stack_info.setter
    def stack_info(self, text: str | None) -> None:
        self._stack = INDENT + _indented(self.redact(text)) if text else None


class InertLogs:
    """Extension: makes all records of the process inert."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Does it at once: what Scrapy logs next is its settings."""
        install(crawler.settings)
        return cls()


def install(settings: Mapping[str, Any]) -> None:
    """Makes all records of the process inert, without the secrets of these settings and the environment."""
    InertRecord.redact = Redaction.of(settings, os.environ)
    logging.setLogRecordFactory(InertRecord)


def _indented(text: str) -> str:
    return inert(text).replace("\n", "\n" + INDENT)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "..."
