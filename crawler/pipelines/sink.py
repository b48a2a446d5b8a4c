"""What the sinks share: being switched on, the batcher, and the message in bytes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import orjson
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler.config import number, whole, words
from crawler.errors import SinkRejectedError
from crawler.models import Page
from crawler.pipelines.batch import IN_FLIGHT, Batcher, Hooks
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

SINKS = ("files", "kafka", "mongo")
CLOSE_SECONDS = 5.0  # by then Scrapy has waited for every item; only a probe can be left
SITE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # a site definition's; becomes a file name and a topic


@dataclass(frozen=True, slots=True)
class BatchConfig:
    """How a sink batches: `size` items, or what came within `wait_s`; at most `retry_max_s` between two tries."""

    size: int
    wait_s: float
    retry_max_s: float

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads SINK_BATCH, SINK_WAIT_SECONDS and SINK_RETRY_MAX_SECONDS.

        Raises:
            ConfigError: One is out of range.
        """
        return cls(
            size=whole(settings, "SINK_BATCH", 1, 10_000),
            wait_s=number(settings, "SINK_WAIT_SECONDS", 0, 10),
            retry_max_s=number(settings, "SINK_RETRY_MAX_SECONDS", 0.01, 600),
        )


@dataclass(slots=True, eq=False)
class Record:
    """An item on its way into a sink.

    Attributes:
        site: The site's name, fit for a file name and a topic.
        key: The seed's fingerprint in hex.
        value: The message, UTF-8 JSON on one line.
        done: The sink has it: a batch that is sent again leaves it out.
    """

    site: str
    key: str
    value: bytes
    done: bool = False


class Sink(ABC):
    """An item pipeline that returns a Page only when its sink has acknowledged it. Other items pass through untouched.

    Subclasses say how to send a batch; a sink takes part when ITEM_SINKS has its name.
    """

    name: ClassVar[str]
    in_flight: ClassVar[int] = IN_FLIGHT

    def __init__(self, config: BatchConfig, hooks: Hooks) -> None:
        self._batcher: Batcher[Record] = Batcher(
            self.send,
            size=config.size,
            wait_s=config.wait_s,
            retry_max_s=config.retry_max_s,
            name=self.name,
            hooks=hooks,
            in_flight=self.in_flight,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the sink, and probes it once the engine runs.

        Raises:
            NotConfigured: ITEM_SINKS doesn't name it.
            ConfigError: A setting of the sink can't be used.
        """
        if cls.name not in words(crawler.settings, "ITEM_SINKS", SINKS):
            raise NotConfigured
        sink = cls.from_settings(crawler.settings, _hooks(crawler))
        crawler.signals.connect(sink.probe, signals.engine_started)
        return sink

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Mapping[str, Any], hooks: Hooks) -> Self:
        """Builds the sink without connecting.

        Raises:
            ConfigError: A setting can't be used.
        """

    @abstractmethod
    async def send(self, batch: list[Record]) -> Mapping[int, str]:
        """Delivers a batch, as the batcher's `send`; connects first where that is still to do."""

    @abstractmethod
    async def release(self) -> None:
        """Lets go of files and connections; called once, when no batch is on its way."""

    def probe(self) -> None:
        """Looks in the background whether the sink can be reached: an outage must stop the first claim already."""
        self._batcher.probe()

    async def process_item(self, item: Any) -> Any:
        """Returns the item once the sink has acknowledged it.

        Raises:
            SinkRejectedError: The sink will never take it.
            UnavailableError: The process ends and the sink is away.
        """
        if isinstance(item, Page):
            await self._batcher.put(self._record(item))
        return item

    async def close_spider(self) -> None:
        """Ends the probe and lets go of what the sink holds."""
        await self._batcher.close(CLOSE_SECONDS)
        await self.release()

    def _record(self, page: Page) -> Record:
        if not SITE_NAME.fullmatch(page.resource):
            raise SinkRejectedError(self.name, "bad-site-name", repr(page.resource[:100]))
        try:
            value = orjson.dumps(page)  # the same bytes as of page.message(), ten times faster
        except TypeError as error:  # a lone surrogate, an integer past 64 bits, what isn't JSON in `extra`
            raise SinkRejectedError(self.name, "not-encodable", str(error)) from None
        return Record(page.resource, page.fingerprint, value)


def _hooks(crawler: Crawler) -> Hooks:
    """Returns hooks that tell the worker; a project without one carries on and waits."""
    worker = crawler.get_extension(Worker)
    if worker is None:
        return Hooks(stopping=lambda: crawler.engine is None or not crawler.engine.running)
    return Hooks(worker.sink_down, worker.sink_up, worker.stopping.is_set)
