"""Sinks, where items are delivered: what a sink is, and the pipeline that hands each item to those that are chosen.

A new sink is a subclass of `Sink` and a line in the setting SINKS, which names all sinks; ITEM_SINKS chooses some of
them by those names. Only the modules of chosen sinks are imported.
"""

from __future__ import annotations

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import orjson
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object

from crawler import config
from crawler.base import log_events, reasons
from crawler.base.also import Also
from crawler.base.errors import ConfigError, SinkRejectedError, UnavailableError
from crawler.base.item import Item, is_site_name
from crawler.pipelines.batch import BatchConfig, Batcher
from crawler.pipelines.crawl_process import CrawlProcess
from crawler.pipelines.media import media_place
from crawler.worker.settling.delivery import UndeliveredError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.base.log_events import EventLogger
    from crawler.base.reasons import Reason
    from crawler.worker.visits.visit import Visit

logger: EventLogger = logging.getLogger(__name__)
_BEFORE_VALUES = re.compile("[^{\"'`]{0,120}")  # what an error says before the first value, which may be an item's
CLOSE_SECONDS = 5.0  # how long closing may take: Scrapy has waited for every item by then, so only a probe can be left


@dataclass(slots=True, eq=False)
class Record:
    """A message on its way into one sink: an item, or the word that a further plan wants one.

    Attributes:
        site: The site's name, fit for a file name and a topic.
        key: The seed's fingerprint in hex.
        value: The message, UTF-8 JSON on one line.
        gaps: How much of its page it lacks that another visit may have, as `Item.gaps`.
        is_also: It is no `Item`, but an `Also`.
        done: The sink has acknowledged it: when the rest of its batch is sent again, this record is left out.
    """

    site: str
    key: str
    value: bytes
    gaps: int = 0
    is_also: bool = False
    done: bool = False


