"""Makes log records inert: without secrets and control characters, and without lines that a page could have forged.

This is done to the records themselves, because every handler gets those. Scrapy makes its log handler and formatter
several times in a process, and has no setting for them.
"""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

import orjson

from crawler import config
from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.log_events import event_of
from crawler.base.redaction import Redaction
from crawler.base.text import inert, one_line
from crawler.config.check import redaction_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
MAX_RECORD_CHARACTERS = 20_000  # the longest record of Scrapy's own, its statistics, has some 5,000
INDENT = "    "  # the beginning of a record's further lines


class InertRecord(logging.LogRecord):
    """A log record that can't act on the terminal or on whoever reads the log.

    It is one line. Only tracebacks, and messages whose template has line breaks, have further lines. These are
    indented, so that whatever begins at the start of a line is a record. A HeadroomError says in a line all that an
    operator must know: it follows the message, in place of a traceback.

    Attributes:
        redact: Hides the process's secrets in a text.
    """

    redact: ClassVar[Redaction] = Redaction()
    _traceback: str | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._expected: HeadroomError | None = None
        if self.exc_info and isinstance(self.exc_info[1], HeadroomError):
            self._expected, self.exc_info = self.exc_info[1], None

    def getMessage(self) -> str:  # noqa: N802 -- logging's name
        """Returns the message with its arguments filled in."""
        text = super().getMessage()
        if self._expected is not None:
            text = f"{text}: {self._expected}"
        text = _shortened(self.redact(text))
        return _indented(text) if "\n" in str(self.msg) else one_line(text)

    @property
    def exc_text(self) -> str | None:
        """The traceback, which formatters put below the message; None when there is none."""
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
        """The stack, when the caller asked for it, which formatters put below the message; None otherwise."""
        return self._stack

    @stack_info.setter
    def stack_info(self, text: str | None) -> None:
        self._stack = INDENT + _indented(self.redact(text)) if text else None


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON: time, level, logger, event, message, its fields, and a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line, in which no text can act or begin another line."""
        event = event_of(record.msg)
        values = record.args if isinstance(record.args, tuple) else ()
        named = dict(zip(event.fields, values, strict=False)) if event else {}
        traceback = record.exc_text or (self.formatException(record.exc_info) if record.exc_info else "")
        entry = {
            "time": f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "event": event.name if event else None,
            "message": record.getMessage(),
            "spider": getattr(getattr(record, "spider", None), "name", None),
            **{name: value if isinstance(value, int | float) else _field(value) for name, value in named.items()},
            "traceback": traceback or None,
        }
        return orjson.dumps({name: value for name, value in entry.items() if value is not None}).decode()


def _field(value: object) -> str:
    return one_line(_shortened(InertRecord.redact(str(value))))


class InertLogs:
    """Scrapy extension that makes all log records of the process inert."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Installs the records at once, because the next thing that Scrapy logs is its settings."""
        install(crawler.settings)
        return cls()


def install(settings: Mapping[str, Any]) -> None:
    """Makes all log records of the process inert from here on, without secrets of the settings and the environment.

    With LOG_JSON, Scrapy's log is lines of JSON from here on.
    """
    InertRecord.redact = redaction_of(settings)
    logging.setLogRecordFactory(InertRecord)
    threading.excepthook = _log_death
    if config.LOG_JSON.of(settings):
        from crawler.base.scrapy_private import (
            format_log_by,  # Scrapy's engine is imported with it, which commands don't need
        )

        format_log_by(JsonLines())


def _log_death(thread: threading.ExceptHookArgs) -> None:
    """Logs why a thread has ended, of whatever library; Python would write it to stderr, past every log."""
    name = thread.thread.name if thread.thread is not None else "unknown"
    error = thread.exc_value or thread.exc_type()
    logger.critical(log_events.THREAD_DIED, name, exc_info=error)


def _indented(text: str) -> str:
    return inert(text).replace("\n", "\n" + INDENT)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_RECORD_CHARACTERS else text[:MAX_RECORD_CHARACTERS] + "..."
