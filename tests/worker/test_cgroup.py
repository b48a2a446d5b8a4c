"""The limits of cgroups, of both versions, at any level."""

from __future__ import annotations

import pytest

from crawler.worker.cgroup import Cgroups
from crawler.worker.headroom import Sampler

MIB = 2**20
V1 = {
    "proc/self/cgroup": "4:memory:/pods/one\n1:cpu,cpuacct:/pods/one\n0::/",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    "sys/fs/cgroup/memory/pods/memory.limit_in_bytes": str(400 * MIB),
    "sys/fs/cgroup/memory/pods/memory.usage_in_bytes": str(300 * MIB),
    "sys/fs/cgroup/memory/pods/memory.stat": f"cache 5\ntotal_inactive_file {100 * MIB}",
    "sys/fs/cgroup/memory/pods/one/memory.limit_in_bytes": "9223372036854771712",
    "sys/fs/cgroup/cpu,cpuacct/pods/one/cpu.cfs_quota_us": "50000",
    "sys/fs/cgroup/cpu,cpuacct/pods/one/cpu.cfs_period_us": "100000",
}
V2 = {
    "proc/self/cgroup": "0::/pods/one",
    "sys/fs/cgroup/pods/memory.max": "max",
    "sys/fs/cgroup/pods/one/memory.max": str(800 * MIB),
    "sys/fs/cgroup/pods/one/memory.high": str(400 * MIB),
    "sys/fs/cgroup/pods/one/memory.current": str(300 * MIB),
    "sys/fs/cgroup/pods/one/memory.stat": f"anon 5\ninactive_file {100 * MIB}",
    "sys/fs/cgroup/pods/cpu.max": "50000 100000",
    "sys/fs/cgroup/pods/one/cpu.max": "max 100000",
}


@pytest.fixture
def cgroups(tmp_path):
    def build(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return Cgroups(tmp_path)

    return build


@pytest.mark.parametrize("files", [V1, V2], ids=["v1", "v2"])
def test_the_tightest_limit_on_the_way_to_the_root_counts(cgroups, files):
    found = cgroups(files)
    assert (found.memory_limit(), found.memory_percent(), found.cores()) == (400 * MIB, 50.0, 0.5)


def test_a_path_that_is_not_there_is_the_container_s_own_root(cgroups):
    files = {name.replace("/pods/one/", "/"): text for name, text in V2.items() if "pods/" not in name or "one" in name}
    found = cgroups(files)
    assert (found.memory_limit(), found.memory_percent()) == (400 * MIB, 50.0)


def test_without_limits_there_is_none(cgroups):
    found = cgroups({"proc/self/cgroup": "0::/"})
    assert (found.memory_limit(), found.memory_percent(), found.cores(), found.cpu_percent()) == (None,) * 4


def test_the_use_of_a_quota_is_measured_between_two_calls(cgroups, tmp_path, monkeypatch):
    found = cgroups(V2 | {"sys/fs/cgroup/pods/one/cpu.stat": "usage_usec 1000000"})
    monkeypatch.setattr("crawler.worker.cgroup.time.monotonic", lambda: 10.0)
    assert found.cpu_percent() is None
    (tmp_path / "sys/fs/cgroup/pods/one/cpu.stat").write_text("usage_usec 1500000")
    monkeypatch.setattr("crawler.worker.cgroup.time.monotonic", lambda: 12.0)
    assert found.cpu_percent() == 50.0


def test_a_worker_s_load_is_that_of_its_container(cgroups):
    load = Sampler(cgroups(V2)).sample()
    assert load.memory >= 50.0
    assert load.own_memory > 5.0  # of 400 MiB
