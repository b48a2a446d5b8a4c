"""The monitor's connection to the crawl's Redis, which is made when it is needed and may come and go."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base.errors import UnavailableError
from crawler.plans.operator import Operator, explained
from crawler.servers.redis import redis_address
from crawler.servers.redis_refusal import said_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping


class Connection:
    """One `Operator` for all requests. Its client connects anew by itself once Redis is back."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._where = f"Redis at {redis_address(settings)}"
        self._stack = contextlib.AsyncExitStack()
        self._operator: Operator | None = None
        self._connecting = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def operator(self) -> AsyncIterator[Operator]:
        """Gives the operator.

        Raises:
            HeadroomError: Redis is away or refuses this client, before or during the block; or it holds something that
                these settings can't work on.
        """
        async with self._connecting:
            if self._operator is None:
                self._operator = await self._stack.enter_async_context(Operator.connect(self._settings))
        try:
            yield self._operator
        except RedisError as error:
            await self._forget_idle(self._operator)
            raise explained(error, self._where) from error
        except (OSError, TimeoutError) as error:
            raise UnavailableError(f"{self._where}: {said_of(error)}") from error

    @staticmethod
    async def _forget_idle(operator: Operator) -> None:
        """Drops connections that wait to be used: if Redis was restarted, each would fail one more request."""
        if pool := getattr(operator.redis, "connection_pool", None):  # a cluster's client has none
            await pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Disconnects."""
        self._operator = None
        await self._stack.aclose()
