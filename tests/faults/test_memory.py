"""A worker in a container that has far less memory than the machine."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest
from faults.rig import FULL
from needs import need, started

from testbed.servers.many_hosts import ManyHosts

pytestmark = pytest.mark.faults

MIB = 2**20
LIMIT_MIB = 512
HOSTS, PAGES = 40, 2_000 if FULL else 200
PAGE_KIB = 8_192  # 64 of them at once, as CONCURRENT_REQUESTS has it, are all the memory there is
CRAWL_SECONDS = 1_200.0 if FULL else 600.0
LOOK_SECONDS = 0.25
DEFAULT_PERCENT = 90  # other tests set no limit, because of what runs beside them
MEMORY = Path("/sys/fs/cgroup/memory")  # of version 1, where one's own group may make others below it


class MemoryCgroup:
    """A memory cgroup of one's own; what is started `under` it may use LIMIT_MIB and is killed beyond that."""

    def __init__(self, folder):
        self.folder = folder
        self.under = ["sh", "-c", f'echo $$ > {folder / "cgroup.procs"} && exec "$@"', "sh"]

    def used(self):
        """Returns the bytes that its processes use, without files that the kernel drops when there is need."""
        return self._stat("memory.stat", "total_rss")

    def kills(self):
        """Returns how many processes the kernel has killed for want of memory."""
        return self._stat("memory.oom_control", "oom_kill")

    def _stat(self, file, name):
        return int(dict(line.split() for line in (self.folder / file).read_text().splitlines())[name])


@pytest.fixture
def cgroup():
    own = next((line for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line), "::/")
    folder = MEMORY / own.split(":", 2)[2].strip("/") / f"headroom-{uuid.uuid4().hex}"
    try:
        folder.mkdir()
        (folder / "memory.limit_in_bytes").write_text(str(LIMIT_MIB * MIB))
    except OSError as error:
        need(f"a memory cgroup of one's own: {error}")
    yield MemoryCgroup(folder)
    folder.rmdir()


@pytest.fixture
def heavy_web(tmp_path):
    with started(ManyHosts, tmp_path, 1, HOSTS) as server:
        yield server


def test_a_crawl_of_heavy_pages_in_512_mib(row, cgroup, files_rig, heavy_web):
    """It ends by itself, unkilled: it asks for no more pages at once than its container bears."""
    rig = files_rig
    rig.site(concurrency=4)
    hosts = heavy_web.hosts
    rig.offer([f"http://{hosts[n % HOSTS]}/page/{n}?kib={PAGE_KIB}" for n in range(PAGES)], "s")
    began = time.monotonic()
    worker = rig.worker(under=cgroup.under, STOP_WHEN_DONE=1, NODE_MEMORY_LIMIT_PERCENT=DEFAULT_PERCENT)
    peak, workers = 0, []
    while worker.running and time.monotonic() - began < CRAWL_SECONDS:
        peak = max(peak, cgroup.used())
        workers += [shown for shown in rig.workers() if shown["room"] is not None]
        time.sleep(LOOK_SECONDS)
    took_s, kills = time.monotonic() - began, cgroup.kills()
    status = worker.stop()
    row(
        f"{PAGES:,} pages of {PAGE_KIB // 1024} MiB in {LIMIT_MIB} MiB",
        rig.audit(),
        killed=kills,
        peak_mib=peak // MIB,
        memory_percent_in_nodes=f"{max(node['memory_percent'] for node in workers):.0f}",
        room_in_nodes=f"{min(node['room'] for node in workers)} to {max(node['room'] for node in workers)}",
        ended_after_s=f"{took_s:.0f}",
    )
    assert (status, kills) == (0, 0)
    assert took_s < CRAWL_SECONDS
    assert rig.counts()["finished"] == PAGES
