"""Runs the readers that docs/downstream.md shows, on real servers: their very text, but for names and addresses."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing

import orjson
import pytest
from crawl import crawl_to_every_sink
from documents.walk import ROOT, blocks
from kafka import KafkaProducer
from pipelines.sink_samples import page
from waiting import PATIENCE_SECONDS

PAGE = ROOT / "docs" / "downstream.md"
TOPIC, KAFKA, MONGO = "items.demo_forum", "127.0.0.1:9092", "mongodb://127.0.0.1:27017"  # in its text
PLAN = """
name: {name}
sites: [{{use: demo_forum, name: demo_forum, base: "{base}"}}]
keywords: {{event: {{required: [洪水]}}}}
pages: 1
"""
SECONDS = 60


def reader(word: str, **others: str) -> str:
    """Returns the block of Python that has a word, with other texts in place of some of its own."""
    (text,) = (text for language, text in blocks(PAGE) if language == "python" and word in text)
    for shown, other in others.values():
        assert shown in text
        text = text.replace(shown, other)
    return text


def lines_of(script: str, folder, count: int) -> list[str]:
    """Runs a reader until it has printed so many lines, or ends."""
    file = folder / "reader.py"
    file.write_text(script, "utf-8")
    command = [sys.executable, "-u", file]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8") as running:
        end = threading.Timer(SECONDS, running.kill)  # Kafka's has no end of its own
        end.start()
        try:
            return [line for _ in range(count) if (line := running.stdout.readline())]
        finally:
            end.cancel()
            running.kill()


def test_the_reader_of_kafka_prints_each_item_once(kafka_server, topic_prefix, tmp_path):
    topic = f"{topic_prefix}demo_forum"
    with closing(KafkaProducer(bootstrap_servers=kafka_server.bootstrap)) as producer:
        for number in (1, 2, 1, 3, 2, 1, 4):  # at least once: some come again
            one = page(number)
            producer.send(topic, orjson.dumps(one), key=one.fingerprint.encode()).get(PATIENCE_SECONDS)
    script = reader("KafkaConsumer", topic=(TOPIC, topic), address=(KAFKA, kafka_server.bootstrap))
    for number, line in enumerate(lines_of(script, tmp_path, 4), 1):
        assert f"Thread {number}" in line


@pytest.mark.faults  # a crawl to every sink, twice, and four readers
def test_all_readers_find_what_a_crawl_delivered_and_the_further_plan(
    fork_server, redis_server, kafka_server, mongo_server, forum, tmp_path
):
    with crawl_to_every_sink(fork_server, tmp_path, redis_server, kafka_server, mongo_server) as crawl:
        for name in ("demo", "further"):  # the second finds every page delivered, and is told of the items
            (tmp_path / "plan.yaml").write_text(PLAN.format(name=name, base=forum.url), "utf-8")
            crawl.scrapy("plan", "submit", tmp_path / "plan.yaml")
            crawl.finish(producers=1)
        items = [line for line in crawl.items() if "content" in line]
        word = [line for line in crawl.items() if "content" not in line]
        prefix, database = crawl.settings["TOPIC_PREFIX"], crawl.environment["MONGO_DATABASE"]
        expected = sorted(f"{item['time']} {item['title']} {item['url']}" for item in items)
        assert len(expected) > 5
        assert {line["plan"] for line in word} == {"further"}
        assert {line["id"] for line in word} == {item["id"] for item in items}
        files = reader("pathlib")
        kafka = reader("KafkaConsumer", topic=(TOPIC, f"{prefix}demo_forum"), address=(KAFKA, kafka_server.bootstrap))
        names = {"address": (MONGO, mongo_server.url), "database": ('"headroom"', f'"{database}"')}
        mongo = [reader("MongoClient", **names), reader("MongoClient", **names, plan=('"demo"', '"further"'))]
        for script in (files, kafka, *mongo):
            shown = [line.strip() for line in lines_of(script, tmp_path, len(expected))]
            assert sorted(shown) == expected, script
