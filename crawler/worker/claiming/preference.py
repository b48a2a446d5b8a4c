"""Which hosts this worker claims first: those for which it is first of all workers (crawler/cluster/node_shares.py).

A worker that keeps a host sees its links again, which it remembers as known (crawler/worker/offers/known_pages.py).

Redis names hosts that wait in line, the worker picks its own from them and asks for those with its next claims, so
Redis reckons nothing. A claim that finds none of them due takes what has waited longest, whosoever it is: no host waits
for its worker while another one has room.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.cluster.node_shares import Members, read_members
from crawler.frontier.owners import process_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys
    from crawler.frontier.queue import ClaimAnswer

FOLLOW_SECONDS = 10.0  # how often it is asked which workers there are: sooner than one that is gone is found missing
# How many hosts a claim asks for: some may be taken by now, and BATCH_MAX seeds are those of ten hosts by default.
LEAST_PREFERRED, MOST_PREFERRED = 2, 16
# How many hosts in line are named: for each worker that there is, in all, and at least.
LINE_OF_WORKER, LONGEST_LINE, SHORTEST_LINE = 16, 200, 64
# How many of these names a claim may cost Redis on average, for itself and each of its seeds: 1 to 3 % of its CPU.
NAMES_OF_CLAIM, NAMES_OF_SEED = 6, 1
HOSTS_REMEMBERED = 4_096  # of how many hosts it is remembered who is first, in some 0.5 MB


class Preference:
    """Picks the hosts that a worker's claims ask for.

    Args:
        name: The session's.
    """

    def __init__(self, redis: Redis, keys: Keys, frontier: Frontier, name: str) -> None:
        self._redis = redis
        self._keys = keys
        self._frontier: Frontier = frontier
        self._process = process_of(name)
        self._in_line: dict[int, list[str]] = {}  # by partition: hosts in line that are this worker's
        self._affordable: dict[int, int] = defaultdict(int)  # by partition: how many names the next line may have
        self._members = Members()
        self._is_ours: Callable[[str], bool] = lambda _host: False

    async def follow(self) -> None:
        """Asks again and again which workers there are, until cancelled; while Redis is away, those of before count."""
        while True:
            try:
                members = (await read_members(self._redis, self._keys)).get(self._frontier, Members())
            except RedisError:
                members = self._members
            self.heed(members)
            await asyncio.sleep(FOLLOW_SECONDS)

    def heed(self, members: Members) -> None:
        """Prefers what is this worker's among these members."""
        if members == self._members:
            return
        self._members = members
        self._in_line.clear()
        self._is_ours = lru_cache(HOSTS_REMEMBERED)(
            lambda host: bool(members.workers) and members.first_worker(host) == self._process
        )

    def next_hosts(self, partition: int, max_seeds: int) -> list[str]:
        """Returns the hosts that the next claim of so many seeds is to ask for; one that is taken makes way."""
        number = min(max(max_seeds, LEAST_PREFERRED), MOST_PREFERRED)
        return self._in_line.get(partition, [])[:number]

    def line_length(self, partition: int, asked: Sequence[str]) -> int:
        """Returns how many hosts in line a claim is to name: some if it asks for the last that are known; alone, none.

        Args:
            asked: The hosts that it asks for.
        """
        workers = sum(map(len, self._members.workers.values()))
        is_alone, knows_more = workers <= 1, len(asked) < len(self._in_line.get(partition, ()))
        wanted = 0 if is_alone or knows_more else min(workers * LINE_OF_WORKER, LONGEST_LINE)
        affordable = self._affordable[partition]
        return min(wanted, affordable) if affordable >= min(wanted, SHORTEST_LINE) else 0

    def heard(self, partition: int, asked: Sequence[str], answer: ClaimAnswer) -> None:
        """Takes over which hosts are in a partition's line, by the answer to a claim that asked for some."""
        if answer.line:
            self._affordable[partition] = 0
            self._in_line[partition] = list(filter(self._is_ours, answer.line))
        elif asked and answer.state == "ok":
            given = {claimed.seed.host for claimed in answer.seeds}
            # Those behind the last one that was given may not have been looked at; without any, all were in vain.
            tried = max((place + 1 for place, host in enumerate(asked) if host in given), default=len(asked))
            self._in_line[partition] = self._in_line.get(partition, [])[tried:]
        self._affordable[partition] += NAMES_OF_CLAIM + len(answer.seeds) * NAMES_OF_SEED
