"""Headroom: how many more seeds this node can carry now, by its use of CPU and memory.

A node may use ML percent of its memory and CL percent of its CPU. All its processes use m and c percent; of these, the
crawl processes, which carry W seeds, use M and C. What is left, divided by what a seed costs, is the number N of seeds
that may be claimed in addition:

    N = floor(min((ML - m) * W / M, (CL - c) * W / C))

N is never negative. While no seed is carried (W = 0), its cost isn't known, and N is the setting FIRST_BATCH (n).

A seed that waits costs next to nothing, and one whose page comes costs the page, several times. So what is claimed may
fit, and its pages still not fit all at once. Hence two more rules, for requests: no more run than answers as large as
those of late have room for, and pages are started no faster than the CPU allows (pace.py).

Source: the published patent that this crawler follows. The letters are the patent's.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.worker.life.load import Load, Sampler
from crawler.worker.life.pace import Pace

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger
    from crawler.worker.config import Limits

logger: EventLogger = logging.getLogger(__name__)
RATE_WINDOW_SECONDS = 10.0  # the rate's window: long enough for a steady rate, short enough to follow a change of site
MIN_COST_PERCENT = 0.01  # the least cost of one seed: an idle process would seem to carry its seeds at no cost
UNLIMITED_SEEDS = 1_000_000  # the batch size without limits; BATCH_MAX and the rate bound claims then
ANSWER_COPIES = 2  # how often an answer is in memory: as it came in parts, and whole; or whole, and as text
ANSWER_FADES = 0.98  # how much of a large answer's size counts on after each further answer: half of it after 34
# The share of memory that answers always have: small ones are of no weight, though others fill the node.
MIN_ANSWERS_PERCENT = 1.0
LACK_SECONDS = 5.0  # how long nothing is claimed after something else was missing: others work on, and it may come back
MIN_WEIGHT = 0.001  # of a node, however small its share of a machine
NO_LIMIT_PERCENT = 100  # a limit of this value never holds a claim back


def short_of(limits: Limits, load: Load) -> str:
    """Returns what the node has no more of, `memory` or `CPU`; empty while it has both."""
    if load.memory >= limits.memory_percent < NO_LIMIT_PERCENT:
        return "memory"
    return "CPU" if load.cpu >= limits.cpu_percent < NO_LIMIT_PERCENT else ""


def batch_size(limits: Limits, load: Load, carried: int, workers: int = 1) -> int:
    """Returns N: how many more seeds this worker may claim; 0 without headroom.

    Args:
        carried: W, the number of seeds that this worker holds.
        workers: Number of workers on this node, from 1; they share the headroom equally.
    """
    memory_room = limits.memory_percent - load.memory
    cpu_room = limits.cpu_percent - load.cpu
    if short_of(limits, load):
        return 0
    if carried == 0:
        return limits.first_batch
    memory_cost = max(load.own_memory / carried, MIN_COST_PERCENT)
    cpu_cost = max(load.own_cpu / carried, MIN_COST_PERCENT)
    by_memory = memory_room / memory_cost if limits.memory_percent < NO_LIMIT_PERCENT else math.inf
    by_cpu = cpu_room / cpu_cost if limits.cpu_percent < NO_LIMIT_PERCENT else math.inf
    room = min(by_memory, by_cpu) / max(workers, 1)
    return UNLIMITED_SEEDS if room == math.inf else max(0, math.floor(room))


class Rate:
    """The rate at which a worker has lately settled seeds."""

    def __init__(self) -> None:
        self._settled_at: deque[float] = deque()  # when seeds were settled, by the monotonic clock
        self._started_at = time.monotonic()

    def count(self) -> None:
        """Counts a seed as settled now."""
        self._settled_at.append(time.monotonic())

    def per_second(self) -> float:
        """Returns the rate over the last RATE_WINDOW_SECONDS, or since the start when that is less."""
        now = time.monotonic()
        while self._settled_at and self._settled_at[0] < now - RATE_WINDOW_SECONDS:
            self._settled_at.popleft()
        return len(self._settled_at) / min(RATE_WINDOW_SECONDS, max(1.0, now - self._started_at))


class NodeHeadroom:
    """Says how many more seeds this worker may claim now, and whether it may send one more request.

    Args:
        limits: How much of the node may be used.
        batch_max: BATCH_MAX: the most seeds in one claim.
        claim_ahead_s: CLAIM_AHEAD_SECONDS: a worker holds no more seeds than it settles in that time, at its rate.

    Attributes:
        pace: How fast pages may be started; None: there is no CPU limit.
        rate: The rate at which this worker settles seeds.
        sampler: Measures the load.
        workers_here: Number of workers on this node, from 1; as it was last heard.
    """

    def __init__(self, limits: Limits, *, batch_max: int, claim_ahead_s: float) -> None:
        self._batch_max = batch_max
        self._claim_ahead_s = claim_ahead_s
        self.pace: Pace | None = None
        self.limits = limits
        self.rate = Rate()
        self.sampler = Sampler()
        self.workers_here = 1
        self._answer_bytes = 0.0  # the size of the largest answer lately
        self._lack = ""
        self._lacked_at = -math.inf  # when something was missing last, by the monotonic clock

    @property
    def limits(self) -> Limits:
        """How much of the node may be used: as given, or as an operator has set it since."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits
        if limits.cpu_percent >= NO_LIMIT_PERCENT:
            self.pace = None
        elif self.pace is None:
            self.pace = Pace(limits.cpu_percent)
        else:  # it knows by now what a page costs
            self.pace.limit_percent = limits.cpu_percent

    def weight(self, factor: float) -> float:
        """Returns what the node is to have of all hosts, beside other nodes' weights, above 0.

        That is the number of its cores, or of GiB of its memory where those are fewer, as far as its limits allow their
        use; times NODE_WEIGHT.
        """
        cores = self.sampler.cores * self._limits.cpu_percent / 100
        gibibytes = self.sampler.memory_bytes / 2**30 * self._limits.memory_percent / 100
        return max(round(factor * min(cores, gibibytes), 3), MIN_WEIGHT)

    async def sample(self) -> None:
        """Measures the load, in a thread."""
        try:
            await asyncio.to_thread(self.sampler.sample)
        except OSError as error:
            logger.warning(log_events.LOAD_UNKNOWN, error)
            return
        if self.pace:
            self.pace.sample(self.sampler.newest)

    def settled(self, *, was_fetched: bool) -> None:
        """Counts a seed as settled; `was_fetched`: a host was asked for its page."""
        self.rate.count()
        if was_fetched and self.pace:
            self.pace.ended()

    def lacks(self, lack: str) -> None:
        """Notes that the node had none left of something that a request needs, such as file descriptors."""
        self._lack, self._lacked_at = lack, time.monotonic()

    def short_of(self) -> str:
        """Returns what the node has no more of, such as `memory` or `CPU`; empty while nothing is missing."""
        if time.monotonic() < self._lacked_at + LACK_SECONDS:
            return self._lack
        return short_of(self._limits, self.sampler.load)

    def room(self, carrying: int, slow_visits: int = 0) -> int:
        """Returns how many seeds may be claimed now; 0: none.

        Args:
            carrying: Number of seeds that the worker holds.
            slow_visits: How many of `carrying` are held up on slow lanes: FIRST_BATCH others may be held beside them.
        """
        if time.monotonic() < self._lacked_at + LACK_SECONDS:
            return 0
        by_load = batch_size(self._limits, self.sampler.load, carrying, self.workers_here)
        at_this_rate = int(self.rate.per_second() * self._claim_ahead_s)
        by_rate = max(self._limits.first_batch + slow_visits, at_this_rate) - carrying
        return max(0, min(by_load, by_rate, self._batch_max))

    def start_wait_s(self) -> float:
        """Returns the seconds until one more page may be started; 0: now."""
        return self.pace.wait_s() if self.pace else 0.0

    def starts(self) -> None:
        """Counts a page as started."""
        if self.pace:
            self.pace.starts(self.sampler.load, self.workers_here)

    def answered(self, size_bytes: int) -> None:
        """Notes how large an answer was."""
        self._answer_bytes = max(size_bytes, self._answer_bytes * ANSWER_FADES)

    def may_send(self, running: int) -> bool:
        """Returns whether the memory left has room for the answers of all running requests and one more.

        What has come of these counts twice, because memory that was free when it was measured may be used by now. One
        request may always run, and as many as take MIN_ANSWERS_PERCENT: a crawl on a full node goes on.

        Args:
            running: Number of requests whose answers aren't here yet.
        """
        if running == 0 or self._limits.memory_percent >= NO_LIMIT_PERCENT:
            return True
        room_percent = max(self._limits.memory_percent - self.sampler.newest.memory, MIN_ANSWERS_PERCENT)
        room_bytes = room_percent / 100 * self.sampler.memory_bytes / self.workers_here
        return (running + 1) * ANSWER_COPIES * self._answer_bytes <= room_bytes
