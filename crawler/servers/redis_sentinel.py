"""Clients of a Redis that sentinels watch: they ask one of these for the primary each time that they connect.

After a failover the old primary, now a replica, refuses writes or closes the connection: either is an error like that
of an outage, and whoever calls again reaches the new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncPool
from redis.connection import SSLConnection, parse_url
from redis.sentinel import Sentinel, SentinelConnectionPool

from crawler.base.urls import host_and_port
from crawler.servers.redis_cluster import split_addresses

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 26_379
# The entries of parse_url's answer that say where the database is; the others are options.
OF_THE_DATABASE = ("host", "port", "connection_class", "path")


def sentinel_async(url: str, primary: str, options: Mapping[str, Any], login: Mapping[str, Any]) -> AsyncRedis:
    """Returns a client for the event loop.

    Args:
        url: REDIS_URL, which names the sentinels; user, password, database and query are the primary's.
        primary: Its name among the sentinels.
        options: Of the client.
        login: `username` and `password` of the sentinels; empty: they ask for none.

    Raises:
        ValueError, TypeError: The URL or an option can't be used.
    """
    addresses, options, of_sentinels = _parts(url, options, login)
    sentinel = AsyncSentinel(addresses, sentinel_kwargs=of_sentinels, **options)  # type: ignore[no-untyped-call]  # redis-py
    return cast("AsyncRedis", sentinel.master_for(primary, AsyncRedis, _AsyncPool))


def sentinel_sync(url: str, primary: str, options: Mapping[str, Any], login: Mapping[str, Any]) -> Redis:
    """Returns a blocking client; otherwise as `sentinel_async`."""
    addresses, options, of_sentinels = _parts(url, options, login)
    sentinel = Sentinel(addresses, sentinel_kwargs=of_sentinels, **options)  # type: ignore[no-untyped-call]
    return cast("Redis", sentinel.master_for(primary, Redis, _Pool))  # type: ignore[no-untyped-call]


def _parts(
    url: str, options: Mapping[str, Any], login: Mapping[str, Any]
) -> tuple[list[tuple[str, int]], dict[str, Any], dict[str, Any]]:
    """Returns the sentinels' addresses, the options for the primary, and those for the sentinels."""
    first, others = split_addresses(url)
    parsed: dict[str, Any] = dict(parse_url(first))  # type: ignore[no-untyped-call]
    own = {name: value for name, value in parsed.items() if name not in OF_THE_DATABASE} | dict(options)
    if parsed.get("connection_class") is SSLConnection:
        own["ssl"] = True
    addresses = [(parsed.get("host", "127.0.0.1"), int(parsed.get("port", DEFAULT_PORT)))]
    addresses += [host_and_port(other, DEFAULT_PORT) for other in others]
    secret = ("username", "password", "db")
    return addresses, own, {name: value for name, value in own.items() if name not in secret} | dict(login)


class _AsyncPool(AsyncPool):
    """Connections to the primary; redis-py leaves those to the sentinels open."""

    async def disconnect(self, *args: Any, **options: Any) -> None:
        await super().disconnect(*args, **options)
        for sentinel in self.sentinel_manager.sentinels:
            await sentinel.aclose()


class _Pool(SentinelConnectionPool):
    def disconnect(self, *args: Any, **options: Any) -> None:
        super().disconnect(*args, **options)
        for sentinel in self.sentinel_manager.sentinels:
            sentinel.close()
