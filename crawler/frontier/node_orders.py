"""What operators want of a node's workers while they run: to drain, to stop, or to keep to other limits.

It stays in Redis until it is taken back, so that a worker that starts later keeps to it, too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from crawler.base.errors import UnavailableError
from crawler.base.models import Frontier
from crawler.frontier.keys import as_text
from crawler.frontier.scripts import compare_and_set

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier.keys import Keys

NODES_CHANGED = "nodes"  # the message that workers are sent on their wake channels
WRITE_TRIES = 10  # most tries of a write that others' writes spoil: two operators at once meet once or twice
Percent = Annotated[float, Field(ge=1, le=100)]  # this limit and the others below are those of the settings


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """What is wanted of the workers of one node.

    Attributes:
        drained: They claim nothing, and end what they hold.
        stopped_ms: When they were last told to stop, in ms since the epoch; 0: never. A worker that starts later runs.
        memory_limit_percent: In place of NODE_MEMORY_LIMIT_PERCENT; None: as the node's own settings have it.
        cpu_limit_percent: In place of NODE_CPU_LIMIT_PERCENT; likewise.
        first_batch: In place of FIRST_BATCH; likewise.
    """

    __pydantic_config__ = ConfigDict(strict=True)
    drained: bool = False
    stopped_ms: Annotated[int, Field(ge=0, le=2**53)] = 0
    memory_limit_percent: Percent | None = None
    cpu_limit_percent: Percent | None = None
    first_batch: Annotated[int, Field(ge=1, le=1_000)] | None = None

    @property
    def keeps_limits(self) -> bool:
        """Whether the limits are those of the node's settings."""
        return self.memory_limit_percent is self.cpu_limit_percent is self.first_batch is None

    @classmethod
    def parse(cls, raw: bytes | None) -> Self:
        """Reads an order as Redis holds it; of none, and of what another version adds, nothing is wanted.

        Raises:
            ValueError: It is damaged.
        """
        try:
            return cls() if raw is None else TypeAdapter(cls).validate_json(raw)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"]) from None


class NodeOrders:
    """The orders of all nodes."""

    def __init__(self, redis: Any, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def of(self, node: str) -> NodeOrder:
        """Returns what is wanted of a node's workers.

        Raises:
            ValueError: Redis holds a damaged order.
        """
        return NodeOrder.parse(await self._redis.hget(self._keys.node_orders, node))

    async def all(self) -> dict[str, NodeOrder]:
        """Returns the orders by node, without those that want nothing; a damaged one is left out."""
        orders = {}
        for node, raw in sorted((await self._redis.hgetall(self._keys.node_orders)).items()):
            try:
                orders[as_text(node)] = NodeOrder.parse(raw)
            except ValueError:
                continue
        return orders

    async def change(self, node: str, change: Callable[[NodeOrder], NodeOrder]) -> NodeOrder:
        """Changes what is wanted of a node's workers, and tells them; returns what is wanted now.

        A damaged order counts as none. Redis takes it even when it is full.

        Args:
            change: Makes the new order of the old one. It is called again when somebody else was faster.

        Raises:
            UnavailableError: Others change it all the time.
            redis.exceptions.RedisError: Redis is away; whether the order was changed is then unknown.
        """
        for _ in range(WRITE_TRIES):
            raw = await self._redis.hget(self._keys.node_orders, node)
            try:
                old = NodeOrder.parse(raw)
            except ValueError:
                old = NodeOrder()
            order = change(old)
            value = None if order == NodeOrder() else orjson.dumps(asdict(order))
            if await compare_and_set(self._redis, self._keys.node_orders, node, raw, value):
                for frontier in get_args(Frontier):
                    await self._redis.publish(self._keys.wake(frontier), NODES_CHANGED)
                return order
        raise UnavailableError(f"the orders of node {node!r} are changed by others all the time; try again")
