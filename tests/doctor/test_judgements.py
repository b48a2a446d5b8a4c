"""What the doctor says of figures that can't be had from a real server, node or library within a test."""

from __future__ import annotations

import os
import resource
import shutil
import threading
from types import SimpleNamespace

import orjson
import pycurl
import pytest
from redis.asyncio import Redis

from crawler.doctor import disk, dns_check, kafka_brokers
from crawler.doctor.browser_check import browser, judge_browser
from crawler.doctor.disk import judge_folder
from crawler.doctor.finding import State
from crawler.doctor.kafka_brokers import ExaminedKafka, Topic
from crawler.doctor.mongo_server import judge_replicas, judge_write_concern
from crawler.doctor.node import judge_clock, judge_open_files, judge_versions
from crawler.doctor.redis_server import judge_latency
from crawler.frontier.keys import Keys
from crawler.plans.registry import Registry

ENDLESS = resource.RLIM_INFINITY
ALL_FEATURES = pycurl.VERSION_SSL | pycurl.VERSION_HTTP2


@pytest.mark.parametrize(
    ("taken_s", "state", "said"),
    [
        ([0.0004, 0.0005, 0.02], State.OK, "3 pings took 0.5 ms in the median, the slowest 20.0 ms"),
        ([0.03, 0.03, 0.03], State.BETTER, "let Redis be on one network with the workers"),
        ([0.0004, 0.0004, 3.0], State.BETTER, "that is a renewal of a session (15 s) late"),
    ],
)
def test_slow_answers_of_redis_are_told_and_those_that_would_lapse_a_session(taken_s, state, said):
    finding = judge_latency(taken_s, 15.0)
    assert (finding.state, said in finding.text) == (state, True), finding


@pytest.mark.parametrize(
    ("ahead_s", "unsure_s", "state"),
    [
        (0.02, 0.0, State.OK),
        (-1.5, 1.0, State.OK),  # Redis answered so late that the clocks may agree
        (-1.5, 0.1, State.BETTER),
        (61.0, 0.1, State.LOSS),
    ],
)
def test_a_clock_apart_from_that_of_redis_is_told_once_it_is_sure(ahead_s, unsure_s, state):
    assert judge_clock(ahead_s, unsure_s).state is state


@pytest.mark.parametrize(
    ("soft", "hard", "requests", "state", "said"),
    [
        (1_024, 4_096, 64, State.OK, "1,024, and a worker with CONCURRENT_REQUESTS 64 has up to 484 open"),
        (ENDLESS, ENDLESS, 10_000, State.OK, "no limit"),
        (1_024, 4_096, 1_000, State.BETTER, "(ulimit -n 1420; LimitNOFILE=1420 in a systemd unit)"),
        (1_024, 1_024, 1_000, State.BETTER, "(the hard limit is 1,024; LimitNOFILE=1420"),
        (64, 64, 64, State.STOPS, "at most 64, "),
    ],
)
def test_a_worker_needs_a_limit_of_open_files_above_what_it_may_open(soft, hard, requests, state, said):
    finding = judge_open_files(soft, hard, requests)
    assert (finding.state, said in finding.text) == (state, True), finding


@pytest.mark.parametrize(
    ("scrapys", "features", "state", "said"),
    [
        ("2.19.0", ALL_FEATURES, State.OK, "Scrapy 2.19.0, libcurl 8.23.0 with HTTP/2, turbohtml 1."),
        ("2.17.0", ALL_FEATURES, State.BETTER, "tested with Scrapy 2.18.x and 2.19.x alone"),
        ("2.19.0", pycurl.VERSION_SSL, State.BETTER, "libcurl 8.23.0 without HTTP/2"),
        ("2.19.0", pycurl.VERSION_HTTP2, State.STOPS, "without TLS, so https fails"),
    ],
)
def test_versions_that_were_not_tested_or_lack_a_feature_are_told(scrapys, features, state, said):
    finding = judge_versions(scrapys, "8.23.0", features)
    assert (finding.state, said in finding.text) == (state, True), finding


@pytest.mark.parametrize(
    ("free", "state"), [(50_000_000, State.STOPS), (1_000_000_000, State.BETTER), (10**12, State.OK)]
)
def test_a_disk_is_told_before_it_is_full(monkeypatch, tmp_path, free, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=free))
    assert judge_folder("ITEMS_DIR", tmp_path / "not" / "there").state is state


