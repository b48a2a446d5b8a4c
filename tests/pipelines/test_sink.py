"""Sinks inside Scrapy: a project of its own that uses them without a worker."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.pipelines.sink import chosen_sinks
from crawler.settings import SINKS

pytestmark = pytest.mark.process
PROJECT = """
import sys
sys.path.insert(0, {here!r})
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from crawler.settings import SINKS
from pipelines.sink_samples import page

class Items(Spider):
    name = "items"

    start_urls = ["data:,a page without a network"]

    def parse(self, response):
        for number in range(20):
            yield page(number)

process = CrawlerProcess({{
    "ITEM_PIPELINES": {{"crawler.pipelines.sink.SinkPipeline": 800}},
    "SINKS": {{**SINKS, "print": "pipelines.sink_samples.PrintSink"}},
    "SINK_BATCH": 5,
    "SINK_WAIT_SECONDS": 0.01,
    "SINK_RETRY_MAX_SECONDS": 600,
    "TOPIC_PREFIX": "items.",
    "MONGO_URL": "mongodb://127.0.0.1:1",
    "MONGO_DATABASE": "nowhere",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
    "PRINT_MARK": "own",
    "TELNETCONSOLE_ENABLED": False,
    **{settings!r},
}})
crawler = process.create_crawler(Items)
process.crawl(crawler)
process.start()
print(crawler.stats.get_value("item_scraped_count", 0))
print(*sorted({{"kafka", "pymongo"}} & set(sys.modules)))
"""


def command(folder: Path, sinks: list[str]) -> list[str]:
    settings = {"ITEM_SINKS": sinks, "ITEMS_DIR": str(folder / "items")}
    return [sys.executable, "-c", PROJECT.format(here=str(Path(__file__).parents[1]), settings=settings)]


def run(folder: Path, sinks: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(folder, sinks), capture_output=True, text=True, timeout=60, check=False)


def test_a_sink_that_is_chosen_takes_the_items_and_no_other_is_imported(tmp_path):
    done = run(tmp_path, ["files"])
    assert done.stdout == "20\n\n"
    [path] = (tmp_path / "items").iterdir()
    titles = {json.loads(line)["title"] for line in path.read_text("utf-8").splitlines()}
    assert titles == {f"Thread {number}" for number in range(20)}


def test_without_a_sink_items_pass(tmp_path):
    assert run(tmp_path, []).stdout == "20\n\n"
    assert not list(tmp_path.iterdir())


def test_a_sink_of_ones_own_is_a_class_and_a_line_in_settings(tmp_path):
    *printed, closed, scraped, imported = run(tmp_path, ["print"]).stdout.splitlines()
    assert sorted(printed) == sorted(f"own demo_forum {number:032x} Thread {number}" for number in range(20))
    assert (closed, scraped, imported) == ("own closed", "19", "")  # it refused one


def test_an_item_that_a_sink_refuses_is_in_those_before_it(tmp_path):
    done = run(tmp_path, ["print", "files"])
    assert done.stdout.splitlines()[-2:] == ["19", ""]
    [path] = (tmp_path / "items").iterdir()
    assert path.read_text("utf-8").count("\n") == 20


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
    assert output.startswith("0\n")


@pytest.mark.parametrize(
    ("sinks", "chosen", "error"),
    [
        (SINKS, ["files", "fax"], "ITEM_SINKS: got 'fax', expected any of files, kafka, mongo"),
        ({}, "files", "ITEM_SINKS: got 'files', expected any of the names in SINKS"),
        (None, "files", "ITEM_SINKS: got 'files', expected any of the names in SINKS"),
        ('["files"]', "files", "SINKS: got '[\"files\"]', expected names of sinks with the paths of their classes"),
        ({"fax": "no.such.Fax"}, "fax", "SINKS: got 'no.such.Fax', expected the import path of a sink's class (No mod"),
        ({"fax": "crawler.item.Item"}, "fax", "SINKS: got 'crawler.item.Item', expected a subclass of crawler.pipel"),
    ],
)
def test_a_choice_that_cannot_be_made_names_the_setting(sinks, chosen, error):
    with pytest.raises(ConfigError, match="^" + re.escape(f"setting {error}")):
        chosen_sinks(Settings({"SINKS": sinks, "ITEM_SINKS": chosen}))
