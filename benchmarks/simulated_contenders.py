"""Owners that claim and finish with no pause, for simulation.py."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass

from crawler.frontier import scripts
from crawler.frontier.config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import Queue
from crawler.frontier.session import new_owner
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.scheduler import LOCK_RETRY_SECONDS
from crawler.servers.redis import redis_async

MOST = 100  # seeds in a claim
SESSION_MS = 3_600_000
PATIENCE_SECONDS = 60  # with a thousand owners in a process, an answer may lie there for long before it is read


@dataclass(frozen=True, slots=True)
class Contest:
    """Where owners claim, when they begin (wall clock, s), and for how long."""

    url: str
    prefix: str
    partitions: int
    begin: float
    seconds: float


async def contend(contest: Contest, owners: int) -> tuple[Counter[str], list[float], float]:
    """Runs owners.

    Returns:
        Answers to claims by state, with `seeds`; and for each claim that met the lock, its ms till an answer;
        and when the last owner had ended, by the wall clock.
    """
    redis = redis_async(
        {"REDIS_URL": contest.url, "REDIS_PARAMS": {"max_connections": owners + 1, "socket_timeout": PATIENCE_SECONDS}}
    )
    keys = Keys(contest.prefix)
    queue = Queue(redis, FrontierConfig(keys, contest.partitions), "content")
    states: Counter[str] = Counter()
    waits: list[float] = []
    names = [new_owner() for _ in range(owners)]
    for number in range(contest.partitions):
        script_keys = keys.partition(number).script_keys("content")
        for name in names:
            await scripts.run(redis, "session", script_keys, ["open", name, SESSION_MS])
    await asyncio.sleep(contest.begin - time.time())
    until = time.monotonic() + contest.seconds

    async def own(name: str) -> None:
        number, met = 0, 0.0
        while (asked := time.monotonic()) < until:
            number += 1
            partition = random.randrange(contest.partitions)
            answer = await queue.claim(partition, name, f"{name}#{number}", max_seeds=MOST, carrying=0)
            states[answer.state] += 1
            states["seeds"] += len(answer.seeds)
            if answer.state == "locked":
                met = met or asked
                await asyncio.sleep(random.uniform(0.1, 1.0) * LOCK_RETRY_SECONDS)  # as the scheduler does
                continue
            if met:
                waits.append(1000 * (time.monotonic() - met))
                met = 0.0
            if not answer.seeds:
                states["dry"] += 1
                await asyncio.sleep(LOCK_RETRY_SECONDS)
                continue
            turns = dict.fromkeys((claimed.seed.host, claimed.turn) for claimed in answer.seeds)
            ends = [Settlement("finish", claimed) for claimed in answer.seeds]
            await queue.settle(partition, name, ends, [TurnRelease(host, turn, 0) for host, turn in turns])

    await asyncio.gather(*map(own, names))
    ended = time.time()
    await redis.aclose()
    return states, waits, ended
