"""Headroom: how many more seeds this node can carry now, from its own CPU and memory.

Source: the patent's rule. With limits ML and CL (percent of memory and CPU), the node's use m and c, and W seeds
carried by crawl processes that use M and C: N = floor(min((ML - m) * W / M, (CL - c) * W / C)), at
least 0; n while W = 0.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import psutil

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Mapping

RATE_WINDOW_SECONDS = 10.0  # long enough to be steady, short enough to follow a change of site
SMOOTHING = 0.3  # weight of a new sample: some 5 samples until a step shows in full
LEAST_COST_PERCENT = 0.01  # of a seed: an idle process would seem to carry seeds for nothing
MOST = 1_000_000  # seeds: "as many as you like"; other bounds hold then
NO_LIMIT_PERCENT = 100  # a node may be used to the full: that limit then never holds a claim back


@dataclass(frozen=True, slots=True)
class Limits:
    """How full a node may get.

    Attributes:
        memory_percent: ML.
        cpu_percent: CL. 100 for either means no limit.
        first_batch: n, seeds in the first claim.
    """

    memory_percent: float
    cpu_percent: float
    first_batch: int

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads NODE_MEMORY_LIMIT_PERCENT, NODE_CPU_LIMIT_PERCENT and FIRST_BATCH.

        Raises:
            ConfigError: One of them is out of range.
        """
        return cls(
            config.number(settings, "NODE_MEMORY_LIMIT_PERCENT", 1, 100),
            config.number(settings, "NODE_CPU_LIMIT_PERCENT", 1, 100),
            config.whole(settings, "FIRST_BATCH", 1, 1_000),
        )


@dataclass(frozen=True, slots=True)
class Load:
    """One look at the node, in percent of the whole node (all its cores, all its memory).

    Attributes:
        memory: m, used by everything.
        cpu: c, used by everything.
        own_memory: M, used by this worker and its children (browsers too).
        own_cpu: C, likewise.
    """

    memory: float = 0.0
    cpu: float = 0.0
    own_memory: float = 0.0
    own_cpu: float = 0.0

    def smoothed(self, sample: Load) -> Load:
        """Returns this load moved towards a new sample."""
        return Load(
            *(
                old + SMOOTHING * (new - old)
                for old, new in (
                    (self.memory, sample.memory),
                    (self.cpu, sample.cpu),
                    (self.own_memory, sample.own_memory),
                    (self.own_cpu, sample.own_cpu),
                )
            )
        )


def batch_size(limits: Limits, load: Load, carried: int, workers: int = 1) -> int:
    """Returns N: how many more seeds this worker may claim; 0 without headroom.

    Args:
        carried: W, seeds this worker holds.
        workers: Workers on this node; they share what is left.
    """
    memory_room = limits.memory_percent - load.memory
    cpu_room = limits.cpu_percent - load.cpu
    if memory_room <= 0 and limits.memory_percent < NO_LIMIT_PERCENT:
        return 0
    if cpu_room <= 0 and limits.cpu_percent < NO_LIMIT_PERCENT:
        return 0
    if carried == 0:
        return limits.first_batch
    memory_cost = max(load.own_memory / carried, LEAST_COST_PERCENT)
    cpu_cost = max(load.own_cpu / carried, LEAST_COST_PERCENT)
    by_memory = memory_room / memory_cost if limits.memory_percent < NO_LIMIT_PERCENT else math.inf
    by_cpu = cpu_room / cpu_cost if limits.cpu_percent < NO_LIMIT_PERCENT else math.inf
    room = min(by_memory, by_cpu) / max(workers, 1)
    return MOST if room == math.inf else max(0, math.floor(room))


class Sampler:
    """Measures the node and this process tree. `sample` blocks for about a millisecond a process."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._known: dict[int, psutil.Process] = {self._process.pid: self._process}
        self._cores = psutil.cpu_count() or 1
        self.load = Load()
        self._first = True
        psutil.cpu_percent()  # psutil counts CPU time since the call before: each first answer is meaningless
        self._process.cpu_percent()

    def sample(self) -> Load:
        """Takes a sample and returns the smoothed load."""
        tree = {}
        with contextlib.suppress(psutil.Error):
            tree = {child.pid: child for child in self._process.children(recursive=True)}
        self._known = {pid: self._known.get(pid, child) for pid, child in tree.items()} | {
            self._process.pid: self._process
        }
        own_memory = own_cpu = 0.0
        for process in self._known.values():
            with contextlib.suppress(psutil.Error):  # it has ended, or belongs to another user
                own_memory += process.memory_percent()
                own_cpu += process.cpu_percent() / self._cores
        look = Load(psutil.virtual_memory().percent, psutil.cpu_percent(), own_memory, own_cpu)
        self.load = look if self._first else self.load.smoothed(look)
        self._first = False
        return self.load


class Rate:
    """How many seeds a worker ends per second, lately."""

    def __init__(self) -> None:
        self._ended: deque[float] = deque()
        self._begun = time.monotonic()

    def count(self) -> None:
        """Counts one."""
        self._ended.append(time.monotonic())

    def per_second(self) -> float:
        """Returns the rate over the last RATE_WINDOW_SECONDS, or since the start when that is less."""
        now = time.monotonic()
        while self._ended and self._ended[0] < now - RATE_WINDOW_SECONDS:
            self._ended.popleft()
        return len(self._ended) / min(RATE_WINDOW_SECONDS, max(1.0, now - self._begun))


class Headroom:
    """Says how many more seeds this worker may claim now.

    Args:
        limits: How full the node may get.
        batch_max: BATCH_MAX: seeds in one claim.
        claim_ahead_s: CLAIM_AHEAD_SECONDS: a worker holds no more than it ends in that time, at its present rate.

    Attributes:
        rate: Of the seeds that this worker has ended.
        sampler: Measures the load.
    """

    def __init__(self, limits: Limits, *, batch_max: int, claim_ahead_s: float) -> None:
        self._limits = limits
        self._batch_max = batch_max
        self._claim_ahead_s = claim_ahead_s
        self.rate = Rate()
        self.sampler = Sampler()

    def room(self, carrying: int, workers_here: int, stuck: int = 0) -> int:
        """Returns how many seeds may be claimed now; 0: none.

        Args:
            carrying: Seeds that the worker holds.
            workers_here: Workers on this node, from 1.
            stuck: Those of `carrying` that are held up by slow hosts: FIRST_BATCH others find room beside them.
        """
        by_load = batch_size(self._limits, self.sampler.load, carrying, workers_here)
        by_rate = max(self._limits.first_batch + stuck, int(self.rate.per_second() * self._claim_ahead_s)) - carrying
        return max(0, min(by_load, by_rate, self._batch_max))
