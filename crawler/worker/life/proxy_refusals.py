"""Whether a refusal that came by a proxy is the host's own: the proxy of one node may refuse what others get.

It is the host's once the workers of two nodes have been refused there, or where there is no other node to ask. What
doesn't say that a proxy has sent it counts as the host's also if no other node has said so in ALONE_SECONDS.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.seldom import Seldom
from crawler.frontier.keys import as_count, as_text, partition_of
from crawler.frontier.owners import is_worker, owner_node

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawler.base.log_events import EventLogger
    from crawler.frontier.keys import Keys

logger: EventLogger = logging.getLogger(__name__)
FORBIDDEN = 403
CLIENT_ERRORS = range(400, 500)
ALONE_SECONDS = 600
KEPT_SECONDS = 86_400  # how long a host's refusals are counted, from the first one on


def may_be_a_proxys(response: Response) -> bool:
    """Returns whether an answer that came by a proxy may be the proxy's own refusal."""
    return response.status == FORBIDDEN or (response.status in CLIENT_ERRORS and is_a_proxys(response))


def is_a_proxys(response: Response) -> bool:
    """Returns whether an answer says that a proxy has made it: Squid's header, or that of RFC 9209 with an error."""
    return "X-Squid-Error" in response.headers or b"error=" in (response.headers.get("Proxy-Status") or b"")


class ProxyRefusals:
    """Compares what nodes hear of hosts.

    Args:
        redis: Returns bytes.
        node: This worker's.
        doubt_s: EGRESS_DOUBT_SECONDS; 0: a host is always at fault.
    """

    def __init__(self, redis: Any, keys: Keys, partitions: int, *, node: str, doubt_s: float) -> None:
        self._redis, self._keys, self._partitions = redis, keys, partitions
        self._node, self._doubt_s = node, doubt_s
        self._warn = Seldom(logger.warning)

    async def is_hosts_own(self, host: str, response: Response) -> bool:
        """Notes that this node was refused at a host; returns whether that is the host's word, as far as is known."""
        if not self._doubt_s:
            return True
        keys, now_s = self._keys.partition(partition_of(host, self._partitions)), int(time.time())
        refused = keys.refused(host)
        try:
            await self._redis.hsetnx(refused, self._node, str(now_s))
            heard = {as_text(node): as_count(at) or now_s for node, at in (await self._redis.hgetall(refused)).items()}
            if len(heard) == 1:
                await self._redis.expire(refused, KEPT_SECONDS)
            owners = [as_text(owner) for owner in await self._redis.zrange(keys.sessions, 0, -1)]
        except RedisError:
            return False  # the page waits, as all do while Redis is away
        is_alone = {owner_node(owner) for owner in owners if is_worker(owner)} <= heard.keys()
        is_old = now_s - heard.get(self._node, now_s) >= ALONE_SECONDS and not is_a_proxys(response)
        if len(heard) > 1 or is_alone or is_old:
            return True
        self._warn(log_events.PROXY_REFUSES, host, response.status)
        return False
