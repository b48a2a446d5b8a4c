"""The cluster as an operator sees it: a connection to all that Redis holds, and what can be done to a plan."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import OutOfMemoryError, RedisError

from crawler.errors import PlanError, UnavailableError
from crawler.frontier import ledger
from crawler.frontier.config import FrontierConfig
from crawler.frontier.preflight import prepare
from crawler.frontier.seed_admin import SeedAdmin
from crawler.plans.registry import Registry
from crawler.redaction import redacted_address
from crawler.servers.redis import DEFAULT_URL, redis_async
from crawler.servers.redis_full import REMEDY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.frontier.ledger import Ledger
    from crawler.frontier.queue import Queue
    from crawler.models import Frontier
    from crawler.plans.registry import PlanRecord, PlanState

ANSWER_SECONDS = 5.0  # a person waits at the terminal; a Redis that is there answers within milliseconds


@dataclass(frozen=True, slots=True)
class Operator:
    """A connection to a cluster.

    Every method may raise `redis.exceptions.RedisError`; `connect` turns it into an UnavailableError. What changes a
    plan does all its steps each time, whatever state it finds: what died half-way is completed by doing it again.

    Attributes:
        session_s: SESSION_SECONDS.
    """

    redis: Redis
    keys: Keys
    partitions: int
    session_s: float
    registry: Registry
    queues: Mapping[Frontier, Queue]
    admins: Mapping[Frontier, SeedAdmin]

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(cls, settings: Mapping[str, Any], *, begin: bool = False) -> AsyncIterator[Self]:
        """Connects, with one try, and disconnects at the end.

        Args:
            begin: This may be the very first use of this Redis: the frontier's format is written down.

        Raises:
            ConfigError: A setting is wrong.
            UnavailableError: Redis can't be reached, goes away meanwhile, or is too full for what is asked of it.
            FrontierError: Redis holds something these settings can't work on.
        """
        config = FrontierConfig.from_settings(settings)
        keys, partitions = config.keys, config.partitions
        redis = redis_async(settings)
        where = f"Redis at {redacted_address(str(settings.get('REDIS_URL') or DEFAULT_URL))}"
        try:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await prepare(redis, keys, partitions, begin=begin)
            except (OSError, TimeoutError) as error:
                raise UnavailableError(f"{where}: {str(error).rstrip('.') or 'no answer'}") from error
            queues = config.queues(redis)
            admins = {name: SeedAdmin(queue) for name, queue in queues.items()}
            registry = Registry(redis, keys, partitions)
            yield cls(redis, keys, partitions, config.session_s, registry, queues, admins)
        except OutOfMemoryError as error:
            raise UnavailableError(f"{where} is full: {REMEDY}") from error
        except RedisError as error:
            raise UnavailableError(f"{where}: {str(error).rstrip('.')}") from error
        finally:
            await redis.aclose()

    async def ledger(self, plan: str | None = None) -> Ledger:
        """Returns the ledger of one plan, or of all; empty when nothing was ever offered."""
        return await ledger.read(self.redis, self.keys, self.partitions, plan)

    async def pause(self, name: str) -> None:
        """Keeps a plan's seeds from being claimed; what is executing ends by itself.

        Raises:
            PlanError: No such plan, or a cancelled one.
        """
        await self._set(name, "paused")

    async def resume(self, name: str) -> int:
        """Lets a paused plan go on; returns how many seeds were parked.

        Raises:
            PlanError: No such plan, or a cancelled one.
        """
        await self._set(name, "active")
        return sum([await admin.resume(name) for admin in self.admins.values()])

    async def cancel(self, name: str) -> int:
        """Fails all that a plan has ready, as `cancelled`; what is executing ends by itself. Returns how many failed.

        Raises:
            PlanError: No such plan.
        """
        await self._set(name, "cancelled")
        return sum([await admin.cancel(name) for admin in self.admins.values()])

    async def delete(self, name: str) -> None:
        """Forgets a plan that is over: its record, ledger and failed seeds. Finished pages stay known.

        Raises:
            PlanError: No such plan, or it isn't over; nothing was deleted then, or not all.
        """
        record = await self.registry.plan(name)
        pages = await self.ledger(name)
        left = sum(account.ready + account.executing for page in pages.values() for account in page.values())
        if record.offering_until_ms > await self.registry.now_ms():
            raise PlanError(f"plan {name!r} is being submitted; cancel it first")
        if left:
            hint = (
                "cancel it first" if record.state != "cancelled" else "workers still end what they hold, try again soon"
            )
            raise PlanError(f"plan {name!r} has {left} seeds that are ready or executing; {hint}")
        for _plan, site in pages:
            for admin in self.admins.values():
                if not await admin.forget(name, site):
                    raise PlanError(f"plan {name!r} has got new seeds on site {site!r} meanwhile; try again")
        await self.registry.remove(name)

    async def _set(self, name: str, state: PlanState) -> PlanRecord:
        record = await self.registry.plan(name)
        if record.state == "cancelled" and state != "cancelled":
            raise PlanError(f"plan {name!r} was cancelled; scrapy plan submit --replace begins it anew")
        changed = replace(record, state=state)
        await self.registry.save(changed)
        await self.registry.mark(name, state)
        return changed
