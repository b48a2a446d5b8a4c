"""Does a seed cost more memory, or a page more CPU, the more seeds there are? Are hosts asked as often as they may be?

    python -m benchmarks.made_web                                  # 100,000 and 1,000,000 pages: some 15 minutes
    python -m benchmarks.made_web --pages 100000 --delay 2 --workers 2   # what of the delays is made use of: 5 minutes

A whole crawl of a million pages takes hours, so that only its last 9,800 pages are crawled: the frontier is brought to
where it would be by then, by its own calls (`frontier.py` says how), and consumers go on from there, with their
default settings but for politeness, as they start. Of these pages 900 wait, and the others are found on them. What they
cost is measured from their first fifth on. Exit status 1 says that a page was lost; that a seed takes more than 1.1
times the bytes, or a page 1.1 times the CPU, of those with the first number of pages; or, with a delay of 1 s or more,
that hosts were asked for less than 98 % of what it allows.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shutil
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import redis as redis_client

from benchmarks.made_web.frontier import fill
from benchmarks.made_web.web import HOSTS
from benchmarks.made_web.web_server import WebServer
from benchmarks.side_by_side.install import ROOT, run_folder
from crawler.base.errors import HeadroomError
from crawler.plans.operator import Operator
from testbed.servers import Process, Redis
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLAN, SITE = "made-web", "made"
PAGES = (100_000, 1_000_000)
GROWTH_MAX, USED_MIN = 1.1, 0.98
PER_HOST = 100_000_000  # followed links of a host: no bound
RUN_SECONDS, SUBMIT_SECONDS, LOOK_SECONDS = 3_600.0, 60.0, 0.5
FIRST_PART = 5  # what the first of so many parts of the pages cost isn't counted: workers start
PACED_SECONDS = 1.0  # from this delay on the hosts bound the crawl, and not the machine
SETTINGS = {
    "STOP_WHEN_DONE": "1",
    "ALLOW_PRIVATE_ADDRESSES": "1",
    "ITEM_SINKS": "files",
    "FILES_STORE": "",
    "NODE_CPU_LIMIT_PERCENT": "100",
    "NODE_MEMORY_LIMIT_PERCENT": "100",
}


class Look(NamedTuple):
    """What was seen at one moment: pages asked for, and processor seconds of the workers and of Redis."""

    asked: int
    workers_s: float
    redis_s: float


class Costs(NamedTuple):
    """What a run came to.

    Attributes:
        seed_bytes: Redis's memory for each page that is known in the end.
        used: Part of what the delays allow that was made use of.
    """

    seed_bytes: float
    workers_us: float
    redis_us: float
    used: float


def main() -> int:
    """Returns 0; 1 as the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.made_web", description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, nargs="+", default=PAGES, help="how many there are, run by run")
    parser.add_argument("--delay", type=float, default=0.02, help="seconds between two requests to a host")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print("| pages | Redis bytes a seed | x | workers' CPU us a page | x | Redis's | x | of the delays |")
    print(f"|{'--:|' * 8}")
    first: Costs | None = None
    status = 0
    try:
        for number in options.pages:
            costs = crawl(number // HOSTS, options.delay, options.workers)
            first = first or costs
            growth = [own / before for own, before in zip(costs[:3], first[:3], strict=True)]
            cells = [f"{own:,.1f} | {times:.2f}" for own, times in zip(costs[:3], growth, strict=True)]
            print(f"| {number:,} | {' | '.join(cells)} | {100 * costs.used:.1f} % |", flush=True)
            is_idle = options.delay >= PACED_SECONDS and costs.used < USED_MIN
            status |= int(max(growth) > GROWTH_MAX or is_idle)
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    return status


def crawl(per_host: int, delay_s: float, workers: int) -> Costs:
    """Crawls the last pages of a web with so many pages of each host.

    Raises:
        HeadroomError: A command or worker failed, it took too long, or a page was lost.
    """
    folder = run_folder("made-web")
    with WebServer(folder, per_host) as server, Redis(folder) as redis, redis_client.Redis(port=redis.port) as client:
        client.config_set("auto-aof-rewrite-percentage", 0)  # a rewrite's fork would be counted
        empty_bytes, web = _used_bytes(client), server.web
        (folder / "sites").mkdir()
        (folder / "sites" / f"{SITE}.yaml").write_text(f"name: {SITE}\npoliteness: {{delay: {delay_s}}}\n")
        follow = {"depth": 50, "links": 1000, "per_host": PER_HOST}
        start = [web.url(host, 0) for host in range(HOSTS)]
        plan = folder / "plan.yaml"
        plan.write_text(json.dumps({"name": PLAN, "sites": [SITE], "start": start, "follow": follow}))
        environment = {
            "REDIS_URL": redis.url,
            "SITES_DIR": str(folder / "sites"),
            "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        }
        scrapy = [sys.executable, "-m", "scrapy"]
        run_to_end("submit", [*scrapy, "plan", "submit", str(plan)], folder, SUBMIT_SECONDS, environment)
        asyncio.run(fill(redis.url, web, plan=PLAN, site=SITE, per_host=PER_HOST))
        words = [f"-s{name}={value}" for name, value in {**SETTINGS, "ITEMS_DIR": folder / "items"}.items()]
        processes = [
            Process(
                f"consumer-{number}",
                [*scrapy, "crawl", "consumer", *words],
                folder,
                environment=environment,
                directory=ROOT,
            )
            for number in range(workers)
        ]
        with contextlib.ExitStack() as running:
            for process in processes:
                running.callback(process.kill)
                process.start()
            looks = watch(processes, server, client)
        asyncio.run(check(redis.url, HOSTS * per_host, server.count()))
        first = next(look for look in looks if FIRST_PART * look.asked >= server.count())
        pages = looks[-1].asked - first.asked
        costs = Costs(
            (_used_bytes(client) - empty_bytes) / (HOSTS * per_host),
            1e6 * (looks[-1].workers_s - first.workers_s) / pages,
            1e6 * (looks[-1].redis_s - first.redis_s) / pages,
            used(server.asked(), delay_s),
        )
    shutil.rmtree(folder)
    return costs


def watch(processes: Sequence[Process], server: WebServer, client: redis_client.Redis) -> list[Look]:
    """Looks at workers until they end; returns what was seen while all of them ran.

    Raises:
        HeadroomError: One failed, or it took too long.
    """
    looks, deadline = [], time.monotonic() + RUN_SECONDS
    while any(process.running for process in processes):
        if time.monotonic() > deadline:
            raise HeadroomError(f"the crawl isn't done after {RUN_SECONDS:g} s; {processes[0].last_log_line()}")
        with contextlib.suppress(psutil.NoSuchProcess):
            used: Any = client.info("cpu")
            redis_s = used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"]
            looks.append(Look(server.count(), sum(_cpu_s(process.pid) for process in processes), redis_s))
        time.sleep(LOOK_SECONDS)
    for process in processes:
        if process.wait(0):
            raise HeadroomError(process.last_log_line())
    return [look for look in looks if look.asked < server.count()]


async def check(redis_url: str, pages: int, asked: int) -> None:
    """Asks the ledger whether all pages are finished.

    Raises:
        HeadroomError: They aren't, or were asked for twice, or it doesn't reconcile.
    """
    async with Operator.connect({"REDIS_URL": redis_url}) as operator:
        account = (await operator.ledger(PLAN))[PLAN, SITE]["content"]
    if account.finished != pages or account.difference or not 0 < asked < pages:
        raise HeadroomError(f"expected {pages} finished pages: {account.as_dict()}")


def used(asked: Iterable[tuple[float, str]], delay_s: float) -> float:
    """Returns which part of the requests that a delay allows there were, from each host's first to its last."""
    times: dict[str, list[float]] = defaultdict(list)
    for at_s, host in asked:
        times[host].append(at_s)
    gaps = sum(len(each) - 1 for each in times.values())
    return gaps * delay_s / sum(each[-1] - each[0] for each in times.values())


def _cpu_s(pid: int) -> float:
    parent = psutil.Process(pid)
    times = parent.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _used_bytes(client: Any) -> int:
    """Returns the memory that Redis uses, without what connections hold for a moment."""
    memory = client.info("memory")
    return int(memory["used_memory"] - memory.get("mem_clients_normal", 0) - memory.get("mem_aof_buffer", 0))


if __name__ == "__main__":
    sys.exit(main())
