"""What the cgroups of this process, such as a container's, leave it of the machine: memory and CPU time.

Both versions of cgroups are read. A limit may stand at any level between the process's own group and the root, and all
of them count. Within a container the path that the kernel names may not be there; then the mount's root is the group.

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
    inactive: str  # in memory.stat: pages of files that can go at any time
    cpu_used: str


UNLIMITED_BYTES = 2**62  # version 1 says a number near 2**63 where there is no limit
V1 = _Version(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file", "cpuacct.usage")
V2 = _Version(("memory.max", "memory.high"), "memory.current", "inactive_file", "cpu.stat")


class Cgroups:
    """The cgroups of this process.

    Args:
        root: Where `proc` and `sys` are.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        unified = [folder for name in ("", "unified") if (folder := root / MOUNT / name).is_dir()]
        self._memory: list[tuple[Path, _Version]] = []
        self._cpu: list[tuple[Path, _Version]] = []
        self._sample: tuple[float, float] | None = None  # when, and the CPU time used by then, in s
        for line in _text(root / "proc/self/cgroup").splitlines():
            _number, names, path = line.split(":", 2)
            if not names:
                levels = [(level, V2) for mount in unified for level in _levels(mount, path)]
                self._memory += levels
                self._cpu += levels
            for name in {"memory", "cpu", "cpuacct"} & set(names.split(",")):
                mounts = [root / MOUNT / names, root / MOUNT / name]
                found = [(level, V1) for mount in mounts if mount.is_dir() for level in _levels(mount, path)]
                (self._memory if name == "memory" else self._cpu).extend(found)

    def memory_percent(self) -> float | None:
        """Returns how much of the tightest limit is used, without the files that can go; None: there is no limit."""
        used = [found for group in self._memory if (found := _memory_used(*group)) is not None]
        return max((100 * bytes_used / limit for bytes_used, limit in used), default=None)

    def memory_limit(self) -> int | None:
        """Returns the tightest limit in bytes; None: there is none."""
        used = [found for group in self._memory if (found := _memory_used(*group)) is not None]
        return min((limit for _bytes_used, limit in used), default=None)

    def cores(self) -> float | None:
        """Returns how many cores' time the tightest quota grants; None: there is none."""
        return min((cores for group in self._cpu if (cores := _quota(*group)) is not None), default=None)

    def cpu_percent(self) -> float | None:
        """Returns how much of the quota was used since the last call; None: there is no quota, or no call before."""
        cores = self.cores()
        used_s = next((used for group in self._cpu if (used := _cpu_used_s(*group)) is not None), None)
        if cores is None or used_s is None:
            return None
        before, self._sample = self._sample, (time.monotonic(), used_s)
        if before is None or self._sample[0] <= before[0]:
            return None
        return 100 * (used_s - before[1]) / (self._sample[0] - before[0]) / cores


def _levels(mount: Path, path: str) -> list[Path]:
    """Returns the process's group and those above it, as far as they are there; the mount's root is the last."""
    own = mount / path.strip("/")
    return [level for level in (own, *own.parents) if level.is_relative_to(mount) and level.is_dir()]


def _memory_used(level: Path, version: _Version) -> tuple[int, int] | None:
    """Returns the bytes used and the limit of one group; None: it has no limit."""
    limits = [int(text) for name in version.memory_limits if (text := _text(level / name)).isdigit()]
    limit = min((limit for limit in limits if 0 < limit < UNLIMITED_BYTES), default=None)
    used = _text(level / version.memory_used)
    if limit is None or not used.isdigit():
        return None
    inactive = _fields(level / "memory.stat").get(version.inactive, 0)
    return max(0, int(used) - inactive), limit


def _quota(level: Path, version: _Version) -> float | None:
    """Returns how many cores' time one group may use; None: all of them."""
    if version is V2:
        quota, _, period = _text(level / "cpu.max").partition(" ")
    else:
        quota, period = _text(level / "cpu.cfs_quota_us"), _text(level / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None


def _cpu_used_s(level: Path, version: _Version) -> float | None:
    """Returns the CPU time that one group has used, in s; None: it doesn't count it."""
    if version is V2:
        used_us = _fields(level / version.cpu_used).get("usage_usec")
        return None if used_us is None else used_us / 1e6
    used_ns = _text(level / version.cpu_used)
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
