"""Items, settings, sinks and a recorder of outages for the sinks' tests."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import orjson
import pytest

from crawler.base.item import Item, Media
from crawler.config.setting import Line
from crawler.pipelines.batch import BatchConfig
from crawler.pipelines.sink import Sink, SinkPipeline
from crawler.worker.settling.delivery import UndeliveredError
from crawler.worker.settling.gaps import Gaps

MARK = Line(
    "PRINT_MARK",
    "",
    "Begins lines.",
    pattern=r"[\w.-]+",
    form="letters, digits, '-', '_' and '.'",
)
SETTINGS = {"SINK_BATCH": 100, "SINK_WAIT_SECONDS": 0.01, "SINK_RETRY_MAX_SECONDS": 0.5, "FILES_FSYNC": False}


def page(number: int = 1, **fields: Any) -> Item:
    """An item as extraction, cleaning and media leave it."""
    values: dict[str, Any] = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))),
        "content": f"洪水 message {number}",
        "resource": "demo_forum",
        "url": f"https://forum.example/thread/{number}",
        "time": "2026-11-21T14:00:00Z",
        "title": f"Thread {number}",
        "author": "Zhang San",
        "published": "2026-11-20T08:30:00Z",
        "images": [Media("https://forum.example/a.png", "full/a.png", "ab" * 32, 1_234)],
        "videos": [Media("https://forum.example/b.mp4", error="http-404")],
        "extra": {"board": "water", "replies": 3},
        "plan": "flood-2026",
        "keywords": ["重庆", "洪水"],
        "language": "zh",
        "sha256": "cd" * 32,
        "node": "node-1",
        "fingerprint": f"{number:032x}",
    }
    return Item(**{**values, **fields})


def message(item: Item) -> dict[str, Any]:
    """The item as those read it who get it."""
    return orjson.loads(orjson.dumps(item))


def pipeline(name: str, sink: Sink, process: Outages | None = None) -> SinkPipeline:
    """A pipeline with one sink, outside of Scrapy."""
    return SinkPipeline({name: sink}, BatchConfig.from_settings(SETTINGS), process or Outages())


class Outages:
    """The process of a batcher: records the outages that it hears of, and knows what items lack."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.whys: list[str] = []
        self.stopping = self.others = False
        self.gaps = Gaps()
        self.restore_gaps = self.gaps.restore
        self.down, self.up, self.asked_for_others = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def delivered(self, site: str, value: bytes) -> None:
        """Is told of each item that all sinks have."""

    async def has_other_nodes(self) -> bool:
        self.asked_for_others.set()
        return self.others

    def sink_down(self, name: str, why: str) -> None:
        if self.told[-1:] != [f"{name} down"]:  # it is told each new reason
            self.told.append(f"{name} down")
        self.whys.append(why)
        self.down.set()

    def sink_up(self, name: str) -> None:
        self.told.append(f"{name} up")
        self.up.set()


async def deliver_through_a_kill(sink: SinkPipeline, outages: Outages, server: Any, count: int) -> set[str]:
    """Delivers items, and kills the sink's server when 300 are; it comes back. Returns the ids of all."""
    delivered: set[str] = set()
    under_way = asyncio.Event()

    async def deliver(number: int) -> None:
        item = page(number)
        await sink.process_item(item)
        delivered.add(item.id)
        if len(delivered) == 300:
            under_way.set()

    putting = [asyncio.create_task(deliver(number)) for number in range(count)]
    await under_way.wait()
    server.kill()
    assert len(delivered) < count
    await outages.down.wait()
    await asyncio.to_thread(server.start)
    await asyncio.gather(*putting)
    await sink.close_spider()
    assert len(delivered) == count
    return delivered


async def wait_in_vain(sink: SinkPipeline, outages: Outages, where: str) -> None:
    """Probes a sink that can't be reached, and delivers an item until the process ends."""
    sink.probe()
    await outages.down.wait()
    putting = asyncio.create_task(sink.process_item(page()))
    outages.stopping = True
    with pytest.raises(UndeliveredError, match=where):
        await putting
    await sink.close_spider()


class PrintSink(Sink):
    """A sink that a project of one's own might add: it prints, and refuses one title."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    @classmethod
    def from_settings(cls, settings: Any) -> PrintSink:
        return cls(MARK.of(settings))

    async def send(self, batch: Any) -> dict[int, str]:
        for record in batch:
            print(self._mark, record.site, record.key, orjson.loads(record.value)["title"], flush=True)
        return {at: "unlucky" for at, record in enumerate(batch) if b"Thread 13" in record.value}

    async def close(self) -> None:
        print(self._mark, "closed", flush=True)
