"""How many lines does a worker's log have after an hour?

    .venv/bin/python -m benchmarks.log_hour --minutes 60

A producer and a consumer, real processes at the default LOG_LEVEL, search the soak's endless forum (soak_forum.py) with
the usual politeness, so that they are busy to the end in a small share of a processor. Of its pages 2 % fail once or
twice before they answer well, some are missing or empty, and one more host is dead: nobody listens there. When the time
is up both workers are asked to end. Prints the lines of each log, by who wrote them; exit status 1: over LINES_MAX.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil
import yaml

from benchmarks.soak_forum import SoakForum, read_requests
from testbed.servers import Redis
from testbed.servers.process import ROOT, Process, free_port

LINES_MAX = 200  # of an hour's log, which somebody is to read
HOSTS = 6  # of the forum: one for searches, five for threads
DELAY_SECONDS = 2  # between two requests to a host
SEARCH_PAGES = 10  # of each word
WORDS_PER_MINUTE = 4  # so 40 search pages, where the host allows 30 requests: they last to the end
FAULTY = 0.02  # of the pages fail: a web in good health, while soak.py's is sick
DEAD_PAGES = 500  # are offered at the beginning
SLICE_SECONDS = 1.0  # between two looks at whether both workers still run
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[([^\]]+)\] ([A-Z]+):")  # others continue the line before


class Crawl:
    """The servers, the site and the plan of one run, and its two workers.

    Args:
        folder: For all that is written.
        minutes: How long there must be something to do.
        faulty: The share of the pages that fail, 0 to 1.
        stack: Ends what was started.
    """

    def __init__(self, folder: Path, minutes: float, faulty: float, stack: ExitStack) -> None:
        self.forum = stack.enter_context(SoakForum(folder, seed=1, hosts=HOSTS, faulty=faulty))
        redis = stack.enter_context(Redis(folder))
        (folder / "sites").mkdir()
        settings = {
            "ALLOW_PRIVATE_ADDRESSES": 1,
            "SITES_DIR": folder / "sites",
            "ITEMS_DIR": folder / "items",
            "FILES_STORE": folder / "media",
            "NODE_CPU_LIMIT_PERCENT": 100,  # whatever else this machine does, the workers go on
            "NODE_MEMORY_LIMIT_PERCENT": 100,
        }
        self._options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        self._environment = {"REDIS_URL": redis.url}
        site = {
            "name": "board",
            "search": {
                "url": f"http://127.0.0.1:{self.forum.ports[0]}/search?q={{query}}&page={{page}}",
                "paging": {"kind": "page"},
            },
            "results": {"links": "css:a.result"},
            "content": {"title": "css:h1", "content": {"select": "css:.text", "required": True}, "images": "css:img"},
            "politeness": {"delay": DELAY_SECONDS},
        }
        (folder / "sites" / "board.yaml").write_text(yaml.safe_dump(site))
        words = [f"w{number}" for number in range(round(WORDS_PER_MINUTE * minutes) + 1)]
        plan = {"name": "hour", "sites": ["board"], "pages": SEARCH_PAGES, "keywords": {"word": {"optional": words}}}
        (folder / "hour.yaml").write_text(yaml.safe_dump(plan))
        self._command("plan", "submit", str(folder / "hour.yaml"))
        dead = f"http://127.0.0.2:{free_port()}/thread/"
        self._command("seeds", "offer", "--site", "board", *(f"{dead}{number}" for number in range(DEAD_PAGES)))
        self.workers = [self._worker(spider, folder, stack) for spider in ("producer", "consumer")]

    def _command(self, *words: str) -> None:
        command = [sys.executable, "-m", "scrapy", *words, *self._options]
        subprocess.run(command, cwd=ROOT, env=os.environ | self._environment, check=True)

    def _worker(self, spider: str, folder: Path, stack: ExitStack) -> Process:
        command = [sys.executable, "-m", "scrapy", "crawl", spider, *self._options]
        worker = Process(spider, command, folder / "logs", environment=self._environment, directory=ROOT)
        stack.callback(worker.kill)
        worker.start()
        return worker


def cpu_seconds(worker: Process) -> float:
    """Returns what a worker and its children have taken of a processor so far."""
    tree = [psutil.Process(worker.pid), *psutil.Process(worker.pid).children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in tree)


def lines_by_logger(log: Path) -> Counter[str]:
    """Returns how many lines each logger and level has, with those that continue one: tracebacks, statistics."""
    counted: Counter[str] = Counter()
    writer = "before the log begins"
    for line in log.read_text(encoding="utf-8").splitlines():
        if found := LINE.match(line):
            writer = f"{found[1]} {found[2]}"
        counted[writer] += 1
    return counted


def report(crawl: Crawl, cpu: dict[str, float], running: dict[str, int], minutes: float) -> int:
    """Prints what came of it; returns the lines of the longer log."""
    requests = read_requests(crawl.forum.log_file)
    faults = sum(bool(request["fault"]) for request in requests)
    last_minute = sum(request["start"] > requests[-1]["start"] - 60 for request in requests)
    print(
        f"{minutes:g} minutes, {len(requests):,} requests, {faults:,} of them failed, {last_minute} in the last minute"
    )
    longest = 0
    for worker in crawl.workers:
        counted = lines_by_logger(worker.log)
        longest = max(longest, counted.total())
        share = cpu[worker.name] / (minutes * 60)
        print(
            f"\n{worker.name}: {counted.total()} lines, {running[worker.name]} before it was asked to end; "
            f"{share:.1%} of a processor"
        )
        for writer, number in counted.most_common():
            print(f"  {number:5} {writer}")
    return longest


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument(
        "--faulty", type=float, default=FAULTY, help="the share of pages that fail (default: %(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="where to write all; it stays there")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.folder:
            options.folder.mkdir(parents=True)
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        crawl = Crawl(folder, options.minutes, options.faulty, stack)
        ends_at = time.monotonic() + 60 * options.minutes
        while time.monotonic() < ends_at and all(worker.running for worker in crawl.workers):
            time.sleep(SLICE_SECONDS)
        ended = [
            f"{worker.name} ended by itself; {worker.last_log_line()}" for worker in crawl.workers if not worker.running
        ]
        if ended:
            print("\n".join(ended), file=sys.stderr)
            return 1
        cpu = {worker.name: cpu_seconds(worker) for worker in crawl.workers}
        running = {worker.name: lines_by_logger(worker.log).total() for worker in crawl.workers}
        for worker in crawl.workers:
            worker.stop()
        return int(report(crawl, cpu, running, options.minutes) > LINES_MAX)


if __name__ == "__main__":
    sys.exit(main())
