"""The load of a node and of this worker: what headroom.py and pace.py reckon with."""

from __future__ import annotations

import contextlib
import math
import os
from typing import NamedTuple

import psutil

from crawler.render.processes import proportional_bytes
from crawler.worker.life.cgroup import Cgroups

SMOOTHING = 0.3  # the weight of a new sample: after 5 samples some 80 % of a step show


class Load(NamedTuple):
    """The load of a node at one moment, in percent of all its memory or of all its cores.

    Attributes:
        memory: m, memory used by all processes.
        cpu: c, CPU used by all processes.
        own_memory: M, memory used by this worker and its child processes, such as browsers.
        own_cpu: C, CPU used by these.
    """

    memory: float = 0.0
    cpu: float = 0.0
    own_memory: float = 0.0
    own_cpu: float = 0.0

    def smoothed(self, sample: Load) -> Load:
        """Returns this load moved towards a new sample."""
        return Load(*(old + SMOOTHING * (new - old) for old, new in zip(self, sample, strict=True)))


class Sampler:
    """Measures the load of the node and of this process with its children; in a container, of what it may use.

    What may be used is the least of: the machine, the limits of the cgroups, and the processors that this process may
    run on (a container's cpuset, systemd's AllowedCPUs, `taskset`). All of it may change while the process runs.

    Args:
        cgroups: Of this process; None: the real ones.

    Attributes:
        load: The smoothed load, as of the last sample.
        newest: The last sample as it was.
        memory_bytes: All memory that there is: 100 percent.
        cores: All processor time that there is, in cores, such as 1.5: 100 percent.
    """

    def __init__(self, cgroups: Cgroups | None = None) -> None:
        self._process = psutil.Process()
        self._known: dict[int, psutil.Process] = {self._process.pid: self._process}
        self._cgroups = cgroups or Cgroups()
        self._read_limits()
        self.load = self.newest = Load()
        self._first = True
        # What is measured is measured from one call to the next, so the answers to the first are meaningless.
        psutil.cpu_percent(percpu=True)
        self._cgroups.cpu_percent()
        self._process.cpu_percent()

    def sample(self) -> Load:
        """Takes a sample and returns the smoothed load; blocks for some milliseconds for each process.

        Memory that processes of the tree share, as a browser's do, counts once.
        """
        self._read_limits()
        tree = {}
        with contextlib.suppress(psutil.Error):
            tree = {child.pid: child for child in self._process.children(recursive=True)}
        self._known = {pid: self._known.get(pid, child) for pid, child in tree.items()} | {
            self._process.pid: self._process
        }
        own_memory = own_cpu = 0.0
        for process in self._known.values():
            with contextlib.suppress(psutil.Error):  # the process has ended, or belongs to another user
                used_bytes = proportional_bytes(process) if len(self._known) > 1 else process.memory_info().rss
                own_memory += 100 * used_bytes / self.memory_bytes
                own_cpu += process.cpu_percent() / self.cores
        memory = max(psutil.virtual_memory().percent, self._cgroups.memory_percent() or 0.0)
        # The tree's own use is part of c, also where a quota's use is counted out of sight, above a container's root.
        cpu = min(100.0, max(self._processors_percent(), self._cgroups.cpu_percent() or 0.0, own_cpu))
        self.newest = Load(memory, cpu, own_memory, own_cpu)
        self.load = self.newest if self._first else self.load.smoothed(self.newest)
        self._first = False
        return self.load

    def _read_limits(self) -> None:
        self._processors = os.sched_getaffinity(0)
        self.cores = min(len(self._processors), self._cgroups.cores() or math.inf)
        self.memory_bytes = min(psutil.virtual_memory().total, self._cgroups.memory_limit() or math.inf)

    def _processors_percent(self) -> float:
        """Returns how busy the processors are that this process may run on."""
        busy = psutil.cpu_percent(percpu=True)
        allowed = [percent for number, percent in enumerate(busy) if number in self._processors] or busy
        return sum(allowed) / len(allowed)