def test_a_folder_that_can_not_be_written_to(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    assert judge_folder("ITEMS_DIR", tmp_path / "file" / "items").state is State.STOPS
    monkeypatch.setattr(disk.os, "access", lambda *_: False)  # root may write anywhere
    finding = judge_folder("JOBDIR", tmp_path / "jobs")
    assert (finding.state, finding.text.startswith(f"JOBDIR: {tmp_path} can't be written to")) == (State.STOPS, True)


async def test_a_disk_that_does_not_answer(monkeypatch, tmp_path):
    """As that of a file server which is away: its folder is told, and no other check waits for it."""
    hangs = threading.Event()
    monkeypatch.setattr(disk, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: hangs.wait())
    settings = {"ITEM_SINKS": "files", "ITEMS_DIR": str(tmp_path), "FILES_STORE": ""}
    finding = await disk.disk(settings)
    hangs.set()
    assert (finding.state, "doesn't answer within 0.05 s" in finding.text) == (State.STOPS, True), finding


@pytest.mark.parametrize(
    ("concern", "members", "state"),
    [
        ({"w": "majority"}, 1, State.OK),
        ({"w": 2}, 3, State.OK),
        ({"w": 1, "j": True}, 1, State.OK),
        ({"w": 1, "j": True}, 3, State.LOSS),  # on one member's disk, and a failover goes to another
        ({"w": 2}, 5, State.LOSS),
        ({"w": 0}, 3, State.LOSS),
        ({"w": "majority", "j": False}, 3, State.LOSS),
    ],
)
def test_a_write_that_a_failover_would_lose_is_a_loss(concern, members, state):
    assert judge_write_concern(concern, members).state is state


@pytest.mark.parametrize(
    ("hello", "members", "state"),
    [
        ({"setName": "rs0"}, 3, State.OK),
        ({"msg": "isdbgrid"}, 1, State.OK),
        ({"setName": "rs0"}, 1, State.BETTER),
        ({}, 1, State.BETTER),
    ],
)
def test_a_mongo_without_copies_could_be_better(hello, members, state):
    assert judge_replicas(hello, members).state is state


SAFE = {"replicas": 3, "in_sync": 3, "in_sync_min": 2, "message_max_bytes": 2_000_000, "loses_leaders": False}


@pytest.mark.parametrize(
    ("change", "state", "said"),
    [
        ({}, State.OK, "3 copies or more, of which 2 acknowledge"),
        ({"in_sync_min": 1}, State.BETTER, "topic items.a acknowledges an item that one broker alone has"),
        ({"in_sync": 2}, State.BETTER, "topic items.a has 2 of its 3 copies in sync: see which broker is away"),
        ({"in_sync": 1}, State.STOPS, "topic items.a wants 2 copies in sync, and 1 are: it takes nothing until"),
        ({"in_sync": 0, "in_sync_min": None}, State.STOPS, "wants 1 copies in sync, and 0 are"),
        ({"replicas": 1, "in_sync": 1, "in_sync_min": 1}, State.BETTER, "has one copy: a power cut or a lost disk"),
        ({"in_sync_min": 4}, State.STOPS, "wants 4 copies in sync (min.insync.replicas) and has 3: it takes nothing"),
        ({"loses_leaders": True}, State.LOSS, "set unclean.leader.election.enable=false"),
        ({"in_sync_min": None}, State.NOT_TRIED, "may not read its configuration (DescribeConfigs)"),
    ],
)
async def test_copies_of_a_topic(change, state, said):
    examined = ExaminedKafka("here", 3, (Topic("items.b", **SAFE), Topic("items.a", **SAFE | change)), 2, {})
    finding = await kafka_brokers.replication(examined)
    assert (finding.state, said in finding.text) == (state, True), finding


async def test_a_topic_that_can_not_be_made():
    refused = {"items.a": "TopicAuthorizationFailedError"}
    finding = await kafka_brokers.topics(ExaminedKafka("here", 3, (), 5, {}, "KafkaTimeoutError"))
    assert (finding.state, "KafkaTimeoutError" in finding.text) == (State.NOT_TRIED, True)
    finding = await kafka_brokers.topics(ExaminedKafka("here", 3, (), 5, refused))
    assert finding.state is State.LOSS
    assert finding.text.startswith(
        "topic items.a isn't there and can't be made (TopicAuthorizationFailedError; so are 1"
    )


NO_NAME = "x" * 70 + ".invalid"  # a label of more than 63 characters, so that nobody is asked for it
LOCAL, UNKNOWN, ADDRESS = "https://localhost", f"https://{NO_NAME}", "https://127.0.0.1"


@pytest.mark.parametrize(
    ("environment", "origins", "state", "said"),
    [
        ({}, [ADDRESS, ""], State.NOT_TRIED, "the hosts of stored sites are addresses"),
        ({}, [""], State.NOT_TRIED, "no stored site has a host to look up"),
        ({}, [LOCAL], State.OK, "found: localhost"),
        ({}, [LOCAL, UNKNOWN], State.BETTER, "not found within 3 s: xxx"),
        ({}, [UNKNOWN], State.STOPS, "see /etc/resolv.conf"),
        ({"https_proxy": "http://user:hunter22@localhost:3128"}, [UNKNOWN], State.OK, "found: localhost"),
        ({"https_proxy": "localhost:3128"}, [UNKNOWN], State.OK, "found: localhost"),
        ({"https_proxy": f"http://{NO_NAME}:3128"}, [LOCAL], State.STOPS, "see /etc/resolv.conf"),
        ({"https_proxy": "http://127.0.0.1:3128"}, [UNKNOWN], State.NOT_TRIED, "there is no name to look up"),
        ({"https_proxy": "127.0.0.1:3128"}, [], State.NOT_TRIED, "there is no name to look up"),
        ({"https_proxy": "socks5://127.0.0.1:1080"}, [LOCAL], State.STOPS, "a proxy of the environment is socks5"),
        # Of the other scheme, or of none:
        ({"http_proxy": "http://127.0.0.1:3128"}, [UNKNOWN], State.STOPS, "see /etc/resolv.conf"),
        ({"https_proxy": "http://127.0.0.1:3128", "no_proxy": NO_NAME}, [UNKNOWN], State.STOPS, "see /etc/resolv.conf"),
        ({"https_proxy": "http://127.0.0.1:3128", "no_proxy": "localhost"}, [LOCAL, UNKNOWN], State.OK, "found: local"),
    ],
)
async def test_names_of_hosts_and_of_proxies(monkeypatch, environment, origins, state, said):
    async def stored(_settings):
        return dict(enumerate(origins))

    monkeypatch.setattr(dns_check, "stored_sites", stored)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    finding = await dns_check.dns({})
    assert (finding.state, said in finding.text) == (state, True), finding


@pytest.mark.process
async def test_hosts_of_stored_sites(redis, own_redis):
    keys = Keys("hr")
    definitions = {
        "with_base": {"name": "with_base", "base": "https://base.test/forum"},
        "searched": {
            "name": "searched",
            "search": {"url": "https://searched.test/?q={query}"},
            "results": {"links": "css:a"},
        },
        "anywhere": {"name": "anywhere"},
    }
    for name, definition in definitions.items():
        redis.hset(keys.sites, name, orjson.dumps({"version": 1, "definition": definition}))
    redis.hset(keys.sites, "damaged", b"{")
    async with Redis(port=own_redis.port) as client:
        origins = await Registry(client, keys, 1).site_origins()
    assert origins == {
        "with_base": "https://base.test",
        "searched": "https://searched.test",
        "anywhere": "",
        "damaged": "",
    }


@pytest.mark.parametrize(
    ("lack", "state", "advice_word"),
    [
        ({}, State.OK, "namespace of its own"),
        ({"is_root": True}, State.BETTER, "another user"),
        ({"has_namespace": False}, State.BETTER, "user namespaces"),
        ({"has_fonts": False}, State.BETTER, "fonts-noto-core"),
    ],
)
def test_what_a_browser_lacks_is_told(lack, state, advice_word):
    finding = judge_browser("Chromium", **({"has_namespace": True, "is_root": False, "has_fonts": True} | lack))
    assert finding.state is state
    assert advice_word in finding.text


@pytest.mark.parametrize("path", ["/nowhere/chromium", "/bin/false"])
async def test_a_node_without_a_browser_is_told_what_that_means(path):
    finding = await browser({"BROWSER_PATH": path})
    assert finding.state is State.BETTER
    assert "claims none that must be" in finding.text
    assert path in finding.text
