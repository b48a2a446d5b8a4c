"""Is everything found that links reach, once, in the order of depth; and what does it cost beside Scrapy's CrawlSpider?

    python -m benchmarks.mirror                          # 30,000 pages on 11 hosts, a quarter of an hour a run
    python -m benchmarks.mirror --manuals 5 --kill       # 3,400 pages, and a worker killed on the way

Debian's packages of HTML manuals are served by one nginx, each as a host of its own. A plan begins with the first page
of each and follows its links; two consumers crawl it. What they delivered, and what nginx was asked, is held against
the pages that an own reader of the files finds by their links. Then Scrapy's CrawlSpider does the same. Exit status 1
says that ours missed a page, delivered one twice, or delivered one that no link leads to.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from benchmarks.mirror.manuals import HTML, PACKAGES, Manual
from benchmarks.mirror.mirror_server import STATUS_OK, MirrorServer
from benchmarks.side_by_side.install import CACHE, ROOT
from crawler.base.errors import HeadroomError
from testbed.servers import Process, Redis

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MANUALS = CACHE.parent / "manuals"
DELAY_SECONDS, CONCURRENCY = 0.02, 4  # a host's: far quicker than the pages can be read, yet paced
RUN_SECONDS = 3_600.0  # a run's limit
KILLED_SECONDS = 5.0  # how long a killed worker is away
SITE = f"name: manual\npoliteness: {{delay: {DELAY_SECONDS}, concurrency: {CONCURRENCY}}}\n"
SETTINGS = {"STOP_WHEN_DONE": "1", "ALLOW_PRIVATE_ADDRESSES": "1", "ITEM_SINKS": "files", "MEDIA_DOWNLOAD": "0"}
SHOWN = 5  # most addresses of a kind that are named
COLUMNS = (
    "pages",
    "items",
    "missed",
    "without an item",
    "twice",
    "no link leads there",
    "asked twice",
    "other requests",
    "inversions",
    "pages a minute",
)
SETTINGS |= {"TRAP_LINKS": "0"}  # pages that nobody has translated are copies, which are left as traps are
SETTINGS |= {"NODE_CPU_LIMIT_PERCENT": "100", "NODE_MEMORY_LIMIT_PERCENT": "100"}


class Outcome(NamedTuple):
    """What came out of a crawl.

    Attributes:
        urls: Of the items, as often as they were delivered.
        seconds: From the first request to the last.
        asked: How many requests came for each page that links lead to.
        others: How many requests came for anything else.
        inversions: How many of these pages were asked for after a deeper page of their host.
    """

    urls: Counter[str]
    seconds: float
    asked: Counter[str]
    others: int
    inversions: int


def main() -> int:
    """Returns 0; 1 where a page is missing, twice there, or too many."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mirror", description=__doc__.splitlines()[0])
    parser.add_argument("--manuals", type=int, default=len(PACKAGES), help="how many, the smallest first")
    parser.add_argument("--kill", action="store_true", help="kill a worker (SIGKILL) when a third is done")
    parser.add_argument("--only", choices=("ours", "scrapy"), help="one of the two crawlers")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mirror-", dir=MANUALS.parent))
    try:
        manuals = [Manual(package, MANUALS) for package in PACKAGES[: options.manuals]]
        with MirrorServer(folder, manuals) as server:
            depths = {
                f"http://{server.hosts[manual.name]}/{quote(path)}": depth
                for manual in manuals
                for path, depth in manual.depths.items()
            }
            first = [f"http://{server.hosts[manual.name]}/{manual.first}" for manual in manuals]
            print(f"| | {' | '.join(COLUMNS)} |\n|---|{'--:|' * len(COLUMNS)}")
            status = 0
            if options.only != "scrapy":
                items = crawl_ours(folder, first, len(depths) // 3 if options.kill else 0)
                status = report("ours", depths, outcome(server, items, depths))
                server.forget()
            if options.only != "ours":
                report("CrawlSpider", depths, outcome(server, crawl_scrapy(folder, first), depths))
    except HeadroomError as error:
        print(f"{error} (all is left in {folder})", file=sys.stderr)
        return 1
    if not status:
        shutil.rmtree(folder)
    return status


def crawl_ours(folder: Path, first: Sequence[str], kill_at: int) -> list[str]:
    """Crawls by two consumers; returns the items' addresses.

    Args:
        kill_at: At so many items one of them is killed, and started again after KILLED_SECONDS; 0: never.

    Raises:
        HeadroomError: A command or a worker failed, or it took too long.
    """
    (folder / "sites").mkdir()
    (folder / "sites" / "manual.yaml").write_text(SITE)
    plan = folder / "mirror.yaml"
    plan.write_text(f"name: mirror\nsites: [manual]\nstart: {json.dumps(first)}\nfollow: {{depth: 50, links: 10000}}\n")
    items = folder / "items"
    with Redis(folder) as redis, contextlib.ExitStack() as running:
        environment = {
            "REDIS_URL": redis.url,
            "SITES_DIR": str(folder / "sites"),
            "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        }
        submit = Process(
            "submit", [sys.executable, "-m", "scrapy", "plan", "submit", str(plan)], folder, environment=environment
        )
        submit.start()
        if submit.wait(60.0):
            raise HeadroomError(submit.last_log_line())
        words = [
            word for name, value in {**SETTINGS, "ITEMS_DIR": str(items)}.items() for word in ("-s", f"{name}={value}")
        ]
        command = [sys.executable, "-m", "scrapy", "crawl", "consumer", *words]
        workers = [
            Process(f"consumer-{number}", command, folder, environment=environment, directory=ROOT) for number in (1, 2)
        ]
        for worker in workers:
            running.callback(worker.kill)
            worker.start()
        began, killed_s = time.monotonic(), 0.0
        while any(worker.running for worker in workers) or killed_s:
            now = time.monotonic()
            if now - began > RUN_SECONDS:
                raise HeadroomError(f"the crawl isn't done after {RUN_SECONDS:g} s; {workers[0].last_log_line()}")
            if kill_at and len(item_urls(items)) >= kill_at:
                workers[0].kill()
                kill_at, killed_s = 0, now
            if killed_s and now - killed_s > KILLED_SECONDS:
                workers[0].start()
                killed_s = 0.0
            time.sleep(1.0)
        for worker in workers:
            if worker.wait(0):
                raise HeadroomError(worker.last_log_line())
    return item_urls(items)


def crawl_scrapy(folder: Path, first: Sequence[str]) -> list[str]:
    """Crawls by Scrapy's CrawlSpider; returns the items' addresses.

    Raises:
        HeadroomError: It failed, or took too long.
    """
    output = folder / "scrapy.jsonl"
    program = Path(__file__).parent / "crawl_spider.py"
    command = [sys.executable, str(program), str(output), str(CONCURRENCY), str(DELAY_SECONDS), *first]
    with Process("scrapy", command, folder) as spider:
        if spider.wait(RUN_SECONDS):
            raise HeadroomError(spider.last_log_line())
    return [json.loads(line)["url"] for line in output.read_text().splitlines()]


def item_urls(folder: Path) -> list[str]:
    """Returns the addresses of the items that are in files by now; the last line of one may not be whole."""
    lines = (line for path in folder.glob("*.jsonl") for line in path.read_text().split("\n")[:-1])
    return [json.loads(line)["url"] for line in lines]


def outcome(server: MirrorServer, urls: Iterable[str], depths: Mapping[str, int]) -> Outcome:
    """Returns what a crawl came to, by its items and by what nginx was asked."""
    asked: Counter[str] = Counter()
    deepest: Counter[str] = Counter()  # by host, so far
    others = inversions = 0
    times_s = []
    for request in server.asked():
        url = f"http://{request.host}{quote(unquote(request.path))}"
        if url not in depths:
            others += 1
            continue
        times_s.append(request.at_s)
        inversions += not asked[url] and depths[url] < deepest[request.host]
        deepest[request.host] = max(deepest[request.host], depths[url])
        asked[url] += request.status == STATUS_OK
    return Outcome(Counter(quoted(url) for url in urls), times_s[-1] - times_s[0], asked, others, inversions)


def quoted(url: str) -> str:
    """Returns an address as the truth writes it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{quote(unquote(rest), safe='/:')}"


def report(name: str, depths: Mapping[str, int], result: Outcome) -> int:
    """Prints a crawler's row; returns 1 where what it delivered isn't the truth."""
    missed = depths.keys() - result.asked.keys()
    pages = {url for url in result.urls if url.lower().endswith(HTML)}
    figures = (
        len(depths),
        result.urls.total(),
        len(missed),
        len(result.asked.keys() - result.urls.keys()),
        sum(number > 1 for number in result.urls.values()),
        len(pages - depths.keys()),
        sum(number > 1 for number in result.asked.values()),
        result.others,
        result.inversions,
        round(len(result.asked) * 60 / result.seconds),
    )
    print(f"| {name} | " + " | ".join(f"{figure:,}" for figure in figures) + " |", flush=True)
    for url in sorted(missed)[:SHOWN]:
        print(f"  missed: {url}", file=sys.stderr)
    for url in sorted(result.asked.keys() - result.urls.keys())[:SHOWN]:
        print(f"  without an item: {url}", file=sys.stderr)
    for url in sorted(pages - depths.keys())[:SHOWN]:
        print(f"  no link leads to {url}", file=sys.stderr)
    return int(bool(missed or pages - depths.keys()) or any(number > 1 for number in result.urls.values()))


if __name__ == "__main__":
    sys.exit(main())
