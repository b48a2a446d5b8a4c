"""A hostile server on the wire: one worker meets all of it at once, each page ends as its line says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_cases import CASES, FINISH
from hostile.hostile_wire_worker import PAGE_S, TIMEOUT_S, TROUBLE, Worker, hosts
from waiting import until

pytestmark = pytest.mark.faults  # most servers here are waited for

LATE_S = 8.0  # so much later than its limit a page may end on a busy machine
BLAMED = {"EGRESS_DOUBT_SECONDS": 0}  # where nearly no host answers, each is at fault, not the worker's way out
PATIENCE = {"DOWNLOAD_TIMEOUT": 50, "PAGE_SECONDS": 55}  # for what ends by what the server says, however busy we are
MAX_GROWTH_BYTES = 150 * 1024 * 1024  # of the worker's peak memory, over all cases at the same time


@pytest.fixture(scope="module")
def met(fork_server, redis_server, tmp_path_factory):
    """What came of it, when one worker met all cases that end by what the server says, and one those that end by time.

    Each met its cases at the same time, and a good page before and after.
    """
    met = SimpleNamespace(ended={}, good=[], growth_bytes=0, hosts={}, lives=True, log="", items={})
    for is_slow, settings in ((False, PATIENCE), (True, BLAMED)):
        cases = [case for case in CASES if case.slow == is_slow]
        scripts = [{"script": case.script, "robots": case.robots} for case in cases]
        worker = Worker(fork_server, redis_server, tmp_path_factory.mktemp("hostile-wire"), settings)
        with hosts(*({"script": lambda _path: [answer()]},) * 2, *scripts) as (before, after, *bad), worker:
            met.good += worker.outcomes([before.page]).values()
            peak_before = worker.peak_bytes
            ended = worker.outcomes([host.page for host in bad])
            met.good += worker.outcomes([after.page]).values()
            until(lambda bad=bad: all(one.ended for host in bad for one in host.asked), "the end of all connections")
            met.growth_bytes = max(met.growth_bytes, worker.peak_bytes - peak_before)
            met.lives = met.lives and worker.process.running
            met.log += worker.log
            met.items |= {item["url"]: item for item in worker.items()}
            for case, host in zip(cases, bad, strict=True):
                met.ended[case.name], met.hosts[case.name] = ended[host.page], host
    return met


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_ends_as_it_says_and_in_time(met, case):
    assert met.ended[case.name] == case.ends
    asked = met.hosts[case.name].asked
    assert asked
    if not case.slow:
        return
    limit_s = PAGE_S if case.ends == "page-timeout" else TIMEOUT_S
    if case.ends == "page-timeout":
        assert asked[-1].ended - asked[0].begun < limit_s + LATE_S
    for one in asked:
        assert one.ended - one.begun < limit_s + LATE_S


def test_the_worker_lives_on_in_bounded_memory(met):
    assert met.lives
    assert met.good == [FINISH] * 4
    assert met.growth_bytes < MAX_GROWTH_BYTES


def test_nothing_that_a_server_says_is_an_error_of_ours(met):
    assert not TROUBLE.search(met.log), [line for line in met.log.splitlines() if TROUBLE.search(line)][:5]


def test_media_that_are_hostile_are_named_in_the_item_with_the_reason(met):
    item = met.items[met.hosts["hostile-media"].page]
    assert {image["url"].rpartition("/")[2]: image["error"] for image in item["images"]} == {
        "bomb.png": "too-large",
        "odd.png": "bad-response",
        "headers.png": "bad-response",
    }


def test_media_that_never_come_are_left_out(met):
    [image] = met.items[met.hosts["media-that-never-comes"].page]["images"]
    assert image["error"] in ("timeout", "page-timeout")  # the page's time may be up during a later try


def test_media_past_the_time_of_their_page_are_left_out_and_the_page_is_kept(met):
    item = met.items[met.hosts["slow-media"].page]
    errors = [image["error"] for image in item["images"]]
    assert len(errors) == 6
    assert set(errors) == {None, "page-timeout"}


def test_what_finished_is_a_page(met):
    finished = [host.url for name, host in met.hosts.items() if met.ended[name] == FINISH]
    for url in finished:
        item = next(item for item in met.items.values() if item["url"].startswith(url + "/"))
        assert "long enough to be one" in item["content"], url


def test_a_site_s_cookies_are_its_own(fork_server, redis_server, tmp_path):
    cookies = b"Set-Cookie: own=secret\r\nSet-Cookie: wide=secret; Domain=%b\r\nSet-Cookie: all=secret; Domain=."
    steps = {}
    with (
        hosts({"script": lambda _path: [answer()], "address": "127.0.0.2"}, (lambda path: [steps[path]],)) as servers,
        Worker(fork_server, redis_server, tmp_path, {"COOKIES_ENABLED": 1}) as worker,
    ):
        there, here = servers
        steps["/page"] = answer(b"", b"Location: /in", cookies % there.address.encode(), status=b"302 Found")
        steps["/in"] = answer(b"", b"Location: " + there.page.encode(), status=b"302 Found")
        assert worker.outcomes([here.page]) == {here.page: FINISH}
        assert [item["url"] for item in worker.items()] == [there.page]
    assert [one.path for one in here.pages()] == ["/page", "/in"]
    assert b"own=secret" in here.pages()[1].head
    for one in there.asked:
        assert b"secret" not in one.head
        assert b"\r\nCookie:" not in one.head
        assert b"Authorization" not in one.head
