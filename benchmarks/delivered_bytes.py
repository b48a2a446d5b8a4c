"""How many bytes does a page leave in Kafka and in Mongo?

    .venv/bin/python -m benchmarks.delivered_bytes --pages 2000

A real consumer crawls the side-by-side benchmark's forum pages (some 11 kB of HTML; their texts and 20 links are
delivered) into a real Kafka and Mongo. Kafka's bytes are those of the topic's log segments, one replica; what
compression would make of its batches is printed beside. Mongo's are the documents as BSON, which the server calls
`dataSize`; it stores blocks of them compressed, with snappy unless told otherwise, and fast zlib comes close to that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import bson
import orjson
from backports import zstd
from pymongo import MongoClient

from benchmarks.side_by_side import ours, pages
from benchmarks.side_by_side.install import our_python
from crawler import config
from crawler.pipelines.mongo import COLLECTION
from testbed.servers import Kafka, Mongo, Process, Redis
from testbed.servers.process import answers_http, free_port

BATCH = config.SINK_BATCH.default
CRAWL_SECONDS = 600


def crawl(folder: Path, number: int) -> dict[str, float]:
    """Crawls so many pages; returns bytes a page, by what they are of."""
    with Redis(folder) as server, Mongo(folder) as mongo, Kafka(folder) as kafka:
        port = free_port()
        words = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "-d", str(folder / "pages")]
        with Process("pages", words, folder):
            while not answers_http(port, "/"):
                pass
            asyncio.run(ours.fill(server.url, "content", number, f"http://127.0.0.1:{port}"))
            environment = {"REDIS_URL": server.url, "MONGO_URL": mongo.url, "KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap}
            words = ours.words(our_python(), "consumer", {"ITEM_SINKS": "kafka,mongo"})
            subprocess.run(words, check=True, timeout=CRAWL_SECONDS, env=os.environ | environment, capture_output=True)
        topic = config.TOPIC_PREFIX.default + ours.SITE
        in_kafka = sum(file.stat().st_size for file in folder.rglob(f"{topic}-*/*.log"))
        with MongoClient[dict[str, Any]](mongo.url) as client:
            documents = list(client[config.MONGO_DATABASE.default][COLLECTION].find())
    assert len(documents) == number, len(documents)
    messages = [orjson.dumps({**document, "_id": None}) for document in documents]
    raw = [bson.encode(document) for document in documents]
    return {
        "HTML": sum(len(pages.html(pages.thread(one)).encode()) for one in range(number)),
        "Kafka, one replica": in_kafka,
        "  with zstd": sum(len(zstd.compress(b"".join(part))) for part in batches(messages)),
        "  with gzip": sum(len(zlib.compress(b"".join(part))) for part in batches(messages)),
        "Mongo, dataSize": sum(map(len, raw)),
        "  compressed": sum(len(zlib.compress(b"".join(part), 1)) for part in batches(raw, 4)),  # blocks of 32 kB
    }


def batches(values: list[bytes], size: int = BATCH) -> list[list[bytes]]:
    """Returns values in batches."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages.write(folder / "pages", options.pages)
        for what, total in crawl(folder, options.pages).items():
            print(f"{what:<20} {total / options.pages:>9,.1f} bytes a page")


if __name__ == "__main__":
    main()
