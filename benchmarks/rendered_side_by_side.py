"""What does a rendered page cost, beside other crawlers that have a browser?

    .venv/bin/python -m benchmarks.rendered_side_by_side                     # a quarter of an hour; needs Chromium
    .venv/bin/python -m benchmarks.rendered_side_by_side --pages 200 --rounds 1

Each renders the same pages of a forum that scripts build (`script_forum.py`) with the same Chromium, so many at once,
waits until the page's script has ended, loads no images, and delivers the same fields, which are checked. Rounds go
forwards and backwards in turns. Nobody is bound to a core: a browser wants several. Pages a minute are counted from the
first request to the end of the process, processor time is that of the whole process tree.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import orjson
import psutil

from benchmarks import script_forum
from benchmarks.side_by_side import install, ours, pages
from benchmarks.side_by_side.checks import check
from benchmarks.side_by_side.install import CACHE, ROOT
from benchmarks.side_by_side.servers import Nginx, Served
from crawler.base.errors import HeadroomError
from crawler.render import chromium
from testbed.servers import Process, Redis

PAGES, ROUNDS = 1_000, 2
AT_ONCE = 4  # pages that are open: the default of BROWSER_PAGES_AT_ONCE, and as many as two cores bear
LOOK_SECONDS = 0.5
PAGE_SECONDS, START_SECONDS = 5.0, 120.0  # a run's limit: a page takes 0.2 s on a quiet machine
OURS = "**Headroom**"
PEERS = {
    "scrapy-playwright": ("scrapy_playwright_crawl.py", "scrapy-playwright"),
    "crawlee, Playwright": ("crawlee_playwright_crawl.py", "crawlee-playwright"),
}


class Run(NamedTuple):
    """What one run took."""

    pages_per_min: float
    cpu_s: float


def main() -> int:
    """Returns 0; 1 when a run went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=PAGES, help=f"of one run (default {PAGES:,})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of all of them (default {ROUNDS})")
    options = parser.parse_args()
    try:
        pythons = {name: install.peer_python(environment) for name, (_script, environment) in PEERS.items()}
        script_forum.write(CACHE / "script-pages", options.pages)
        found: dict[str, list[Run]] = {name: [] for name in (OURS, *PEERS)}
        for turn in range(options.rounds):
            for name in reversed(found) if turn % 2 else found:
                found[name].append(run(name, pythons, options.pages))
                last = found[name][-1]
                print(
                    f"round {turn + 1}: {name}: {last.pages_per_min:,.0f} pages/min, {last.cpu_s:.0f} CPU s", flush=True
                )
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    print(table(found, options.pages))
    return 0


def run(name: str, pythons: dict[str, str], number: int) -> Run:
    """Has a crawler render so many pages.

    Raises:
        HeadroomError: It failed, took too long, or lost a page. Its folder stays, with the logs in it.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="rendered-", dir=CACHE))
    with contextlib.ExitStack() as servers:
        nginx = servers.enter_context(Nginx(folder, CACHE / "script-pages", rewrite=script_forum.REWRITE))
        if name == OURS:
            redis = servers.enter_context(Redis(folder))
            asyncio.run(ours.fill(redis.url, "content", range(number), nginx.url, site=ours.RENDERED_SITE))
            taken = watch(worker(folder, redis), nginx, number)
            check(ours.file_items(folder / "items"), number, nginx.url)
        else:
            urls, output = folder / "urls.txt", folder / "items.jsonl"
            urls.write_text("".join(f"{nginx.url}{pages.path(index)}\n" for index in range(number)))
            taken = watch(peer(name, pythons[name], urls, output), nginx, number)
            check(map(orjson.loads, output.read_bytes().splitlines()), number, nginx.url)
    shutil.rmtree(folder)
    return taken


def worker(folder: Path, redis: Redis) -> Process:
    """Returns our own crawler; it isn't started."""
    settings = {"ITEM_SINKS": "files", "ITEMS_DIR": folder / "items", "BROWSER_PAGES_AT_ONCE": AT_ONCE}
    words = ours.words(sys.executable, "consumer", settings)
    return Process("worker", words, folder, environment={"REDIS_URL": redis.url}, directory=ROOT)


def peer(name: str, python: str, urls: Path, output: Path) -> Process:
    """Returns another crawler; it isn't started."""
    script = str(install.HERE / "peers" / PEERS[name][0])
    words = [python, script, str(urls), str(output), str(AT_ONCE), chromium.find(""), script_forum.DONE]
    return Process("peer", words, output.parent, directory=output.parent)


def watch(process: Process, nginx: Nginx, number: int) -> Run:
    """Runs a crawler to its end.

    Raises:
        HeadroomError: It failed or took too long; nothing of it is left running.
    """
    cpu_s: dict[tuple[int, float], float] = {}  # by process: id and start
    first_s: float | None = None
    with Served(nginx) as served, contextlib.ExitStack() as running:
        running.callback(process.kill)
        process.start()
        deadline = time.monotonic() + START_SECONDS + PAGE_SECONDS * number
        while process.running:
            if time.monotonic() > deadline:
                raise HeadroomError(f"it still runs; {process.last_log_line()}")
            if first_s is None and served.look():
                first_s = time.monotonic()
            note_cpu(process.pid, cpu_s)
            time.sleep(LOOK_SECONDS)
        if process.wait(0):
            raise HeadroomError(f"it failed; {process.last_log_line()}")
    if first_s is None:
        raise HeadroomError("it was over before its first request was seen: give it more pages")
    return Run(60 * number / (time.monotonic() - first_s), sum(cpu_s.values()))


def note_cpu(pid: int, cpu_s: dict[tuple[int, float], float]) -> None:
    """Notes what each process of a tree has taken of the processor so far; the last look at one that ended stays."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                cpu_s[process.pid, process.create_time()] = times.user + times.system


def table(found: dict[str, list[Run]], number: int) -> str:
    """Returns the medians as a table; the ratio is ours by each of the others."""
    speeds = {name: statistics.median(run.pages_per_min for run in runs) for name, runs in found.items()}
    lines = ["", "| crawler | pages/min | ours by it | CPU ms a page |", "|---|--:|--:|--:|"]
    for name, runs in found.items():
        cpu_ms = 1_000 * statistics.median(run.cpu_s for run in runs) / number
        lines.append(f"| {name} | {speeds[name]:,.0f} | {speeds[OURS] / speeds[name]:.2f} | {cpu_ms:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
