"""Cgroups of one's own, of version 1, which a machine may let root make beside its own."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from needs import need
from waiting import until

MOUNT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000  # over which a quota holds; the kernel's own


class LimitedCgroup:
    """A group in each of the mounts for memory, CPU quotas and CPU use; removed by `remove`, once it is empty.

    Args:
        memory_bytes: What its processes may use; beyond it they are killed.
        cores: How many cores' time they may use.
    """

    def __init__(self, *, memory_bytes, cores):
        name = f"headroom-{uuid.uuid4().hex}"
        self.folders = [MOUNT / kind / name for kind in ("memory", "cpu", "cpuacct")]
        memory, cpu, _use = self.folders
        try:
            for folder in self.folders:
                folder.mkdir(exist_ok=True)  # two kinds may share a mount
            (memory / "memory.limit_in_bytes").write_text(str(memory_bytes))
            (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (cpu / "cpu.cfs_quota_us").write_text(str(round(cores * PERIOD_US)))
        except OSError as error:
            self.remove()
            need(f"cgroups of one's own, of version 1: {error}")

    @property
    def entering(self):
        """The line of the shell by which its process goes into the group."""
        return "; ".join(f"echo $$ > {folder}/cgroup.procs" for folder in self.folders)

    def remove(self):
        """Removes the groups, when their last process has ended."""
        for folder in self.folders:
            with contextlib.suppress(FileNotFoundError):
                until(lambda folder=folder: not (folder / "cgroup.procs").read_text(), f"{folder} to be empty")
                folder.rmdir()
