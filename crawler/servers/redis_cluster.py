"""Clients of a Redis Cluster that callers can use like clients of one Redis.

They are redis-py's own (8.1 was read and tested) with as few changes as callers need, each for one reason:

- No retries: redis-py tries a command again by itself, and a claim that was sent twice would be given
  twice. Redirections (MOVED, ASK) are still followed, since what is redirected was not done.
- `reinitialize_steps` is 0: at every fifth MOVED redis-py would close all connections, and with them the calls of other
  tasks, to read the map of slots anew. Each MOVED mends the map where it was wrong, which is enough.
- A cluster of which no node answers raises RedisClusterException, which is no RedisError: callers, who expect
  RedisErrors from a Redis that is away, would not catch it (`_redis_errors`).
- The blocking client would connect as it is built; this one does at its first command, like any other, and leaves no
  connection open to the nodes that it asked for the others (`SyncCluster`).
- While the map of slots is read anew, the one that is known serves (`AsyncCluster.initialize`): redis-py would have all
  commands wait, for seconds where the node that it asks is the one that is away.
- A node that says CLUSTERDOWN, as one that is just coming back does, costs the calls to others nothing: redis-py would
  close all connections (`AsyncCluster.aclose`).
- A pipeline that fails without retries does not ask for a new map of slots, and would be sent to the lost node for ever
  (`_Pipeline`). A subscription uses the map as it is, and it is empty before the first command (`_PubSub`).
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import TYPE_CHECKING, Any, Self, cast

from redis.asyncio.cluster import ClusterNode as AsyncNode
from redis.asyncio.cluster import ClusterPipeline as AsyncPipeline
from redis.asyncio.cluster import ClusterPubSub as AsyncPubSub
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import ClusterDownError, RedisClusterException, SlotNotCoveredError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from crawler.base import log_events, tasks
from crawler.base.errors import ConfigError
from crawler.base.urls import host_and_port
from crawler.servers.redis_packing import packing

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from crawler.base.log_events import EventLogger

DEFAULT_PORT = 6_379
logger: EventLogger = logging.getLogger(__name__)


def split_addresses(url: str) -> tuple[str, list[str]]:
    """Splits `redis://USER:PASSWORD@HOST:PORT,HOST:PORT/0`; returns the first node's URL and the other addresses."""
    scheme, separator, rest = url.partition("://")
    credentials, at, rest = rest.rpartition("@")
    end = min((position for mark in "/?" if (position := rest.find(mark)) >= 0), default=len(rest))
    first, *others = rest[:end].split(",")
    return scheme + separator + credentials + at + first + rest[end:], others


def cluster_async(url: str, options: dict[str, Any]) -> AsyncCluster:
    """Returns a client for the event loop; it asks for the map of slots at its first command.

    Raises:
        ValueError, TypeError: The URL or an option can't be used.
    """
    url, others = split_addresses(url)
    nodes = [AsyncNode(host, port) for host, port in _addresses(others)]
    options = {"retry": AsyncRetry(NoBackoff(), 0), "reinitialize_steps": 0, **options}
    try:
        client = cast("AsyncCluster", AsyncCluster.from_url(url, startup_nodes=nodes, **options))
    except RedisClusterException as error:
        raise ValueError(str(error)) from None
    of_nodes = client.connection_kwargs  # of those that the map of slots will name
    of_nodes["connection_class"] = packing(of_nodes["connection_class"])
    return client


def cluster_sync(url: str, options: dict[str, Any]) -> SyncCluster:
    """Returns a blocking client; it asks for the map of slots at its first command, and refuses a wrong URL there."""
    url, others = split_addresses(url)
    return SyncCluster(_addresses(others), url=url, retry=Retry(NoBackoff(), 0), reinitialize_steps=0, **options)


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


