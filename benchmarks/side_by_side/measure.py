"""One run: the crawler started, watched until the server has had its last page, and its end waited for."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from crawler.base.errors import HeadroomError
from testbed.servers import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.side_by_side.servers import Nginx

from benchmarks.side_by_side.servers import Served

METER = Path(__file__).with_name("meter.py")
LOOK_SECONDS = 0.05  # between two looks at the server's counter and the crawler's clock: 1 % of the servers' core
ENOUGH = 0.97  # of the pages, by the last look
FAMILY_SECONDS = 1.0  # between two looks for processes that the crawler has started
START_SECONDS, PAGE_SECONDS = 90.0, 0.03  # a run's limit: plain Scrapy takes 5 ms a page on this core


@dataclass(frozen=True, slots=True)
class Command:
    """A crawler's process.

    Attributes:
        words: Program and arguments.
        core: That it runs on alone.
        environment: Variables beyond those of this process.
        directory: Where it runs; None: where this process does.
    """

    words: Sequence[str]
    core: int
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a run took.

    Attributes:
        pages_per_min: From the first page to the last one, as the server saw them: no start, no end.
        cpu_s: Of the processor, user and system, for 1,000 pages within that time.
        peak_bytes: Resident memory of the crawler at its largest, all its processes.
        whole_s: From the start of the process to its end.
        whole_cpu_s: Of the processor, in all that time, for all pages.
        notes: What else was counted, for a page, by its name.
    """

    pages_per_min: float
    cpu_s: float
    peak_bytes: int
    whole_s: float
    whole_cpu_s: float
    notes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Look:
    at_s: float
    served: int
    cpu_s: float


def measure(
    name: str,
    commands: Sequence[Command],
    *,
    nginx: Nginx,
    pages: int,
    folder: Path,
    is_done: Callable[[], bool] | None = None,
) -> Measurement:
    """Runs a crawler's processes until they end; the log is in `folder`.

    Args:
        name: For the log and messages.
        commands: One, or those of a cluster, started together.
        nginx: Whose pages are crawled.
        pages: How many there are to crawl.
        folder: Exists.
        is_done: For a crawler that doesn't end by itself: asked once all pages are served; then it is told to end.

    Raises:
        HeadroomError: A process ended in another way than with status 0, or took too long; none is left running.
    """
    reports = [folder / f"{name}-{number}.json" for number in range(len(commands))]
    processes = [
        Process(
            f"{name}-{number}",
            [sys.executable, "-I", "-S", str(METER), str(report), str(command.core), *command.words],
            folder,
            environment=command.environment,
            directory=command.directory,
        )
        for number, (command, report) in enumerate(zip(commands, reports, strict=True))
    ]
    with Served(nginx) as served, contextlib.ExitStack() as running:
        for process in processes:
            running.callback(process.kill)
            process.start()
        looks = list(_watch(processes, served, pages, is_done))
        for process in processes:
            if process.wait(0):
                raise HeadroomError(f"{name} failed; {process.last_log_line()}")
    first = next((look for look in looks if look.served), None)
    last = next((look for look in looks if look.served >= pages), looks[-1] if looks else None)
    # A crawler that ends with its last pages may do so between two looks; whether it has them all, its items show.
    if first is None or last is None or last.served < ENOUGH * pages:
        raise HeadroomError(f"{name} asked for {looks[-1].served if looks else 0} pages, expected {pages}")
    took = [json.loads(report.read_text()) for report in reports]
    number = last.served - first.served
    return Measurement(
        pages_per_min=60 * number / (last.at_s - first.at_s),
        cpu_s=1_000 * (last.cpu_s - first.cpu_s) / number,
        peak_bytes=sum(one["peak_bytes"] for one in took),
        whole_s=max(one["whole_s"] for one in took),
        whole_cpu_s=sum(one["cpu_s"] for one in took),
    )


def _watch(
    processes: Sequence[Process], served: Served, pages: int, is_done: Callable[[], bool] | None
) -> Iterator[_Look]:
    """Looks until all have ended.

    Raises:
        HeadroomError: They haven't in time.
    """
    begun = time.monotonic()
    deadline = begun + START_SECONDS + PAGE_SECONDS * pages
    families: list[list[int]] = []
    families_until = 0.0
    spent_s = [0.0] * len(processes)  # by each family so far: one that has ended has no account any more
    while any(process.running for process in processes):
        now = time.monotonic()
        if now > deadline:
            raise HeadroomError(
                f"{processes[0].name} still runs after {now - begun:.0f} s; {processes[0].last_log_line()}"
            )
        if now >= families_until:
            families, families_until = [_family(process) for process in processes], now + FAMILY_SECONDS
        now_served = served.look()
        spent_s = [max(before_s, sum(map(_cpu_s, each))) for before_s, each in zip(spent_s, families, strict=True)]
        look = _Look(now, now_served, sum(spent_s))
        yield look
        if is_done is not None and look.served >= pages and is_done():
            for process in processes:
                process.stop()
        time.sleep(LOOK_SECONDS)


def _family(process: Process) -> list[int]:
    """Returns the ids of a process and of all below it; none when it has ended."""
    try:
        return [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def _cpu_s(process: int) -> float:
    """Returns what a process, and its children that have ended, took of the processor; 0 when it has ended itself."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / _TICKS_PER_SECOND


_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
