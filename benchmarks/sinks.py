"""What does a message cost in each sink, between a pipeline's bytes and the acknowledgement, beside real servers?

    .venv/bin/python -m benchmarks.sinks                       # 3,000 messages, five rounds

Processor time of this process alone, the threads of Kafka's library included; the messages are those of
`benchmarks/side_by_side`. Each round sends new ones to all sinks in turn, as a pipeline does: full batches, as many at
once as the sink allows.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from benchmarks.side_by_side import pages
from crawler.base.item import Item, Media, instant_now, item_id
from crawler.pipelines.batch import BatchConfig
from crawler.pipelines.sink import Record, chosen_sinks, message
from testbed.servers import Kafka, Mongo

if TYPE_CHECKING:
    from crawler.pipelines.sink import Sink

SITE, BASE = "side_by_side", "http://127.0.0.1:8080"


def record(number: int) -> Record:
    """Returns the message of a page."""
    wanted = pages.item(pages.thread(number), BASE)
    links, url = wanted["links"], str(wanted["url"])
    assert isinstance(links, list)
    fingerprint = hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
    item = Item(
        item_id(fingerprint),
        str(wanted["content"]),
        SITE,
        url,
        instant_now(),
        title=str(wanted["title"]),
        author=str(wanted["author"]),
        published=str(wanted["published"]),
        images=[Media(link) for link in links],
        extra={name: wanted[name] for name in ("section", "tags", "views")},
        plan="bench",
        fingerprint=fingerprint,
    )
    return Record(SITE, fingerprint, message(item))


async def send(sink: Sink, records: list[Record], batch: int) -> None:
    """Delivers records in batches, as many at once as the sink allows."""
    free = asyncio.Semaphore(sink.in_flight)

    async def send_batch(some: list[Record]) -> None:
        async with free:
            refused = await sink.send(some)
        assert not refused, refused

    starts = range(0, len(records), batch)
    await asyncio.gather(*(send_batch(records[start : start + batch]) for start in starts))


async def measure(settings: Settings, number: int, rounds: int) -> dict[str, list[float]]:
    """Returns the CPU us of a message in each round, by sink."""
    sinks = chosen_sinks(settings)
    batch = BatchConfig.from_settings(settings).size
    took: dict[str, list[float]] = defaultdict(list)
    for sink in sinks.values():
        await send(sink, [record(0)], batch)  # connects, and makes the topic
    for turn in range(rounds):
        for name, sink in sinks.items():
            records = [record(1 + turn * number + count) for count in range(number)]
            begun = time.process_time()
            await send(sink, records, batch)
            took[name].append(1e6 * (time.process_time() - begun) / number)
    for sink in sinks.values():
        await sink.close()
    return took


def main() -> None:
    """Prints what each sink costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=3_000, help="of one round (default 3000)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Kafka(folder) as kafka, Mongo(folder) as mongo:
            settings = Settings()
            settings.setmodule("crawler.settings")
            settings.update(
                {
                    "ITEM_SINKS": ["files", "mongo", "kafka"],
                    "ITEMS_DIR": str(folder / "items"),
                    "KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap,
                    "MONGO_URL": mongo.url,
                }
            )
            took = asyncio.run(measure(settings, options.messages, options.rounds))
    print("CPU us a message, median [least..most]")
    for sink, each in took.items():
        print(f"{sink:6} {statistics.median(each):6.1f} [{min(each):.1f}..{max(each):.1f}]")


if __name__ == "__main__":
    main()
