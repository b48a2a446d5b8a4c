"""Crawls of the mirror: by our consumers, killed and resumed on the way, and by Scrapy's CrawlSpider."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from benchmarks.mirror.manuals import MAX_LINKS
from benchmarks.side_by_side.install import ROOT
from crawler.base.errors import HeadroomError
from crawler.plans.operator import Operator
from testbed.servers import Process, Redis
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DELAY_SECONDS, CONCURRENCY = 0.02, 4  # a host's: far quicker than the pages can be read, yet paced
RUN_SECONDS = 7_200.0  # a run's limit
SUBMIT_SECONDS = 60.0
KILLED_SECONDS = 5.0  # how long a killed worker is away
LOOK_SECONDS = 1.0
SITE = f"name: manual\npoliteness: {{delay: {DELAY_SECONDS}, concurrency: {CONCURRENCY}}}\n"
SETTINGS = {
    "STOP_WHEN_DONE": "1",
    "ALLOW_PRIVATE_ADDRESSES": "1",
    "ITEM_SINKS": "files",
    "FILES_STORE": "",  # no pictures
    "MAX_LINKS_PER_PAGE": str(MAX_LINKS),  # lists of classes have some thousands
    "TRAP_LINKS": "0",  # pages that nobody has translated are copies, which are left as traps are
    "NODE_CPU_LIMIT_PERCENT": "100",
    "NODE_MEMORY_LIMIT_PERCENT": "100",
}


class Breaks(NamedTuple):
    """When a crawl is disturbed.

    Attributes:
        count: How many requests the hosts have had so far.
        kill_at: At so many one of two workers is killed (SIGKILL), and started again after KILLED_SECONDS.
        stop_at: At so many both are stopped (SIGTERM), and two others started.
    """

    count: Callable[[], int]
    kill_at: float = float("inf")
    stop_at: float = float("inf")


def crawl_ours(folder: Path, plan: Mapping[str, object], breaks: Breaks) -> Iterator[str]:
    """Crawls a plan by two consumers; returns the addresses of the items.

    Raises:
        HeadroomError: A command or a worker failed, it took too long, or the ledger doesn't say that all is done.
    """
    (folder / "sites").mkdir(parents=True)
    (folder / "sites" / "manual.yaml").write_text(SITE)
    (folder / "plan.yaml").write_text(json.dumps(plan))
    items = folder / "items"
    with Redis(folder) as redis, contextlib.ExitStack() as running:
        environment = {
            "REDIS_URL": redis.url,
            "SITES_DIR": str(folder / "sites"),
            "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        }
        scrapy = [sys.executable, "-m", "scrapy"]
        run_to_end(
            "submit", [*scrapy, "plan", "submit", str(folder / "plan.yaml")], folder, SUBMIT_SECONDS, environment
        )
        words = [word for name, value in {**SETTINGS, "ITEMS_DIR": items}.items() for word in ("-s", f"{name}={value}")]
        command = [*scrapy, "crawl", "consumer", *words]
        workers = [
            Process(f"consumer-{number}", command, folder, environment=environment, directory=ROOT) for number in (1, 2)
        ]
        for worker in workers:
            running.callback(worker.kill)
            worker.start()
        _attend(workers, breaks)
        for worker in workers:
            if worker.wait(0):
                raise HeadroomError(worker.last_log_line())
        asyncio.run(_check_ledger(redis.url))
    return _item_urls(items)


def crawl_scrapy(folder: Path, first: Sequence[str]) -> Iterator[str]:
    """Crawls by Scrapy's CrawlSpider; returns the items' addresses.

    Raises:
        HeadroomError: It failed, or took too long.
    """
    output = folder / "scrapy.jsonl"
    program = Path(__file__).parent / "crawl_spider.py"
    command = [sys.executable, str(program), str(output), str(CONCURRENCY), str(DELAY_SECONDS), *first]
    run_to_end("scrapy", command, folder, RUN_SECONDS)
    return (json.loads(line)["url"] for line in output.read_text().splitlines())


def _attend(workers: Sequence[Process], breaks: Breaks) -> None:
    """Waits until the workers have ended, and disturbs them meanwhile.

    Raises:
        HeadroomError: It took too long.
    """
    began, killed_s, kill_at, stop_at = time.monotonic(), 0.0, breaks.kill_at, breaks.stop_at
    while any(worker.running for worker in workers) or killed_s:
        now, asked = time.monotonic(), breaks.count()
        if now - began > RUN_SECONDS:
            raise HeadroomError(f"the crawl isn't done after {RUN_SECONDS:g} s; {workers[0].last_log_line()}")
        if asked >= kill_at:
            workers[0].kill()
            kill_at, killed_s = float("inf"), now
        if killed_s and now - killed_s > KILLED_SECONDS:
            workers[0].start()
            killed_s = 0.0
        if asked >= stop_at and not killed_s:
            stop_at = float("inf")
            for worker in workers:
                worker.stop()
            for worker in workers:
                worker.start()
        time.sleep(LOOK_SECONDS)


async def _check_ledger(redis_url: str) -> None:
    """Asks the ledger whether nothing is left.

    Raises:
        HeadroomError: Something is, or it doesn't reconcile, also with a recount.
    """
    async with Operator.connect({"REDIS_URL": redis_url}) as operator:
        for account in (each["content"] for each in (await operator.ledger()).values()):
            if account.ready or account.executing or account.difference:
                raise HeadroomError(f"expected that all is done: {account.as_dict()}")
        if problems := await operator.recount():
            raise HeadroomError("; ".join(problems))


def _item_urls(folder: Path) -> Iterator[str]:
    """Yields the addresses of the items in files; the last line of one isn't whole where its worker was killed."""
    for path in folder.glob("*.jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield orjson.loads(line)["url"]
