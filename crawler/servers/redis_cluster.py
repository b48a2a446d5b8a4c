"""Clients of a Redis Cluster that the rest can use as clients of one Redis.

redis-py's own differ in ways that matter here, and these put right: they raise errors that aren't `RedisError`s, try
again by themselves (a claim that was sent twice would be given twice), ask the cluster as they are built, and after a
pipeline that failed go on asking the node that is gone. A redirection (MOVED, ASK) is followed: what is redirected was
not done.
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
from redis.exceptions import ClusterDownError, RedisClusterException, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 6_379
# Each MOVED mends the map of slots where it was wrong. redis-py would close all connections at every fifth of them, and
# with them the calls under way, to read the map anew.
ONE_SLOT_AT_A_TIME = {"reinitialize_steps": 0}


def split_addresses(url: str) -> tuple[str, list[str]]:
    """Splits `redis://USER:PASSWORD@HOST:PORT,HOST:PORT/0`; returns the first node's URL and the other addresses."""
    scheme, separator, rest = url.partition("://")
    credentials, at, rest = rest.rpartition("@")
    end = min((found for mark in "/?" if (found := rest.find(mark)) >= 0), default=len(rest))
    first, *others = rest[:end].split(",")
    return scheme + separator + credentials + at + first + rest[end:], others


def cluster_async(url: str, options: dict[str, Any]) -> AsyncCluster:
    """Returns a client for the event loop; it asks the cluster at its first command.

    Raises:
        ValueError, TypeError: The URL or an option isn't one.
    """
    url, others = split_addresses(url)
    nodes = [AsyncNode(host, port) for host, port in map(_address, others)]
    options = {"retry": AsyncRetry(NoBackoff(), 0), **ONE_SLOT_AT_A_TIME, **options}
    try:
        return cast("AsyncCluster", AsyncCluster.from_url(url, startup_nodes=nodes, **options))
    except RedisClusterException as error:
        raise ValueError(str(error)) from None


def cluster_sync(url: str, options: dict[str, Any]) -> SyncCluster:
    """Returns a blocking client; it asks the cluster at its first command, and refuses a wrong URL there, too."""
    url, others = split_addresses(url)
    nodes = [ClusterNode(host, port) for host, port in map(_address, others)]  # type: ignore[no-untyped-call]
    return SyncCluster(url=url, startup_nodes=nodes, retry=Retry(NoBackoff(), 0), **ONE_SLOT_AT_A_TIME, **options)


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
    await redis.ready()
    return [{"target_nodes": node} for node in redis.get_primaries()]


async def primary_of(redis: Any, key: str) -> dict[str, Any]:
    """Returns the options that send a command without a key, such as SCAN, to the node that holds a key's slot.

    Raises:
        redis.exceptions.ConnectionError: No node of the cluster answers.
    """
    if not is_cluster(redis):
        return {}
    await redis.ready()
    return {"target_nodes": redis.get_node_from_key(key)}


class AsyncCluster(AsyncRedisCluster):
    """A client for the event loop."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Runs a command on the node that has its key."""
        with _as_redis_errors():
            return await super().execute_command(*args, **options)

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> _Pipeline:  # noqa: ARG002 -- redis-py's interface
        """Returns a pipeline whose commands go to each node in one round trip, those of one node in their order."""
        return _Pipeline(self, None)  # type: ignore[abstract]  # in redis-py's types only

    def pubsub(self, *node: Any, **options: Any) -> _PubSub:
        """Returns a subscription; every node has the messages of all."""
        return _PubSub(self, *node, **options)

    async def ready(self) -> None:
        """Reads the map of slots, unless it is known and nothing speaks against it.

        Raises:
            redis.exceptions.ConnectionError: No node answers.
        """
        with _as_redis_errors():
            await self.initialize()

    def doubt(self) -> None:
        """Has the map of slots read anew before the next command."""
        self._initialize = True


class _Pipeline(AsyncPipeline):
    async def __aenter__(self) -> Self:
        await cast("AsyncCluster", self.cluster_client).ready()
        return self

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 -- redis-py's interface
        try:
            with _as_redis_errors():
                return await super().execute(raise_on_error, allow_redirections)
        except (RedisConnectionError, RedisTimeoutError, ClusterDownError):
            cast("AsyncCluster", self.cluster_client).doubt()
            raise


class _PubSub(AsyncPubSub):
    async def execute_command(self, *args: Any, **options: Any) -> Any:
        await cast("AsyncCluster", self.cluster).ready()
        with _as_redis_errors():
            return await super().execute_command(*args, **options)


class SyncCluster(RedisCluster):
    """A blocking client, for threads and commands."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._asked = False

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Runs a command on the node that has its key."""
        self._ask()
        with _as_redis_errors():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> Any:  # noqa: ARG002 -- redis-py's interface
        """Returns a pipeline whose commands go to each node in one round trip, those of one node in their order."""
        self._ask()
        return super().pipeline()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Disconnects."""
        if self._asked:
            super().close()

    def _ask(self) -> None:
        if self._asked:
            return
        self._asked = True  # before: redis-py sends commands while it is built
        try:
            with _as_redis_errors():
                super().__init__(**self._options)
        except BaseException:
            self._asked = False
            raise


@contextlib.contextmanager
def _as_redis_errors() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:
        if "not enabled" in str(error):  # redis-py has no other sign of it
            raise ConfigError("REDIS_CLUSTER", "1", "0, as that Redis is no cluster") from None
        if isinstance(error, RedisError):
            raise
        raise RedisConnectionError(str(error)) from error


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("an address without a host")
    return parts.hostname, parts.port or PORT
