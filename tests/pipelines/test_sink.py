"""Sinks inside Scrapy: a project of its own that uses them without a worker."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from pipelines.sink_samples import Outages, PrintSink, page
from samples import RecordedVisit, a_claim
from scrapy.settings import Settings

from crawler.base.errors import ConfigError
from crawler.pipelines.batch import BatchConfig
from crawler.pipelines.sink import SinkPipeline, chosen_sinks, message
from crawler.worker.settling.delivery import UndeliveredError

pytestmark = pytest.mark.process
PROJECT = """
import sys
sys.path.insert(0, {here!r})
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from crawler.pipelines import batch
from pipelines.sink_samples import page

batch.FIRST_PAUSE_SECONDS = 0.01

class Items(Spider):
    name = "items"

    start_urls = ["data:,a page without a network"]

    def parse(self, response):
        for number in range(20):
            yield page(number)

process = CrawlerProcess({{
    "ITEM_PIPELINES": {{"crawler.pipelines.sink.SinkPipeline": 800}},
    "SINKS": {{"print": "pipelines.sink_samples.PrintSink"}},
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
    [line] = [line for line in done.stderr.splitlines() if "items go to" in line]
    assert f"items go to files: {tmp_path}/items/SITE.*.jsonl (ITEMS_DIR)" in line
    assert line.endswith("; images and videos to " + str(Path.cwd() / "media"))


def test_a_message_that_waits_for_a_sink_takes_no_more_memory_than_it_has_bytes():
    item = page(content="long " * 2_000)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        value = message(item)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1.1 * len(value)


def test_without_a_sink_items_pass(tmp_path):
    assert run(tmp_path, []).stdout == "20\n\n"
    assert not list(tmp_path.iterdir())


def test_a_sink_of_ones_own_is_a_class_and_a_line_in_settings(tmp_path):
    *printed, closed, scraped, imported = run(tmp_path, ["print"]).stdout.splitlines()
    assert set(printed) == {f"own demo_forum {number:032x} Thread {number}" for number in range(20)}
    assert (closed, scraped, imported) == ("own closed", "19", "")  # it refused one


def test_an_item_that_a_sink_refuses_is_in_those_before_it(tmp_path):
    done = run(tmp_path, ["print", "files"])
    assert done.stdout.splitlines()[-2:] == ["19", ""]
    [path] = (tmp_path / "items").iterdir()
    assert path.read_text("utf-8").count("\n") == 20


async def test_an_item_whose_visit_has_ended_is_delivered_to_no_further_sink():
    """The page is another worker's by then, whose version may be the better one."""
    item = page()
    item.visit = SimpleNamespace(ended=False)
    sent = []

    class Ends(PrintSink):
        async def send(self, batch):
            sent.extend(batch)
            item.visit.ended = True
            return {}

    config = BatchConfig(size=1, wait_s=0, retry_max_s=1)
    pipeline = SinkPipeline({"first": Ends(""), "second": Ends("")}, config, Outages())
    for _ in range(2):
        with pytest.raises(UndeliveredError, match="its visit has ended"):
            await pipeline.process_item(item)
    await pipeline.close_spider()
    assert len(sent) == 1


async def test_a_plan_that_a_sink_refuses_to_hear_of_costs_the_others_nothing():
    recorded = RecordedVisit(also=tuple(replace(a_claim().seed, plan=plan) for plan in "qr"))
    item = page()
    item.visit = recorded.visit

    class Refuses(PrintSink):
        takes_also = True

        async def send(self, batch):
            return {at: "no-file" for at, one in enumerate(batch) if one.is_also and b'"plan":"q"' in one.value}

        async def prove(self):
            """It takes all else."""

    pipeline = SinkPipeline({"one": Refuses("")}, BatchConfig(size=1, wait_s=0, retry_max_s=1), Outages())
    assert await pipeline.process_item(item) is item
    await pipeline.close_spider()
    recorded.end_callback()
    assert recorded.settlements[0].served == "0 p r"


@pytest.mark.faults  # a crawl, with a server that is away for each sink
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
            output, log = crawl.communicate()
        finally:
            end.cancel()
            crawl.kill()
    assert crawl.returncode == 0
    assert output.startswith("0\n")
    assert " ERROR: " not in log


@pytest.mark.parametrize(
    ("sinks", "chosen", "error"),
    [
        ({}, ["files", "fax"], "ITEM_SINKS: got 'fax', expected any of files, kafka, mongo"),
        ({"fax": "a.Fax", "kafka": None}, ["kafka"], "ITEM_SINKS: got 'kafka', expected any of fax, files, mongo"),
        ('["files"]', "files", "SINKS: got '[\"files\"]', expected names of sinks with the paths of their classes"),
        ({"fax": "no.such.Fax"}, "fax", "SINKS: got 'no.such.Fax', expected the import path of a sink's class (No mod"),
        (
            {"fax": "crawler.pipelines.sink.Sink"},
            ["fax"],
            "SINKS: got 'crawler.pipelines.sink.Sink', expected a class that has close and from_settings and send",
        ),
        (
            {"fax": "crawler.base.item.Item"},
            "fax",
            "SINKS: got 'crawler.base.item.Item', expected a subclass of crawler.pipel",
        ),
    ],
)
def test_a_choice_that_cannot_be_made_names_the_setting(sinks, chosen, error):
    with pytest.raises(ConfigError, match="^" + re.escape(f"setting {error}")):
        chosen_sinks(Settings({"SINKS": sinks, "ITEM_SINKS": chosen}))