class Sink(ABC):
    """A place that items are delivered to.

    A subclass says how a batch is sent. Filling batches, retrying, telling an item's fault from the sink's, and
    stopping the crawl's claims during an outage is done for it.

    Attributes:
        in_flight: Batches on their way at once: one is sent while the next one fills.
        is_nodes_own: Whether each node has its own, such as a disk: while it is away, those of others may be there.
        takes_also: Whether it is sent the word that a further plan wants an item; others are sent items alone.
    """

    in_flight: ClassVar[int] = 2
    is_nodes_own: ClassVar[bool] = False
    takes_also: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink without connecting: `scrapy crawl` does so only to see whether the settings will do.

        Raises:
            ConfigError: A setting can't be used.
        """

    @classmethod
    def place(cls, settings: Mapping[str, Any]) -> str:  # noqa: ARG003 -- of subclasses
        """Returns where items land, in words for `scrapy items` and the log; a subclass that says nothing: its name."""
        return f"{cls.__module__}.{cls.__qualname__}"

    @abstractmethod
    async def send(self, batch: list[Record]) -> Mapping[int, Reason]:
        """Delivers a batch; connects first where that is still to do. An empty batch asks whether the sink works.

        Returns:
            The records that the sink refused, by position in the batch, each with a short reason for the ledger; empty
            when it took all. They are sent again, each alone, before they count as refused for good.

        Raises:
            UnavailableError: The batch has to be sent again; what arrived nevertheless may be marked as `done`.
            SinkRejectedError: The sink refused the whole batch; which record is to blame isn't known.
        """

    async def check_access(self) -> None:  # noqa: B027 -- a sink without a server has nothing to say
        """Asks the server, before the crawl starts, whether it lets this client in; a server that is away does.

        Raises:
            AccessError: It doesn't.
        """

    async def prove(self) -> None:
        """Shows that the sink takes writes; asked when it refused a record and has taken no other one since.

        A sink that can be reached and nevertheless may take nothing (a quota, a lock) should write something here that
        nobody reads.

        Raises:
            UnavailableError: It takes none. The text names the server's words, and nothing of an item.
        """
        await self.send([])

    @abstractmethod
    async def close(self) -> None:
        """Lets go of files and connections; called once, when no batch is on its way."""


def chosen_sinks(settings: BaseSettings) -> dict[str, Sink]:
    """Returns the sinks that ITEM_SINKS chooses, by name, in the order of SINKS; empty when it chooses none.

    Raises:
        ConfigError: As `chosen_classes`, or a setting of a chosen sink can't be used.
    """
    return {name: sink_class.from_settings(settings) for name, sink_class in chosen_classes(settings).items()}


def chosen_classes(settings: BaseSettings) -> dict[str, type[Sink]]:
    """Returns the classes of the sinks that ITEM_SINKS chooses, as `chosen_sinks` does the sinks.

    Raises:
        ConfigError: ITEM_SINKS has a name that SINKS lacks, or SINKS names something else than a sink's class.
    """
    own = config.SINKS.of(settings)
    classes = {name: path for name, path in config.SINKS.default.items() if name not in own} | own
    chosen = config.ITEM_SINKS.of(settings)
    there = {name: path for name, path in classes.items() if path is not None}
    for name in chosen:
        if name not in there:
            raise ConfigError("ITEM_SINKS", name, "any of " + ", ".join(sorted(there)))
    return {name: _sink_class(path) for name, path in there.items() if name in chosen}


def _sink_class(path: Any) -> type[Sink]:
    try:
        loaded: Any = load_object(path)
    except (ImportError, NameError, ValueError, TypeError) as error:
        raise ConfigError("SINKS", path, f"the import path of a sink's class ({error})") from None
    if not (isinstance(loaded, type) and issubclass(loaded, Sink)):
        raise ConfigError("SINKS", path, "a subclass of crawler.pipelines.sink.Sink")
    if lacking := sorted(getattr(loaded, "__abstractmethods__", ())):
        raise ConfigError("SINKS", path, f"a class that has {' and '.join(lacking)}, too, as sinks must")
    return loaded


class SinkPipeline:
    """The last item pipeline: an `Item` is through when every chosen sink has acknowledged it, one after the other.

    Right behind it goes the word to further plans that want its page. Items of other classes pass through untouched.
    """

    def __init__(self, sinks: Mapping[str, Sink], batch_config: BatchConfig, process: CrawlProcess) -> None:
        self._sinks = tuple(sinks.values())
        self._process = process
        self._batchers = [
            Batcher(
                name,
                sink.send,
                sink.prove,
                batch_config,
                in_flight=sink.in_flight,
                is_nodes_own=sink.is_nodes_own,
                process=process,
            )
            for name, sink in sinks.items()
        ]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the pipeline; as soon as the engine runs, each sink is asked whether it works.

        Raises:
            NotConfigured: ITEM_SINKS is empty.
            ConfigError: A setting can't be used.
        """
        sinks = chosen_sinks(crawler.settings)
        if not sinks:
            raise NotConfigured
        chosen = chosen_classes(crawler.settings)
        places = [f"{name}: {sink_class.place(crawler.settings)}" for name, sink_class in chosen.items()]
        media = media_place(crawler.settings) or "nowhere (FILES_STORE is empty)"
        logger.info(log_events.SINKS_CHOSEN, "; ".join(places), media)
        process = CrawlProcess(crawler)
        pipeline = cls(sinks, BatchConfig.from_settings(crawler.settings), process)
        process.use_to_tell(pipeline.tell)
        crawler.signals.connect(pipeline.probe, signals.engine_started)
        return pipeline

    def probe(self) -> None:
        """Asks each sink, in the background, whether it works, lest a crawl begins with pages that no sink takes."""
        for batcher in self._batchers:
            batcher.probe()

    async def process_item(self, item: Any) -> Any:
        """Returns the item once every sink has acknowledged it.

        Raises:
            SinkRejectedError: A sink will never take it; those before it in SINKS have it.
            UndeliveredError: The process ends and a sink is away, or other nodes shall deliver; or the item's visit was
                abandoned or released, and the page will be delivered by another one.
        """
        if isinstance(item, Item):
            try:
                await self._deliver(item)
            except UnavailableError as error:
                raise UndeliveredError(error) from error
        return item

    async def _deliver(self, item: Item) -> None:
        self._process.restore_gaps(item)
        value = message(item)
        for batcher in self._batchers:
            if item.visit is not None and item.visit.ended:
                raise UnavailableError(f"{item.url}: its visit has ended")
            await batcher.put(Record(item.resource, item.fingerprint, value, item.gaps))
        self._process.delivered(item.resource, value)
        if item.visit is not None:
            await self._tell_further(item, item.visit)

    async def _tell_further(self, item: Item, visit: Visit) -> None:
        further = visit.seeds[1:]
        answers = await asyncio.gather(*(self.tell(Also.of(seed, item.id)) for seed in further), return_exceptions=True)
        for seed, answer in zip(further, answers, strict=True):
            if isinstance(answer, SinkRejectedError):
                visit.leave_out(seed)  # the others have the item, and needn't fail for it
            elif answer is not None:
                raise answer

    async def tell(self, also: Also) -> None:
        """Returns once every sink has acknowledged that a further plan wants an item.

        Raises:
            SinkRejectedError: A sink will never take it.
            UnavailableError: The process ends and a sink is away, or other nodes shall deliver.
        """
        value = message(also)
        for sink, batcher in zip(self._sinks, self._batchers, strict=True):
            if sink.takes_also:
                await batcher.put(Record(also.resource, also.fingerprint, value, is_also=True))

    async def close_spider(self) -> None:
        """Ends the probes and lets go of what the sinks hold."""
        await asyncio.gather(*(batcher.close(CLOSE_SECONDS) for batcher in self._batchers))
        await asyncio.gather(*(sink.close() for sink in self._sinks))


def message(item: Item | Also) -> bytes:
    """Returns a message as JSON on one line.

    Raises:
        SinkRejectedError: The site's name can't be a file's and a topic's name, or the item holds what isn't JSON.
    """
    if not is_site_name(item.resource):
        raise SinkRejectedError("sinks", reasons.BAD_SITE_NAME, repr(item.resource[:100]))
    try:
        # orjson keeps the buffer that it has written to, several times as large: 65 kB for a message of 9.
        return memoryview(orjson.dumps(item)).tobytes()
    except TypeError as error:  # it has a lone surrogate, an integer past 64 bits, or what isn't JSON in `extra`
        raise SinkRejectedError("sinks", reasons.NOT_ENCODABLE, str(error)) from None


def server_words(text: str) -> str:
    """Returns the beginning of a server's error, which names no value: all of it may fill pages, and hold an item."""
    beginning = _BEFORE_VALUES.match(text)
    return beginning[0].strip() if beginning else ""
