"""`scrapy crawl`: a spider of the frontier starts only with valid settings and a Redis that answers."""

from __future__ import annotations

import pytest
from commands.answers import error_of
from commands.conftest import content_seed
from scrapy.settings import Settings
from waiting import PATIENCE_SECONDS, until

from crawler.base.errors import ConfigError
from crawler.cli.start_check import _check_settings
from crawler.spiders.consumer import ConsumerSpider
from testbed.servers import Redis

PLAIN_SPIDER = """
import scrapy

class Plain(scrapy.Spider):
    name = "plain"

    async def start(self):
        self.logger.info("plain with %s", self.word)
        return
        yield
"""

LATE_SPIDER = """
import os
import signal
from crawler.spiders.consumer import ConsumerSpider

class Late(ConsumerSpider):
    name = "late"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        os.kill(int(os.environ["REDIS_PID"]), signal.SIGKILL)
        return super().from_crawler(crawler, *args, **kwargs)
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SESSION_SECONDS", "0"),
        ("FRONTIER_PARTITIONS", "1.5"),
        ("REDIS_URL", "http://x"),
        ("ALLOW_PRIVATE_ADDRESSES", "maybe"),
        ("DOWNLOAD_TLS_MIN_VERSION", "1.2"),
        ("DOWNLOAD_MAXSIZE", "32M"),
        ("ITEM_SINKS", "files,pigeon"),
        ("ITEMS_DIR", "/proc/none"),
        ("SINK_BATCH", "0"),
        ("MONGO_URL", "http://x"),
    ],
)
def test_settings_are_read_before_anything_starts(tmp_path, name, value):
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.setdict({"ITEM_SINKS": "files,kafka,mongo", "ITEMS_DIR": str(tmp_path)})

    def start():
        ConsumerSpider.update_settings(settings)
        _check_settings(settings)

    start()
    settings.set(name, value, "cmdline")
    with pytest.raises(ConfigError, match=f"^setting {name}: got "):
        start()


@pytest.mark.parametrize(
    ("name", "values"), [("ITEMS_DIR", {"FILES_STORE": "/media"}), ("FILES_STORE", {"ITEM_SINKS": "mongo"})]
)
def test_what_is_delivered_lands_in_no_folder_of_a_daemon_by_accident(tmp_path, monkeypatch, name, values):
    monkeypatch.chdir(tmp_path)  # no project's folder
    settings = Settings(values)
    settings.setmodule("crawler.settings")
    ConsumerSpider.update_settings(settings)
    with pytest.raises(ConfigError, match=f"^setting {name}: got .*, expected an absolute path, since no scrapy.cfg"):
        _check_settings(settings)
    assert not any(tmp_path.iterdir())
    for folder in ("ITEMS_DIR", "FILES_STORE"):
        settings.set(folder, str(tmp_path), "cmdline")
    _check_settings(settings)


def test_a_sink_of_ones_own_is_checked_as_ours_are(scrapy):
    sinks = {"SINKS": '{"print": "pipelines.sink_samples.PrintSink"}', "ITEM_SINKS": "print"}
    done = scrapy("crawl", "consumer", settings=sinks | {"PRINT_MARK": "a b"}, environment={"PYTHONPATH": "tests"})
    assert error_of(done) == "setting PRINT_MARK: got 'a b', expected letters, digits, '-', '_' and '.'"


async def test_a_dict_on_the_command_line_that_leaves_the_sinks_out_is_refused(scrapy, operator):
    await operator.queues["content"].offer([content_seed(1)])
    done = scrapy("crawl", "consumer", settings={"ITEM_PIPELINES": '{"crawler.pipelines.clean.CleanPipeline": 100}'})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "error: setting ITEM_PIPELINES: expected crawler.pipelines.sink.SinkPipeline in it, which is missing "
        "(a dict on the command line replaces the crawl's)"
    )
    assert "Traceback" not in done.stderr
    assert (await operator.ledger())["flood", "board"]["content"].ready == 1


async def test_a_frontier_of_other_partitions_is_refused(scrapy, operator):
    error = error_of(scrapy("crawl", "producer", settings={"FRONTIER_PARTITIONS": 2}))
    assert error.startswith("setting FRONTIER_PARTITIONS: got 2, expected 1")


def test_without_redis_it_tries_for_a_while_and_gives_up(scrapy):
    done = scrapy(
        "crawl", "producer", settings={"CONNECT_SECONDS": 1}, environment={"REDIS_URL": "redis://127.0.0.1:1"}
    )
    assert (done.returncode, done.stdout) == (1, "")
    first, *_, last = done.stderr.splitlines()
    assert first.startswith("Redis at redis://127.0.0.1:1: Error 111")
    assert first.endswith("; next try in 0.2 s")
    assert last.startswith("error: Redis at redis://127.0.0.1:1: Error 111")


def test_a_redis_that_comes_later_is_waited_for(spawn, tmp_path, redis_server):
    server = Redis(tmp_path)
    settings = {"STOP_WHEN_DONE": 1, "NODE_CPU_LIMIT_PERCENT": 100, "NODE_MEMORY_LIMIT_PERCENT": 100}
    worker = spawn("crawl", "consumer", "-a", "_job=7", settings=settings, environment={"REDIS_URL": server.url})
    until(lambda: "next try in" in worker.log.read_text(), "the worker to look for Redis")
    with server:
        assert worker.wait(PATIENCE_SECONDS) == 0, worker.log.read_text()


@pytest.mark.parametrize("fast_engine", [0, 1])
def test_a_redis_that_goes_after_the_check_ends_the_worker_with_one_line(scrapy, tmp_path, fast_engine):
    (tmp_path / "late_spiders.py").write_text(LATE_SPIDER)
    with Redis(tmp_path) as server:
        environment = {"REDIS_URL": server.url, "REDIS_PID": str(server.pid), "PYTHONPATH": str(tmp_path)}
        settings = {"SPIDER_MODULES": "late_spiders", "CONNECT_SECONDS": 0, "FAST_ENGINE": fast_engine}
        done = scrapy("crawl", "late", settings=settings, environment=environment)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: Redis at {server.url}: ")
    assert "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if " ERROR: " in line] == []
    assert done.stderr.count(" CRITICAL: this worker ends: Redis at ") == 1


@pytest.mark.parametrize(("command", "spider"), [("crawl", "plain"), ("runspider", "plain_spiders.py")])
def test_other_spiders_run_as_ever(scrapy, tmp_path, command, spider):
    (tmp_path / "plain_spiders.py").write_text(PLAIN_SPIDER)
    done = scrapy(
        command,
        tmp_path / spider if command == "runspider" else spider,
        "-a",
        "word=hello",
        settings={"SPIDER_MODULES": "plain_spiders"},
        environment={"REDIS_URL": "redis://127.0.0.1:1", "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0
    assert "[plain] INFO: plain with hello" in done.stderr


async def test_the_frontier_s_scheduler_refuses_other_spiders_by_name(scrapy, operator, tmp_path):
    (tmp_path / "plain_spiders.py").write_text(PLAIN_SPIDER)
    await operator.queues["content"].offer([content_seed(1)])
    settings = {"SPIDER_MODULES": "plain_spiders", "SCHEDULER": "crawler.scheduler.Scheduler"}
    done = scrapy("crawl", "plain", "-a", "word=x", settings=settings, environment={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "error: setting SCHEDULER: got 'crawler.scheduler.Scheduler', expected another one for the spider 'plain': "
        "only a FrontierSpider crawls the frontier's seeds"
    )
    assert (await operator.ledger())["flood", "board"]["content"].ready == 1
