"""The limits of cgroups, of both versions, at any level."""

from __future__ import annotations

import os

import pytest

from crawler.worker.life.cgroup import Cgroups
from crawler.worker.life.load import Sampler

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


@pytest.mark.parametrize("names", ["cpu,cpuacct", "cpuacct,cpu"])
def test_version_1_may_name_a_mount_in_another_order_than_its_folder(cgroups, names):
    files = {name.replace("cpu,cpuacct", "cpu"): text for name, text in V1.items()}
    assert cgroups(files | {"proc/self/cgroup": f"1:{names}:/pods/one"}).cores() == 0.5


def test_a_limit_above_what_a_container_sees_counts(cgroups):
    folder = "sys/fs/cgroup/memory"
    found = cgroups(
        {
            "proc/self/cgroup": "4:memory:/pods/one",  # which isn't there: the mount's root is the container's group
            f"{folder}/memory.limit_in_bytes": "9223372036854771712",
            f"{folder}/memory.usage_in_bytes": str(100 * MIB),
            f"{folder}/memory.stat": f"hierarchical_memory_limit {400 * MIB}\ntotal_inactive_file 0",
        }
    )
    assert (found.memory_limit(), found.memory_percent()) == (400 * MIB, 25.0)


@pytest.fixture
def clock(monkeypatch):
    """Returns a function that sets the time by which use is measured."""

    def set_to(seconds):
        monkeypatch.setattr("crawler.worker.life.cgroup.time.monotonic", lambda: seconds)

    return set_to


def test_the_use_of_a_quota_is_measured_between_two_calls(cgroups, tmp_path, clock):
    use = tmp_path / "sys/fs/cgroup/pods/cpu.stat"
    found = cgroups(V2 | {"sys/fs/cgroup/pods/cpu.stat": "usage_usec 1000000"})
    clock(10.0)
    assert found.cpu_percent() is None
    use.write_text("usage_usec 1500000")
    clock(12.0)
    assert found.cpu_percent() == 50.0


def test_a_quota_that_several_share_is_held_against_what_all_of_them_use(cgroups, tmp_path, clock):
    slice_use, own_use = (tmp_path / f"sys/fs/cgroup/pods/{name}cpu.stat" for name in ("", "one/"))
    found = cgroups(
        V2
        | {f"sys/fs/cgroup/pods/{name}cpu.stat": "usage_usec 0" for name in ("", "one/")}
        # its own is looser, and has time left
        | {"sys/fs/cgroup/pods/one/cpu.max": "100000 100000"}
    )
    clock(10.0)
    found.cpu_percent()
    slice_use.write_text("usage_usec 1000000")
    own_use.write_text("usage_usec 200000")
    clock(12.0)
    assert found.cpu_percent() == 100.0


def test_version_1_may_count_use_elsewhere_than_where_quotas_are(cgroups, tmp_path, clock):
    use = tmp_path / "sys/fs/cgroup/cpuacct/pods/one/cpuacct.usage"
    found = cgroups(
        {
            "proc/self/cgroup": "2:cpuacct:/pods/one\n1:cpu:/pods/one",
            "sys/fs/cgroup/cpu/pods/one/cpu.cfs_quota_us": "150000",
            "sys/fs/cgroup/cpu/pods/one/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpuacct/pods/one/cpuacct.usage": "0",
        }
    )
    clock(10.0)
    assert (found.cores(), found.cpu_percent()) == (1.5, None)
    use.write_text("3000000000")
    clock(14.0)
    assert found.cpu_percent() == 50.0


def test_a_worker_s_load_is_that_of_its_container(cgroups):
    load = Sampler(cgroups(V2)).sample()
    assert load.memory >= 50.0
    assert load.own_memory > 5.0  # of 400 MiB


def test_a_limit_that_changes_is_followed(cgroups, tmp_path):
    sampler = Sampler(cgroups(V2))
    assert (sampler.memory_bytes, sampler.cores) == (400 * MIB, 0.5)
    (tmp_path / "sys/fs/cgroup/pods/one/memory.high").write_text("max")
    (tmp_path / "sys/fs/cgroup/pods/cpu.max").write_text("25000 100000")
    sampler.sample()
    assert (sampler.memory_bytes, sampler.cores) == (800 * MIB, 0.25)


def test_processors_that_it_may_not_run_on_are_none_of_its_own(cgroups):
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        sampler = Sampler(cgroups({"proc/self/cgroup": "0::/"}))
        assert sampler.cores == 1
        assert 0 <= sampler.sample().cpu <= 100
    finally:
        os.sched_setaffinity(0, allowed)
