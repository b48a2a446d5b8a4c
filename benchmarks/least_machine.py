"""What does the least set-up cost its machine, without work and with it?

    .venv/bin/python -m benchmarks.least_machine

That is deploy/small's: a Redis with its append-only file, a producer and two consumers, items and images in files. They
idle for a time; then a plan searches the demo's forum, as politely as its site asks for, until nothing is left to do.
Prints, for each process and its children, CPU time and the largest proportional share of memory (PSS: what processes
have in common is divided among them). Exit status 1: a worker ended by itself, or the crawl didn't end in time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import psutil

from crawler.plans.operator import Operator
from testbed.servers import ForumServer, Process, Redis
from testbed.servers.process import ROOT

SPIDERS = ("producer", "consumer", "consumer")
SETTLE_SECONDS = 10.0  # after its start a worker reads scripts and sites once; that is no cost of idling
SLICE_SECONDS = 1.0  # between two looks at memory, and at whether the crawl is done
DONE_SECONDS = 600.0  # some ten times what it takes
PLAN = """
name: least
sites: [{{use: demo_forum, name: demo_forum, base: "{base}"}}]
keywords: {{event: {{optional: [洪水, flood, earthquake, fire]}}}}
pages: {pages}
"""


class Usage(NamedTuple):
    """What a process and its children have taken."""

    cpu_seconds: float
    memory_bytes: int

    @classmethod
    def of(cls, pid: int) -> Usage:
        """Looks at a process that runs."""
        tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        return cls(
            sum(sum(one.cpu_times()[:2]) for one in tree),
            sum(one.memory_full_info().pss for one in tree),
        )


class SmallSetUp:
    """The servers and workers of one run.

    Args:
        folder: For all that is written.
        stack: Ends what was started.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.forum = stack.enter_context(ForumServer(folder))
        redis = stack.enter_context(Redis(folder))
        self.folder = folder
        self.settings = {
            "REDIS_URL": redis.url,
            "ALLOW_PRIVATE_ADDRESSES": "1",
            "ITEMS_DIR": str(folder / "items"),
            "FILES_STORE": str(folder / "media"),
            "NODE_CPU_LIMIT_PERCENT": "100",  # whatever else this machine does, the workers go on
            "NODE_MEMORY_LIMIT_PERCENT": "100",
        }
        self.workers = [self._worker(f"{spider}-{number}", spider, stack) for number, spider in enumerate(SPIDERS)]
        self.pids = {"Redis": redis.pid} | {worker.name: worker.pid for worker in self.workers}

    def _worker(self, name: str, spider: str, stack: ExitStack) -> Process:
        command = [sys.executable, "-m", "scrapy", "crawl", spider]
        worker = Process(name, command, self.folder / name, environment=self.settings, directory=ROOT)
        stack.callback(worker.kill)
        worker.start()
        return worker

    def submit(self, pages: int) -> None:
        """Submits the plan, which reads so many pages of results."""
        file = self.folder / "least.yaml"
        file.write_text(PLAN.format(base=self.forum.url, pages=pages), encoding="utf-8")
        command = [sys.executable, "-m", "scrapy", "plan", "submit", str(file)]
        subprocess.run(command, cwd=ROOT, env=os.environ | self.settings, check=True)

    def delivered(self) -> int:
        """Returns the number of items."""
        return sum(len(file.read_text("utf-8").splitlines()) for file in (self.folder / "items").glob("*.jsonl*"))

    def watch(self, seconds: float, *, until_done: bool = False) -> tuple[dict[str, Usage], float]:
        """Returns what each process took, and in how many seconds.

        Raises:
            SystemExit: A worker ended by itself, or the crawl didn't end.
        """
        before = {name: Usage.of(pid) for name, pid in self.pids.items()}
        memory = {name: usage.memory_bytes for name, usage in before.items()}
        began = time.monotonic()
        while (taken_s := time.monotonic() - began) < seconds:
            time.sleep(SLICE_SECONDS)
            if ended := [worker.last_log_line() for worker in self.workers if not worker.running]:
                sys.exit(f"a worker ended by itself; {ended[0]}")
            memory = {name: max(memory[name], Usage.of(pid).memory_bytes) for name, pid in self.pids.items()}
            if until_done and asyncio.run(self._is_done()):
                break
        else:
            if until_done:
                sys.exit(f"the crawl didn't end within {seconds:g} s")
        return {
            name: Usage(Usage.of(pid).cpu_seconds - before[name].cpu_seconds, memory[name])
            for name, pid in self.pids.items()
        }, taken_s

    async def _is_done(self) -> bool:
        async with Operator.connect(self.settings) as operator:
            return await operator.registry.is_done(operator.queues)


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idle-seconds", type=float, default=90)
    parser.add_argument("--pages", type=int, default=30, help="of results (default: %(default)s)")
    options = parser.parse_args()
    with ExitStack() as stack:
        small = SmallSetUp(Path(stack.enter_context(tempfile.TemporaryDirectory())), stack)
        small.watch(SETTLE_SECONDS)
        idle, idle_s = small.watch(options.idle_seconds)
        small.submit(options.pages)
        busy, busy_s = small.watch(DONE_SECONDS, until_done=True)
        items = small.delivered()
    print(f"{idle_s:.0f} s without work; then {items:,} items in {busy_s:.0f} s, {60 * items / busy_s:,.0f} a minute")
    print(f"{'':12} {'idle CPU':>10} {'idle MiB':>10} {'busy CPU':>10} {'busy MiB':>10}")
    for name in small.pids:
        print(
            f"{name:12} {idle[name].cpu_seconds / idle_s:10.2%} {idle[name].memory_bytes / 2**20:10.0f} "
            f"{busy[name].cpu_seconds:8.2f} s {busy[name].memory_bytes / 2**20:10.0f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
