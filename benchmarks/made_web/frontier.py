"""Brings a frontier to the state that a crawl of a made web has shortly before its end.

A page isn't fetched for that: it is offered, claimed and finished by the calls by which workers do that, in bulk.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.made_web.web import HOSTS
from crawler.base.models import Seed
from crawler.frontier import scripts
from crawler.frontier.queue import MAX_SETTLE_CALL
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.plans.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.made_web.web import MadeWeb

OWNER = "bulk:1:1700000000:abcdef01"
SESSION_MS = 86_400_000  # so that it doesn't lapse meanwhile
UNPACED = "0 1 1000"  # of a site: no delay, one turn, that many seeds on it
CHUNK = 200  # pages of each host that are offered before they are claimed
CLAIM_SEEDS = 500


async def fill(redis_url: str, web: MadeWeb, *, plan: str, site: str, per_host: int) -> None:
    """Has a submitted plan know all pages but the last, those that lead to these wait, and all others be finished.

    Args:
        site: Its politeness doesn't hold meanwhile.
        per_host: The plan's `follow.per_host`.
    """
    async with Operator.connect({"REDIS_URL": redis_url}) as operator:
        queue, keys, numbers = operator.queues["content"], operator.keys.partition(0), itertools.count(1)
        script_keys, politeness = keys.script_keys("content"), await operator.redis.hget(keys.politeness, site)

        def seeds(pages: Iterable[int]) -> Iterator[Seed]:
            for page, host in itertools.product(pages, range(HOSTS)):
                yield Seed(web.url(host, page), plan, site, depth=web.depth(page), general=True)

        async def finish_all() -> None:
            while claimed := (
                await queue.claim(0, OWNER, f"{OWNER}#{next(numbers)}", max_seeds=CLAIM_SEEDS, carrying=0)
            ).seeds:
                pages = Counter((each.seed.host, each.turn) for each in claimed)
                turns = [TurnRelease(host, turn, 0, answers=number) for (host, turn), number in pages.items()]
                for start in range(0, len(claimed), MAX_SETTLE_CALL):
                    part = slice(start, start + MAX_SETTLE_CALL)
                    await queue.settle(0, OWNER, [Settlement("finish", each) for each in claimed[part]], turns[part])

        await operator.redis.hset(keys.politeness, site, UNPACED)
        await scripts.run(operator.redis, "session", script_keys, ["open", OWNER, SESSION_MS])
        done = [page for page in range(1, web.unknown.start) if page not in web.waiting]
        for start in range(0, len(done), CHUNK):
            await queue.offer(seeds(done[start : start + CHUNK]), budget=per_host)
            await finish_all()
        await queue.offer(seeds(web.waiting), budget=per_host)
        await scripts.run(operator.redis, "session", script_keys, ["end", OWNER, 0])
        await operator.redis.hset(keys.politeness, site, politeness)
