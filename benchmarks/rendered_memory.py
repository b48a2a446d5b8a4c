"""Does a worker that renders pages keep its memory, browser and all, over 10,000 pages?

    .venv/bin/python -m benchmarks.rendered_memory                       # 20 minutes; needs Chromium
    .venv/bin/python -m benchmarks.rendered_memory --pages 2000 --picture memory.svg

One consumer with its default settings renders a forum that scripts build (`script_forum.py`) and writes items to files.
Every few seconds the memory of its process tree, the browser's processes included, is looked at: the proportional share
(PSS), by which what processes share counts once. The median of each 500 pages is held against that of the first 500.
Exit status 1 says that one is larger by more than 10 %, or that a page was lost or read wrong.
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

import psutil

from benchmarks import script_forum
from benchmarks.side_by_side import ours
from benchmarks.side_by_side.checks import check
from benchmarks.side_by_side.install import CACHE, ROOT
from benchmarks.side_by_side.servers import Nginx
from crawler.base.errors import HeadroomError
from crawler.render.processes import proportional_bytes
from testbed.servers import Process, Redis

PAGES = 10_000
STEP_PAGES = 500  # over which the median is taken; also the pages after which a browser is replaced
GROWTH_MAX = 1.10  # of any step's median over the first's
LOOK_SECONDS = 3.0  # a look reads the maps of some ten processes, 20 ms of CPU
PAGE_SECONDS, START_SECONDS = 3.0, 120.0  # a run's limit: a page takes 0.2 s on a quiet machine
MEBIBYTE = 1 << 20
WIDTH, HEIGHT, MARGIN = 720, 260, 48  # of the picture, in pixels


class Look(NamedTuple):
    """What was seen at one moment: pages finished, and bytes of memory of the whole process tree."""

    finished: int
    memory_bytes: int


def main() -> int:
    """Returns 0; 1 where memory grew, or a page was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=PAGES, help=f"how many (default {PAGES:,})")
    parser.add_argument("--picture", type=Path, help="an SVG to be drawn of the memory")
    options = parser.parse_args()
    try:
        script_forum.write(CACHE / "script-pages", options.pages)
        looks, took_s = crawl(options.pages)
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    if options.picture:
        options.picture.write_text(picture(looks), encoding="utf-8")
    return report(looks, options.pages, took_s)


