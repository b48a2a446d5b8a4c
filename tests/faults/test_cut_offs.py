"""One worker of two is cut off from one thing alone: the other does the work, nothing fails, and it joins in again."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from faults.rig import FULL
from faults.wire import Wire
from waiting import until

pytestmark = pytest.mark.faults

CUT_SECONDS = 60.0 if FULL else 8.0
PAGES = 3_000 if FULL else 600
SETTINGS = {"CONCURRENT_REQUESTS": 8, "DOWNLOAD_TIMEOUT": 2}  # fewer than the turns, so that both workers get some


def through_the_cut(rig, wire, lonely):
    """Cuts one worker off while both crawl; returns how many pages ended meanwhile, and whether it works again."""
    rig.joined(1, **SETTINGS)
    rig.until_joined(lonely)
    rig.offer(rig.origin.urls(PAGES, "slow"), site="paced")
    until(lambda: rig.ended() >= PAGES // 20, "pages")
    ended, cut = rig.ended(), time.monotonic()
    wire.cut()
    until(lambda: time.monotonic() - cut > CUT_SECONDS, "the wire to be mended", CUT_SECONDS + 10)
    meanwhile = rig.ended() - ended
    wire.mend()
    log = rig.origin.size()
    rig.offer(rig.origin.urls(PAGES, "slow", first=PAGES), site="paced")
    until(lambda: any(agent == lonely.name for *_, agent, _ in rig.origin.requests(log)), "it to work again")
    rig.until_done(360)
    return meanwhile


def hold(rig, row, fault, meanwhile):
    """Says what came of it, and holds it against the promise."""
    failed = rig.counts()["failed"]
    row(fault, rig.audit(), failed=failed, pages_meanwhile=meanwhile)
    assert failed == 0
    assert meanwhile > 0
    assert all(worker.running for worker in rig.started)


def test_a_worker_is_cut_off_from_the_web(files_rig, row):
    """What it holds times out on it alone: that is no fault of the pages."""
    with closing(Wire(files_rig.origin.ports[0])) as wire:
        lonely = files_rig.worker(environment={"http_proxy": f"http://127.0.0.1:{wire.port}"}, **SETTINGS)
        meanwhile = through_the_cut(files_rig, wire, lonely)
    hold(files_rig, row, f"worker and the web cut off for {CUT_SECONDS:g} s", meanwhile)


@pytest.mark.parametrize("fault", [Wire.cut, Wire.refuse], ids=["nothing comes back", "connections are refused"])
def test_the_only_worker_s_way_out_is_lost_for_a_while(files_rig, row, fault):
    """There is nobody to compare with; the worker waits, fails no page, and goes on by itself."""
    rig = files_rig
    with closing(Wire(rig.origin.ports[0])) as wire:
        worker = rig.worker(environment={"http_proxy": f"http://127.0.0.1:{wire.port}"}, **SETTINGS)
        rig.offer(rig.origin.urls(PAGES, "slow"), site="paced")
        until(lambda: rig.ended() >= PAGES // 20, "pages")
        fault(wire)
        until(lambda: any(one["egress_down_s"] for one in rig.workers()), "the worker's own word for it")
        cut = time.monotonic()
        until(lambda: time.monotonic() - cut > CUT_SECONDS, "the wire to be mended", CUT_SECONDS + 10)
        wire.mend()
        mended, ended = time.monotonic(), rig.ended()
        until(lambda: rig.ended() > ended, "it to work again")
        works_after_s = f"{time.monotonic() - mended:.1f}"
        rig.until_done(360)
    row(f"the only worker's way out: {fault.__name__} for {CUT_SECONDS:g} s", rig.audit(), works_after_s=works_after_s)
    counts = rig.counts()
    assert (counts["failed"], counts["finished"]) == (0, PAGES)
    assert worker.running


def test_a_worker_is_cut_off_from_its_sink(rig, row):
    """It keeps what it has fetched until it can deliver, and claims no more."""
    with closing(Wire(rig.mongo_server.port)) as wire:
        lonely = rig.worker(environment={"MONGO_URL": f"mongodb://127.0.0.1:{wire.port}"}, **SETTINGS)
        meanwhile = through_the_cut(rig, wire, lonely)
    hold(rig, row, f"worker and Mongo cut off for {CUT_SECONDS:g} s", meanwhile)
