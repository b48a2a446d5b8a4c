"""Whether what a node hears of a host is the host's own fault: its proxy, its clock or its list of authorities may lie.

It is the host's once the workers of two nodes have heard the same, or where there is no other node to ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from redis.exceptions import RedisError

from crawler.base import crawl_time
from crawler.frontier.keys import as_count, as_text, partition_of
from crawler.frontier.owners import is_worker, owner_node

if TYPE_CHECKING:
    from crawler.frontier.keys import Keys, PartitionKeys

    Complaint = Literal["refused", "tls"]  # a refusal by way of a proxy; no TLS, such as by a certificate out of date

# How long another node may take to hear the same of a host. Any node may claim its pages, so one that can has tried
# some of them within minutes.
ALONE_SECONDS = 600
KEPT_SECONDS = 86_400  # how long what is heard of a host is counted, from the first time on


class SecondOpinions:
    """Compares what nodes hear of hosts.

    Args:
        redis: Returns bytes.
        node: This worker's.
        doubt_s: EGRESS_DOUBT_SECONDS; 0: a host is always at fault.
    """

    def __init__(self, redis: Any, keys: Keys, partitions: int, *, node: str, doubt_s: float) -> None:
        self._redis, self._keys, self._partitions = redis, keys, partitions
        self._node, self._doubt_s = node, doubt_s

    async def is_hosts_own(self, complaint: Complaint, host: str, *, in_the_end: bool = False) -> bool:
        """Notes what this node has heard of a host; returns whether that is the host's fault, as far as is known.

        Args:
            in_the_end: Whether it counts as such also if no other node has heard it in ALONE_SECONDS.
        """
        if not self._doubt_s:
            return True
        keys, now_s = self._keys.partition(partition_of(host, self._partitions)), int(crawl_time.now().timestamp())
        complaints = keys.complaints(complaint, host)
        try:
            await self._redis.hsetnx(complaints, self._node, str(now_s))
            heard = {
                as_text(node): as_count(at) or now_s for node, at in (await self._redis.hgetall(complaints)).items()
            }
            if len(heard) == 1:
                await self._redis.expire(complaints, KEPT_SECONDS)
            nodes = await self._nodes(keys)
        except RedisError:
            return False  # the page waits, as all do while Redis is away
        is_alone = nodes <= heard.keys()
        is_old = in_the_end and now_s - heard.get(self._node, now_s) >= ALONE_SECONDS
        return len(heard) > 1 or is_alone or is_old

    async def has_other_nodes(self) -> bool:
        """Returns whether workers of other nodes are there; False while Redis is away."""
        try:
            return bool(await self._nodes(self._keys.partition(0)) - {self._node})
        except RedisError:
            return False

    async def _nodes(self, keys: PartitionKeys) -> set[str]:
        owners = [as_text(owner) for owner in await self._redis.zrange(keys.sessions, 0, -1)]
        return {owner_node(owner) for owner in owners if is_worker(owner)}
