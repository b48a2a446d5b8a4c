"""Sinks inside Scrapy: a project of its own that uses them without a worker."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

PROJECT = """
import sys
sys.path.insert(0, {here!r})
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from pipelines.sink_samples import page

class Items(Spider):
    name = "items"

    start_urls = ["data:,a page without a network"]

    def parse(self, response):
        for number in range(20):
            yield page(number)

process = CrawlerProcess({{
    "ITEM_PIPELINES": {{
        "crawler.pipelines.files.FilesSink": 800,
        "crawler.pipelines.mongo.MongoSink": 810,
        "crawler.pipelines.kafka.KafkaSink": 820,
    }},
    "SINK_BATCH": 5,
    "SINK_WAIT_SECONDS": 0.01,
    "SINK_RETRY_MAX_SECONDS": 600,
    "TOPIC_PREFIX": "items.",
    "MONGO_URL": "mongodb://127.0.0.1:1",
    "MONGO_DATABASE": "nowhere",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
    "TELNETCONSOLE_ENABLED": False,
    **{settings!r},
}})
crawler = process.create_crawler(Items)
process.crawl(crawler)
process.start()
print(crawler.stats.get_value("item_scraped_count", 0))
"""


def command(folder: Path, sinks: list[str]) -> list[str]:
    settings = {"ITEM_SINKS": sinks, "ITEMS_DIR": str(folder / "items")}
    return [sys.executable, "-c", PROJECT.format(here=str(Path(__file__).parents[1]), settings=settings)]


def run(folder: Path, sinks: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(folder, sinks), capture_output=True, text=True, timeout=60, check=False)


def test_a_sink_that_is_named_takes_the_items(tmp_path):
    done = run(tmp_path, ["files"])
    assert done.stdout == "20\n"
    [path] = (tmp_path / "items").iterdir()
    titles = {json.loads(line)["title"] for line in path.read_text("utf-8").splitlines()}
    assert titles == {f"Thread {number}" for number in range(20)}


def test_a_sink_that_is_not_named_is_off(tmp_path):
    done = run(tmp_path, [])
    assert done.stdout == "20\n"
    assert not list(tmp_path.iterdir())


def test_an_unknown_sink_is_refused_at_start(tmp_path):
    done = run(tmp_path, ["files", "fax"])
    assert "setting ITEM_SINKS: got 'fax', expected any of files, kafka, mongo" in done.stderr
    assert done.stdout == "0\n"


@pytest.mark.parametrize("sink", ["kafka", "mongo"])
def test_a_crawl_that_is_stopped_while_a_sink_is_away_ends_and_calls_no_item_delivered(tmp_path, sink):
    with subprocess.Popen(
        command(tmp_path, [sink]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as crawl:
        end = threading.Timer(60, crawl.kill)
        end.start()
        try:
            assert any(f"{sink}: down" in line for line in crawl.stderr)
            crawl.terminate()
            output, _ = crawl.communicate()
        finally:
            end.cancel()
            crawl.kill()
    assert crawl.returncode == 0
    assert output == "0\n"