def crawl(number: int) -> tuple[list[Look], float]:
    """Renders so many pages; returns what was seen meanwhile, and how long it took in seconds.

    Raises:
        HeadroomError: The worker failed, took too long, or lost a page. Its folder stays, with the logs in it.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="rendered-", dir=CACHE))
    with Nginx(folder, CACHE / "script-pages", rewrite=script_forum.REWRITE) as nginx, Redis(folder) as redis:
        asyncio.run(ours.fill(redis.url, "content", range(number), nginx.url, site=ours.RENDERED_SITE))
        items = folder / "items"
        words = ours.words(sys.executable, "consumer", {"ITEM_SINKS": "files", "ITEMS_DIR": items})
        worker = Process("worker", words, folder, environment={"REDIS_URL": redis.url}, directory=ROOT)
        begun = time.monotonic()
        with contextlib.ExitStack() as running:
            running.callback(worker.kill)
            worker.start()
            looks = watch(worker, redis, number)
            if worker.wait(0):
                raise HeadroomError(f"the worker failed; {worker.last_log_line()}")
        took_s = time.monotonic() - begun
        asyncio.run(ours.check_ledger(redis.url, "content", number, site=ours.RENDERED_SITE))
        check(ours.file_items(items), number, nginx.url)
    shutil.rmtree(folder)
    return looks, took_s


def watch(worker: Process, redis: Redis, number: int) -> list[Look]:
    """Looks at a worker until it ends.

    Raises:
        HeadroomError: It hasn't ended in time.
    """
    looks: list[Look] = []
    deadline = time.monotonic() + START_SECONDS + PAGE_SECONDS * number
    while worker.running:
        if time.monotonic() > deadline:
            raise HeadroomError(f"the worker still runs; {worker.last_log_line()}")
        finished = asyncio.run(ours.finished(redis.url, "content", site=ours.RENDERED_SITE))
        with contextlib.suppress(psutil.NoSuchProcess):
            looks.append(Look(finished, tree_bytes(psutil.Process(worker.pid))))
        if looks and finished // STEP_PAGES > (looks[-2].finished if len(looks) > 1 else 0) // STEP_PAGES:
            print(f"{finished:,} pages, {looks[-1].memory_bytes / MEBIBYTE:.0f} MiB", flush=True)
        time.sleep(LOOK_SECONDS)
    return looks


def tree_bytes(parent: psutil.Process) -> int:
    """Returns the proportional share of a process and all below it; of those that have ended, nothing."""
    return sum(map(proportional_bytes, (parent, *parent.children(recursive=True))))


def report(looks: list[Look], number: int, took_s: float) -> int:
    """Prints a table; returns 1 where memory grew by more than GROWTH_MAX allows, or too little was seen to say."""
    steps: dict[int, list[int]] = {}
    for look in looks:
        if 0 < look.finished < number:
            steps.setdefault(look.finished // STEP_PAGES, []).append(look.memory_bytes)
    if len(steps) < 2:  # noqa: PLR2004 -- the first and one to hold against it
        print("too few pages to say anything", file=sys.stderr)
        return 1
    medians = {step: statistics.median(seen) / MEBIBYTE for step, seen in steps.items()}
    first = medians[min(medians)]
    print("| pages | memory of the tree (PSS), MiB: median | x the first |\n|--:|--:|--:|")
    for step, median in medians.items():
        print(f"| {step * STEP_PAGES:,} to {(step + 1) * STEP_PAGES:,} | {median:.0f} | {median / first:.2f} |")
    growth = max(medians.values()) / first
    print(f"\n{number:,} pages, none lost, in {took_s:.0f} s: {60 * number / took_s:,.0f} a minute")
    print(f"the largest median by the first is {growth:.2f}; flat is <= {GROWTH_MAX}")
    return int(growth > GROWTH_MAX)


def picture(looks: list[Look]) -> str:
    """Returns an SVG of the memory by pages."""
    most_pages = max(look.finished for look in looks) or 1
    most_bytes = max(look.memory_bytes for look in looks) * 1.1
    across, up = (WIDTH - 2 * MARGIN) / most_pages, (HEIGHT - 2 * MARGIN) / most_bytes
    bottom = HEIGHT - MARGIN
    points = " ".join(f"{MARGIN + look.finished * across:.1f},{bottom - look.memory_bytes * up:.1f}" for look in looks)
    marks = [
        f'<text x="{MARGIN - 6}" y="{bottom - mebibytes * MEBIBYTE * up + 4:.1f}" text-anchor="end">{mebibytes}</text>'
        for mebibytes in range(0, int(most_bytes / MEBIBYTE), 200)
    ]
    marks += [
        f'<text x="{MARGIN + pages * across:.1f}" y="{bottom + 18}" text-anchor="middle">{pages:,}</text>'
        for pages in range(0, most_pages + 1, max(STEP_PAGES, most_pages // 5))
    ]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"
 font-size="12" fill="#555" role="img"><title>Memory of a worker that renders, by pages</title>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>
<text x="{MARGIN}" y="{MARGIN - 20}">Memory (PSS) of a worker and its browser, MiB, by rendered pages</text>
<path d="M{MARGIN},{MARGIN}V{bottom}H{WIDTH - MARGIN}" fill="none" stroke="#999"/>
<polyline points="{points}" fill="none" stroke="#1668b5" stroke-width="1.5"/>
{"".join(marks)}
</svg>
"""


if __name__ == "__main__":
    sys.exit(main())
