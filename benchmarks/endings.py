"""How sure is STOP_WHEN_DONE? Many runs of a small plan; workers start in any order; none may end early, none may hang.

    .venv/bin/python benchmarks/endings.py --runs 200

Each run is a fresh frontier in a real Redis, two producers and two consumers as processes of their own (forked from one
that has imported Scrapy already, so that a run takes few seconds), started in random order with random pauses. A run is
right when every worker ends by itself with status 0, and every thread of the plan was delivered once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from pathlib import Path

from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

from crawler import plans
from crawler.frontier import ledger, recount
from crawler.frontier.keys import Keys
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import Queue
from crawler.plans.registry import Registry
from crawler.plans.submission import submit
from crawler.servers.redis import redis_async
from testbed.forum import content
from testbed.servers import ForumServer, Redis

PLAN = """
name: small
sites: [{{use: demo_forum_ajax, name: ajax, base: "{base}"}}]
keywords: {{region: {{required: [重庆]}}, event: {{optional: [洪水, 停电]}}}}
pages: 2
per_page: 10
"""
HANG_SECONDS = 60  # a run takes two
WORKERS = ("producer", "producer", "consumer", "consumer")


def work(spider: str, settings: dict[str, object], wait_s: float) -> None:
    """One worker, in a forked process."""
    time.sleep(wait_s)
    project = get_project_settings()
    project.setdict(settings, priority="cmdline")
    process = CrawlerProcess(project, install_root_handler=False)
    process.crawl(spider)
    process.start()


async def submit_plan(redis_url: str, prefix: str, base: str) -> None:
    """Submits the plan."""
    redis = redis_async({"REDIS_URL": redis_url})
    keys = Keys(prefix)
    await prepare(redis, keys, 1)
    plan = plans.parse(PLAN.format(base=base), "small.yaml", max_seeds=1_000)
    queues = {name: Queue(redis, keys, name) for name in ledger.FRONTIERS}
    async for _ in submit(plan, Registry(redis, keys, 1), queues):
        pass
    await redis.aclose()


async def left_over(redis_url: str, prefix: str) -> list[str]:
    """Returns what the ledger has against this run."""
    redis = redis_async({"REDIS_URL": redis_url})
    keys = Keys(prefix)
    problems = [str(problem) for problem in await recount.recount(redis, keys, 1)]
    for accounts in (await ledger.read(redis, keys, 1)).values():
        problems += [f"{name}: {a.as_dict()}" for name, a in accounts.items() if a.ready or a.executing]
    await redis.aclose()
    return problems


def run(number: int, redis_url: str, base: str, folder: Path) -> tuple[float, list[str]]:
    """Does one run; returns its seconds and what was wrong with it."""
    prefix = f"run{number}"
    settings: dict[str, object] = {
        "REDIS_URL": redis_url,
        "KEY_PREFIX": prefix,
        "STOP_WHEN_DONE": True,
        "ALLOW_PRIVATE_ADDRESSES": True,
        "NODE_CPU_LIMIT_PERCENT": 100,
        "ITEMS_DIR": str(folder / prefix),
        "FILES_STORE": "",
        "LOG_LEVEL": "ERROR",
    }
    asyncio.run(submit_plan(redis_url, prefix, base))
    order = random.sample(WORKERS, len(WORKERS))
    begun = time.monotonic()
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(name, settings, random.uniform(0, 0.5))) for name in order]
    for worker in workers:
        worker.start()
    problems = []
    for name, worker in zip(order, workers, strict=True):
        worker.join(max(0.1, begun + HANG_SECONDS - time.monotonic()))
        if worker.is_alive():
            problems.append(f"{name} hangs")
            worker.kill()
        elif worker.exitcode:
            problems.append(f"{name} ended with {worker.exitcode}")
    seconds = time.monotonic() - begun
    lines = [json.loads(line) for file in (folder / prefix).glob("*.jsonl") for line in file.open(encoding="utf-8")]
    found = sorted(line["url"].rpartition("/")[2] for line in lines)
    wanted = set()
    for event in ("洪水", "停电"):
        wanted |= {str(thread.id) for thread in content.expected_results(["重庆", event], "ajax")[:20]}
    if found != sorted(wanted):
        problems.append(f"{len(found)} items, {len(wanted)} expected")
    return seconds, problems + asyncio.run(left_over(redis_url, prefix))


def main() -> None:
    """Runs them all and prints what went wrong, and how long they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the random order and pauses")
    options = parser.parse_args()
    random.seed(options.seed)
    wrong, times = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Redis(folder) as redis, ForumServer(folder, "--delay-ms", "50") as forum:
            for number in range(options.runs):
                seconds, problems = run(number, redis.url, forum.url, folder)
                times.append(seconds)
                wrong += bool(problems)
                for problem in problems:
                    print(f"run {number}: {problem}", flush=True)
    times.sort()
    spread = f"min {times[0]:.1f}, median {times[len(times) // 2]:.1f}, max {times[-1]:.1f}"
    print(f"{options.runs} runs: {wrong} wrong; seconds {spread}")


if __name__ == "__main__":
    main()
