"""Clocks that are wrong: of the nodes, which count for nothing, and Redis's, which is set while the crawl runs."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import defaultdict
from contextlib import closing
from itertools import pairwise

import pytest
from faults.rig import FULL, Rig, in_time
from needs import need, started
from waiting import until

from testbed.servers import Redis

pytestmark = pytest.mark.faults

SEEDS = 3_000 if FULL else 300
SESSION_SECONDS = 8.0  # a busy machine may hold a heartbeat up for seconds: that would be no clock's fault
SHARED = {"SESSION_SECONDS": SESSION_SECONDS, "CONCURRENT_REQUESTS": 8}  # fewer than the turns there are: both get some
WALL_CLOCK_ALONE = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}  # as on a node that is set wrong
POLITE_DELAY_SECONDS = 0.5  # sites/polite.yaml
POLITE_SEEDS = 400 if FULL else 120
TOLERANCE_SECONDS = 0.05  # between a worker's clock at the send and the origin's at the receipt
STEP_SECONDS = 60
LATE_SECONDS = 10  # a dead worker's session of 3 s, and a busy machine


def need_faketime():
    if shutil.which("faketime") is None:
        need("faketime isn't installed (Debian: faketime)")


@pytest.mark.parametrize("wrong", ["+5m", "-5m"] if FULL else ["+5m"])
def test_a_clock_is_off_by_five_minutes(files_rig, row, wrong):
    """It takes nothing from the living, and gives up nothing early; when its worker dies, others take over."""
    rig = files_rig
    need_faketime()
    log = rig.origin.size()
    odd = rig.worker(under=["faketime", "-f", wrong], environment=WALL_CLOCK_ALONE, **SHARED)
    (right,) = rig.joined(1, **SHARED)
    rig.until_joined(odd)
    rig.offer(rig.origin.urls(SEEDS, "slow"), site="paced")
    until(lambda: {agent for *_, agent, _ in rig.origin.requests(log)} >= {odd.name, right.name}, "both at work")
    until(lambda: rig.ended() >= SEEDS // 3, "pages", 300)
    early, lost = rig.counts()["reclaimed"], right.log.read_text().count("was lost")
    odd.kill()
    killed = time.monotonic()
    taken_s = until(lambda: rig.counts()["reclaimed"] and time.monotonic() - killed, "its seeds to be reclaimed")
    rig.until_done(300)
    figures = {"reclaimed_early": early, "sessions_lost": lost, "reclaimed_after_a_kill_s": f"{taken_s:.1f}"}
    row(f"a node's clock off by {wrong}", rig.audit(), **figures)
    assert (early, lost) == (0, 0)


class SetRedis(Redis):
    """A Redis whose wall clock can be set while it runs."""

    def __init__(self, folder):
        super().__init__(folder)
        self._ahead = folder / "ahead"
        self.set_clock(0)
        library = subprocess.run(["faketime", "-f", "+0", "printenv", "LD_PRELOAD"], check=True, capture_output=True)
        own = {"LD_PRELOAD": library.stdout.decode().strip(), "FAKETIME_TIMESTAMP_FILE": str(self._ahead)}
        self._environment |= WALL_CLOCK_ALONE | own | {"FAKETIME_NO_CACHE": "1"}

    def set_clock(self, ahead_s):
        """Sets the clock so many seconds from the machine's; Redis may read the old one once more."""
        whole = self._ahead.with_suffix(".new")
        whole.write_text(f"{ahead_s:+d}\n")
        whole.replace(self._ahead)


@pytest.fixture
def set_redis(tmp_path):
    need_faketime()
    with started(SetRedis, tmp_path) as server:
        yield server


@pytest.fixture
def set_rig(fork_server, tmp_path, origin, set_redis):
    with closing(Rig(fork_server, tmp_path, origin, set_redis)) as rig:
        yield rig


def test_redis_s_clock_is_set_back_while_a_worker_dies(set_rig, set_redis, row):
    """The crawl ends about when it would have, the dead worker's pages with it, and no host's delay is cut short."""
    rig = set_rig
    log = rig.origin.size()
    workers = rig.joined(3)
    rig.offer(rig.origin.urls(POLITE_SEEDS), site="polite")
    until(lambda: {agent for *_, agent, _ in rig.origin.requests(log)} >= {one.name for one in workers}, "all at work")
    begun = time.monotonic()
    left = POLITE_SEEDS - rig.ended()
    workers[0].kill()
    set_redis.set_clock(-STEP_SECONDS)
    until(lambda: time.time() - rig.redis.time()[0] > STEP_SECONDS - 1, "Redis's clock to be set back")
    rig.until_done(300)
    late_s = time.monotonic() - begun - left / len(rig.origin.ports) * POLITE_DELAY_SECONDS
    asked = defaultdict(list)
    for at, port, *_ in rig.origin.requests(log):
        asked[port].append(at)
    shortest_s = min(later - earlier for times in asked.values() for earlier, later in pairwise(times))
    lost_sessions = sum(one.log.read_text().count("was lost") for one in workers[1:])
    figures = {"late_s": f"{late_s:.1f}", "shortest_gap_s": f"{shortest_s:.2f}", "sessions_lost": lost_sessions}
    row(f"Redis's clock set back by {STEP_SECONDS} s, a worker killed", rig.audit(), **figures)
    assert lost_sessions == 0
    assert shortest_s >= POLITE_DELAY_SECONDS - TOLERANCE_SECONDS
    assert in_time(late_s, LATE_SECONDS)
