"""Nobody can talk to a worker: it listens nowhere, unless the operator names a console himself."""

from __future__ import annotations

import json

import psutil
import pytest
from crawl import Crawl
from waiting import until

pytestmark = pytest.mark.faults  # a crawl for each case

EXTENSIONS = {"crawler.worker.worker.Worker": 100, "crawler.worker.claiming.delivery.Delivery": 200}
CONSOLE = {"scrapy.extensions.telnet.TelnetConsole": 0}
CASES = {
    "by default": {},
    "with TELNETCONSOLE_ENABLED alone": {"TELNETCONSOLE_ENABLED": 1},
    "with REMOTE_CONTROL_ENABLED alone": {"REMOTE_CONTROL_ENABLED": 1},
    "with the extension alone": {"EXTENSIONS": json.dumps(EXTENSIONS | CONSOLE)},
    "with both": {"TELNETCONSOLE_ENABLED": 1, "EXTENSIONS": json.dumps(EXTENSIONS | CONSOLE)},
}


@pytest.fixture(scope="module")
def workers(fork_server, redis_server, tmp_path_factory):
    """Workers at work, by spider and case."""
    folder, settings = tmp_path_factory.mktemp("consoles"), {"KEY_PREFIX": "consoles"}
    with Crawl(fork_server, folder, redis_server.url, settings) as crawl:
        started = {
            (spider, name): crawl.worker(spider, **settings)
            for spider in ("producer", "consumer")
            for name, settings in CASES.items()
            if spider == "consumer" or not settings
        }
        for process in started.values():
            until(lambda log=process.log: b"Crawled 0 pages" in log.read_bytes(), "the worker to begin")
        until(lambda: listening(started["consumer", "with both"]), "the console that is wanted")
        yield started


def listening(process):
    """Returns what a process and its children listen on, in the file system too."""
    worker = psutil.Process(process.pid)
    connections = [one for each in (worker, *worker.children(recursive=True)) for one in each.net_connections("all")]
    return [
        one for one in connections if one.status == psutil.CONN_LISTEN or (one.family.name == "AF_UNIX" and one.laddr)
    ]


@pytest.mark.parametrize("spider", ["producer", "consumer"])
def test_no_worker_listens_by_default(workers, spider):
    assert listening(workers[spider, "by default"]) == []


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("alone")])
def test_one_setting_by_mistake_opens_nothing(workers, name):
    assert listening(workers["consumer", name]) == []


def test_an_operator_who_means_it_gets_a_console_on_loopback(workers):
    assert [one.laddr.ip for one in listening(workers["consumer", "with both"])] == ["127.0.0.1"]
