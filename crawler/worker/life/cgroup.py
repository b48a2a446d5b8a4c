"""What the cgroups of this process, such as a container's, leave it of the machine: memory and CPU time.

Both versions of cgroups are read. A limit may stand at any level between the process's own group and the root, and all
of them count, each against what its own group uses: a slice's quota is shared by all that runs in the slice. Within a
container the path that the kernel names may not be there; then the mount's root is the group. A limit may change while
a process runs, so it is read whenever it is asked for.

Source: the kernel's documentation, admin-guide/cgroup-v1/memory.rst and admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

MOUNT = "sys/fs/cgroup"


class _Version(NamedTuple):
    """Names of the files of one version; those of a limit are tried one after the other."""

    memory_limits: tuple[str, ...]
    memory_used: str
    inactive: str  # the field in memory.stat that counts pages of files which can go at any time
    # The field in memory.stat with the tightest limit up to the root, even above what a container sees.
    limit_above: str
    cpu_used: str


class _CpuGroup(NamedTuple):
    """One level that may have a quota, and where its use is counted: version 1 may have two mounts for the two."""

    quota: Path
    use: Path
    version: _Version


UNLIMITED_BYTES = 2**62  # a limit from here on is none: version 1 has a number near 2**63 in its place
V1 = _Version(
    ("memory.limit_in_bytes",),
    "memory.usage_in_bytes",
    "total_inactive_file",
    "hierarchical_memory_limit",
    "cpuacct.usage",
)
V2 = _Version(("memory.max", "memory.high"), "memory.current", "inactive_file", "", "cpu.stat")


class Cgroups:
    """The cgroups of this process.

    Args:
        root: Where `proc` and `sys` are.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        mounts = root / MOUNT
        unified = [folder for folder in (mounts, mounts / "unified") if folder.is_dir()]
        self._memory: list[tuple[Path, _Version]] = []
        self._cpu: list[_CpuGroup] = []
        # By each group with a quota: the CPU time that it had used at the last call.
        self._used_s: dict[Path, float] = {}
        self._used_at = 0.0  # when the last call was, by the monotonic clock
        for line in _text(root / "proc/self/cgroup").splitlines():
            _number, names, path = line.split(":", 2)
            controllers = names.split(",")
            if not names:
                for level in (level for mount in unified for level in _levels(mount, path)):
                    self._memory.append((level, V2))
                    self._cpu.append(_CpuGroup(level, level, V2))
            if "memory" in controllers:
                self._memory += [(level, V1) for level in _levels(_mount_v1(mounts, names, "memory"), path)]
            if "cpu" in controllers:
                quotas = _mount_v1(mounts, names, "cpu")
                uses = quotas if "cpuacct" in controllers else mounts / "cpuacct"
                for level in _levels(quotas, path):
                    self._cpu.append(_CpuGroup(level, uses / level.relative_to(quotas), V1))

    def memory_percent(self) -> float | None:
        """Returns how much of the tightest limit is used, without the files that can go; None: there is no limit."""
        return max((100 * used / limit for used, limit in self._limited_memory()), default=None)

    def memory_limit(self) -> int | None:
        """Returns the tightest limit in bytes; None: there is none."""
        return min((limit for _used, limit in self._limited_memory()), default=None)

    def cores(self) -> float | None:
        """Returns how many cores' time the tightest quota grants; None: there is none."""
        return min((cores for group in self._cpu if (cores := _quota(group)) is not None), default=None)

    def cpu_percent(self) -> float | None:
        """Returns how much was used since the last call of the quota that is nearest to its end.

        None: there is no quota, nothing counts its use, or there was no call before.
        """
        now, before = time.monotonic(), self._used_s
        elapsed_s, self._used_at, self._used_s = now - self._used_at, now, {}
        percents = []
        for group in self._cpu:
            cores, used_s = _quota(group), _cpu_used_s(group)
            if cores is None or used_s is None:
                continue
            self._used_s[group.use] = used_s
            if group.use in before and elapsed_s > 0:
                percents.append(100 * (used_s - before[group.use]) / elapsed_s / cores)
        return max(percents, default=None)

    def _limited_memory(self) -> list[tuple[int, int]]:
        """Returns the bytes used and the limit of each group that has one."""
        return [memory for group in self._memory if (memory := _memory_used(*group)) is not None]


def _mount_v1(mounts: Path, names: str, controller: str) -> Path:
    """Returns where the groups of a controller are: mounts may name theirs in another order than the kernel."""
    return mounts / names if (mounts / names).is_dir() else mounts / controller


def _levels(mount: Path, path: str) -> list[Path]:
    """Returns the process's group and those above it, as far as they are there; the mount's root is the last."""
    own = mount / path.strip("/")
    return [level for level in (own, *own.parents) if level.is_relative_to(mount) and level.is_dir()]


def _memory_used(level: Path, version: _Version) -> tuple[int, int] | None:
    """Returns the bytes used and the limit of one group; None: it has no limit."""
    details = _fields(level / "memory.stat")
    limits = [int(text) for name in version.memory_limits if (text := _text(level / name)).isdigit()]
    limits.append(details.get(version.limit_above, UNLIMITED_BYTES))
    limit = min((limit for limit in limits if 0 < limit < UNLIMITED_BYTES), default=None)
    used = _text(level / version.memory_used)
    if limit is None or not used.isdigit():
        return None
    return max(0, int(used) - details.get(version.inactive, 0)), limit


def _quota(group: _CpuGroup) -> float | None:
    """Returns how many cores' time one group may use; None: all of them."""
    if group.version is V2:
        quota, _, period = _text(group.quota / "cpu.max").partition(" ")
    else:
        quota, period = _text(group.quota / "cpu.cfs_quota_us"), _text(group.quota / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(quota) and int(period) else None


def _cpu_used_s(group: _CpuGroup) -> float | None:
    """Returns the CPU time that one group has used, in s; None: nothing counts it."""
    if group.version is V2:
        used_us = _fields(group.use / group.version.cpu_used).get("usage_usec")
        return None if used_us is None else used_us / 1e6
    used_ns = _text(group.use / group.version.cpu_used)
    return int(used_ns) / 1e9 if used_ns.isdigit() else None


def _fields(file: Path) -> dict[str, int]:
    """Returns the numbers of a file with a name and a number in each line."""
    words = [line.split() for line in _text(file).splitlines()]
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}  # noqa: PLR2004 -- a pair


def _text(file: Path) -> str:
    """Returns a file's text; empty where it can't be read."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
