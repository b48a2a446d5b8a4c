"""Clients of a Redis Cluster that callers can use like clients of one Redis.

They are redis-py's own (8.1 was read and tested) with as few changes as callers need, each for one reason:

- No retries: redis-py tries a command again by itself, and a claim that was sent twice would be given
  twice. Redirections (MOVED, ASK) are still followed, since what is redirected was not done.
- `reinitialize_steps` is 0: at every fifth MOVED redis-py would close all connections, and with them the calls of other
  tasks, to read the map of slots anew. Each MOVED mends the map where it was wrong, which is enough.
- A cluster of which no node answers raises RedisClusterException, which is no RedisError: callers, who expect
  RedisErrors from a Redis that is away, would not catch it (`_redis_errors`).
- The blocking client would connect as it is built; this one does at its first command, like any other (`SyncCluster`).
- A pipeline that fails without retries does not ask for a new map of slots, and would be sent to the lost node for ever
  (`_Pipeline`). A subscription uses the map as it is, and it is empty before the first command (`_PubSub`).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import urlsplit

from redis.asyncio.cluster import ClusterNode as AsyncNode
from redis.asyncio.cluster import ClusterPipeline as AsyncPipeline
from redis.asyncio.cluster import ClusterPubSub as AsyncPubSub
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_PORT = 6_379


def split_addresses(url: str) -> tuple[str, list[str]]:
    """Splits `redis://USER:PASSWORD@HOST:PORT,HOST:PORT/0`; returns the first node's URL and the other addresses."""
    scheme, separator, rest = url.partition("://")
    credentials, at, rest = rest.rpartition("@")
    end = min((found for mark in "/?" if (found := rest.find(mark)) >= 0), default=len(rest))
    first, *others = rest[:end].split(",")
    return scheme + separator + credentials + at + first + rest[end:], others


def cluster_async(url: str, options: dict[str, Any]) -> AsyncCluster:
    """Returns a client for the event loop; it asks for the map of slots at its first command.

    Raises:
        ValueError, TypeError: The URL or an option can't be used.
    """
    url, others = split_addresses(url)
    nodes = [AsyncNode(host, port) for host, port in map(_address, others)]
    options = {"retry": AsyncRetry(NoBackoff(), 0), "reinitialize_steps": 0, **options}
    try:
        return cast("AsyncCluster", AsyncCluster.from_url(url, startup_nodes=nodes, **options))
    except RedisClusterException as error:
        raise ValueError(str(error)) from None


def cluster_sync(url: str, options: dict[str, Any]) -> SyncCluster:
    """Returns a blocking client; it asks for the map of slots at its first command, and refuses a wrong URL there."""
    url, others = split_addresses(url)
    nodes = [ClusterNode(host, port) for host, port in map(_address, others)]  # type: ignore[no-untyped-call]
    return SyncCluster(url=url, startup_nodes=nodes, retry=Retry(NoBackoff(), 0), reinitialize_steps=0, **options)


def is_cluster(redis: object) -> bool:
    """Returns whether a client for the event loop is a cluster's."""
    return isinstance(redis, AsyncCluster)


async def each_primary(redis: Any) -> list[dict[str, Any]]:
    """Returns the options that send a command without a key to each primary in turn; for one Redis, no options once.

    Raises:
        redis.exceptions.ConnectionError: No node of the cluster answers.
    """
    if not is_cluster(redis):
        return [{}]
    await redis.initialize()
    return [{"target_nodes": node} for node in redis.get_primaries()]


async def primary_of(redis: Any, key: str) -> dict[str, Any]:
    """Returns the options that send a command without a key, such as SCAN, to the node that holds a key's slot.

    Raises:
        redis.exceptions.ConnectionError: No node of the cluster answers.
    """
    if not is_cluster(redis):
        return {}
    await redis.initialize()
    return {"target_nodes": redis.get_node_from_key(key)}


class AsyncCluster(AsyncRedisCluster):
    """A client for the event loop."""

    async def initialize(self, *args: Any, **options: Any) -> Self:
        """Reads the map of slots, unless it is known; redis-py calls this before each command.

        Raises:
            redis.exceptions.ConnectionError: No node answers.
            ConfigError: The server is no cluster.
        """
        with _redis_errors():
            await super().initialize(*args, **options)
        return self

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> _Pipeline:  # noqa: ARG002 -- redis-py's interface
        """Returns a pipeline whose commands go to each node in one round trip, those of one node in their order."""
        return _Pipeline(self, None)  # type: ignore[abstract]  # in redis-py's types only

    def pubsub(self, *node: Any, **options: Any) -> _PubSub:
        """Returns a subscription; every node has the messages of all."""
        return _PubSub(self, *node, **options)


class _Pipeline(AsyncPipeline):
    async def execute(self, *args: Any, **options: Any) -> list[Any]:
        try:
            return await super().execute(*args, **options)
        except AsyncRedisCluster.ERRORS_ALLOW_RETRY:
            self.cluster_client._initialize = True  # noqa: SLF001 -- its only sign that the map must be read anew
            raise


class _PubSub(AsyncPubSub):
    async def execute_command(self, *args: Any, **options: Any) -> Any:
        await self.cluster.initialize()
        return await super().execute_command(*args, **options)


class SyncCluster(RedisCluster):
    """A blocking client, for threads and commands."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._connected = False

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Runs a command on the node that has its key."""
        self._connect()
        with _redis_errors():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> Any:  # noqa: ARG002 -- redis-py's interface
        """Returns a pipeline whose commands go to each node in one round trip, those of one node in their order."""
        self._connect()
        return super().pipeline()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Disconnects."""
        if self._connected:
            super().close()

    def _connect(self) -> None:
        if self._connected:
            return
        self._connected = True  # already now, since redis-py sends commands while it is built
        try:
            with _redis_errors():
                super().__init__(**self._options)
        except BaseException:
            self._connected = False
            raise


@contextlib.contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:
        if "not enabled" in str(error):  # redis-py has no other sign of it
            raise ConfigError("REDIS_CLUSTER", "1", "0, as that Redis is no cluster") from None
        raise RedisConnectionError(str(error)) from error


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("an address without a host")
    return parts.hostname, parts.port or DEFAULT_PORT