async def home_of(redis: Any, key: str) -> tuple[Any, int]:
    """Returns the node of a cluster to which a key's commands are sent, and how many replicas it is said to have.

    Raises:
        redis.exceptions.RedisError: No node of the cluster answers, or nobody has the slot.
    """
    await redis.initialize()
    with _redis_errors():
        node = redis.get_node_from_key(key)
    return node, len(redis.nodes_manager.slots_cache[redis.keyslot(key)]) - 1


async def look_again(redis: Any) -> None:
    """Has a client for the event loop read the map of slots, with their replicas, anew.

    Raises:
        redis.exceptions.ConnectionError: No node answers.
    """
    with _redis_errors():
        await redis.nodes_manager.initialize()


def node_of(redis: Any, key: str) -> str | None:
    """Returns the name of the node that a blocking client sends a key's commands to; None: not known, or one Redis."""
    if not isinstance(redis, SyncCluster) or not redis.connected:
        return None
    try:
        node: str = redis.get_node_from_key(key).name  # type: ignore[no-untyped-call]
    except RedisClusterException:  # nobody has the slot now
        return None
    return node


class AsyncCluster(AsyncRedisCluster):
    """A client for the event loop."""

    _reading: asyncio.Task[None] | None = None  # the task that reads the map of slots, in the background

    async def initialize(self, *args: Any, **options: Any) -> Self:
        """Reads the map of slots, unless it is known; redis-py calls this before each command after one that failed.

        Raises:
            redis.exceptions.ConnectionError: No node answers.
            ConfigError: The server is no cluster.
        """
        if not self.nodes_manager.slots_cache or self.nodes_manager.default_node is None:  # it was disconnected
            with _redis_errors():
                await super().initialize(*args, **options)
        elif self._initialize:
            self._initialize = False
            if self._reading is None or self._reading.done():
                self._reading = tasks.start(
                    self.nodes_manager.initialize(), name="map of slots", died=self._map_was_not_read
                )
        return self

    async def aclose(self) -> None:
        """Disconnects, unless redis-py calls it for an answer of one node: then the map is read anew, and no more."""
        if isinstance(sys.exc_info()[1], ClusterDownError | SlotNotCoveredError):
            self._initialize = True
            return
        if self._reading is not None:
            await tasks.cancel(self._reading)
        # redis-py would take a client that is to read the map anew for one without connections, and leave them open.
        self._initialize = False
        await super().aclose()

    def _map_was_not_read(self, event: tasks.TaskDied) -> None:
        """Has the next command try it again, whatever it was."""
        logger.warning(log_events.REDIS_MAP_UNREAD, event.error)
        self._initialize = True

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
    """A blocking client, for threads and commands.

    Attributes:
        connected: A first command was sent, or is being sent.

    Args:
        others: Addresses of nodes beside that of the URL, any of which may tell the others.
        options: redis-py's.
    """

    def __init__(self, others: list[tuple[str, int]], **options: Any) -> None:
        self._others = others
        self._options = options
        self.connected = False

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
        """Disconnects; redis-py by itself would leave the connections of a client that was made from a URL open."""
        if self.connected:
            super().close()
            self.disconnect_connection_pools()  # type: ignore[no-untyped-call]

    def _connect(self) -> None:
        if self.connected:
            return
        self.connected = True  # already now, since redis-py sends commands while it is built
        nodes = [ClusterNode(host, port) for host, port in self._others]  # type: ignore[no-untyped-call]
        try:
            with _redis_errors():
                super().__init__(startup_nodes=nodes, **self._options)  # it adds the URL's own node to the list
        except BaseException:
            self.connected = False
            raise
        finally:
            for node in nodes:
                if node.redis_connection is not None:
                    node.redis_connection.connection_pool.disconnect()  # the client itself would not


@contextlib.contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:
        if "not enabled" in str(error):  # redis-py has no other sign of it
            raise ConfigError("REDIS_CLUSTER", "1", "0, as that Redis is no cluster") from None
        raise RedisConnectionError(str(error)) from error


def _addresses(nodes: list[str]) -> list[tuple[str, int]]:
    return [host_and_port(node, DEFAULT_PORT) for node in nodes]
