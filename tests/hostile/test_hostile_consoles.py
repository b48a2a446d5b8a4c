"""Nobody can talk to a worker: it listens nowhere, unless the operator names a console himself."""

from __future__ import annotations

import json

import psutil
import pytest
from waiting import until

pytestmark = pytest.mark.faults  # a worker for each case

EXTENSIONS = {"crawler.worker.worker.Worker": 100, "crawler.worker.settling.delivery.Delivery": 200}
CONSOLE = {"scrapy.extensions.telnet.TelnetConsole": 0}
# What nobody but its worker may listen on: by what is set, if there is a console on loopback.
CASES = {
    "by default": ({}, False),
    "TELNETCONSOLE_ENABLED alone": ({"TELNETCONSOLE_ENABLED": 1}, False),
    "REMOTE_CONTROL_ENABLED alone": ({"REMOTE_CONTROL_ENABLED": 1}, False),
    "the extension alone": ({"EXTENSIONS": json.dumps(EXTENSIONS | CONSOLE)}, False),
    "both": ({"TELNETCONSOLE_ENABLED": 1, "EXTENSIONS": json.dumps(EXTENSIONS | CONSOLE)}, True),
}


def listening(process):
    """Returns what a process and its children listen on, in the file system too."""
    worker = psutil.Process(process.pid)
    places = [place for each in (worker, *worker.children(recursive=True)) for place in each.net_connections("all")]
    return [
        place
        for place in places
        if place.status == psutil.CONN_LISTEN or (place.family.name == "AF_UNIX" and place.laddr)
    ]


def test_no_worker_listens_unless_an_operator_means_it(crawl):
    workers = {name: crawl.worker(**settings) for name, (settings, _) in CASES.items()}
    producer = crawl.worker("producer")
    for worker in (producer, *workers.values()):
        until(lambda log=worker.log: b"Crawled 0 pages" in log.read_bytes(), "the worker to begin")
    until(lambda: listening(workers["both"]), "the console that is wanted")
    assert listening(producer) == []
    addresses = {name: [place.laddr.ip for place in listening(worker)] for name, worker in workers.items()}
    assert addresses == {name: ["127.0.0.1"] if has_console else [] for name, (_, has_console) in CASES.items()}
