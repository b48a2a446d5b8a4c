"""One of many that claim: `python contender.py REDIS_URL LOCK_MS OUTPUT [--die]`.

Claims one seed at a time and hands it back; writes a line for each: when it was claimed, which it is, and if it was
still its own in the end. With --die it takes the lock, says so, and waits to be killed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

from redis.asyncio import Redis

from crawler.frontier import scripts
from crawler.frontier.config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import Queue
from crawler.frontier.session import new_owner
from crawler.frontier.settlement import Settlement, TurnRelease

SESSION_MS = 600_000
PAUSE_SECONDS = 0.02


async def _main(url, lock_ms, output, die):
    keys = Keys("hr")
    redis = Redis.from_url(url)
    queue = Queue(redis, FrontierConfig(keys, lock_ms=lock_ms), "content")
    script_keys = keys.partition(0).script_keys("content")
    if die:
        while not await redis.set(script_keys[0], b"the dead's", nx=True, px=lock_ms):  # noqa: ASYNC110 -- as claimants do
            await asyncio.sleep(random.uniform(0, 0.002))
        print("held", flush=True)
        await asyncio.sleep(60)
        return
    owner = new_owner()
    await scripts.run(redis, "session", script_keys, ["open", owner, SESSION_MS])
    print("ready", flush=True)
    with Path(output).open("a", buffering=1, encoding="ascii") as log:  # noqa: ASYNC230 -- a few bytes at a time
        number = 0
        while True:
            number += 1
            answer = await queue.claim(0, owner, f"{owner}#{number}", max_seeds=1, carrying=0)
            at = time.monotonic()
            for claimed in answer.seeds:
                turn = TurnRelease(claimed.seed.host, claimed.turn)
                accepted, _ = await queue.settle(0, owner, [Settlement("release", claimed)], [turn])
                log.write(f"{at:.6f}\t{claimed.fingerprint.hex()}\t{accepted}\n")
            await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2]), sys.argv[3], "--die" in sys.argv))
