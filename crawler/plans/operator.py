"""What an operator can do to the crawl: look into all that Redis holds, and pause, resume, cancel or delete a plan."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import OutOfMemoryError, RedisError

from crawler.base.errors import AccessError, PlanError, UnavailableError, shown
from crawler.frontier import ledger, recount
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import queues_of
from crawler.frontier.seed_admin import Progress, SeedAdmin, unheard
from crawler.plans.plan import with_priority
from crawler.plans.registry import Registry
from crawler.servers.redis import redis_address, redis_async
from crawler.servers.redis_full import FULL_REMEDY
from crawler.servers.redis_refusal import refusal, said_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys
    from crawler.frontier.ledger import Ledger
    from crawler.frontier.queue import Queue
    from crawler.plans.plan_record import PlanRecord, PlanState

# How often a fault is counted again: seeds that move meanwhile may look like one; a real one stays the same.
RECOUNT_TRIES = 3
# How long a command tries to connect: a person waits, and a Redis that runs answers within ms.
COMMAND_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Operator:
    """A connection to the Redis that all nodes of a crawl share.

    Every method may raise `redis.exceptions.RedisError`, which the block of `connect` turns into an UnavailableError.
    Every method that changes a plan does all its steps each time, whatever it finds. So calling it again completes what
    was broken off half-way. It moves seeds in steps of some 3 ms of Redis's time, and tells `progress` of each.

    Attributes:
        partitions: FRONTIER_PARTITIONS.
        session_s: SESSION_SECONDS, after which a silent worker is taken for dead.
        queues: The queue of each frontier.
        admins: For each frontier, the operations on single seeds.
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
    async def connect(
        cls, settings: Mapping[str, Any], *, begin: bool = False, any_format: bool = False
    ) -> AsyncIterator[Self]:
        """Connects, trying once, and disconnects at the end of the block.

        Args:
            begin: True where this may be the first use of this Redis: the frontier's format is written to it.
            any_format: True where the frontier may be of another format, and only its migration is asked for.

        Raises:
            ConfigError: A setting has a value that it can't have.
            UnavailableError: Redis can't be reached, goes away during the block, or is too full.
            AccessError: Redis refuses this client, or a command of the block.
            FrontierError: Redis holds something that these settings can't work on.
        """
        config = FrontierConfig.from_settings(settings)
        keys, partitions = config.keys, config.partitions
        redis = redis_async(settings)
        where = f"Redis at {redis_address(settings)}"
        try:
            try:
                async with asyncio.timeout(COMMAND_CONNECT_SECONDS):
                    has_filters = config.dedup_error_rate > 0
                    await prepare(redis, keys, partitions, begin=begin, any_format=any_format, has_filters=has_filters)
            except (OSError, TimeoutError) as error:
                raise UnavailableError(f"{where}: {said_of(error)}") from error
            queues = queues_of(config, redis)
            admins = {name: SeedAdmin(queue) for name, queue in queues.items()}
            registry = Registry(redis, keys, partitions)
            yield cls(redis, keys, partitions, config.session_s, registry, queues, admins)
        except RedisError as error:
            raise explained(error, where) from error
        finally:
            await redis.aclose()

    async def ledger(self, plan: str | None = None) -> Ledger:
        """Returns the ledger of one plan, or of all plans; empty when nothing was ever offered."""
        return await ledger.read(self.redis, self.keys, self.partitions, plan)

    async def ledger_of(self, plan: str) -> Ledger:
        """Returns the ledger of one plan; empty when it was submitted and nothing offered yet.

        Raises:
            PlanError: There is no plan of that name.
        """
        counted = await self.ledger(plan)
        if not counted:
            await self.registry.plan(plan)
        return counted

    async def recount(self, progress: Callable[[int, int], object] | None = None) -> list[str]:
        """Counts all seeds anew; returns what disagrees with the ledger each time, in words; empty when all agrees.

        Args:
            progress: As that of `recount.recount`; each time begins anew.
        """
        problems = await recount.recount(self.redis, self.keys, self.partitions, progress)
        for _ in range(RECOUNT_TRIES - 1):
            if not problems:
                break
            again = await recount.recount(self.redis, self.keys, self.partitions, progress)
            problems = [problem for problem in again if problem in problems]
        return [str(problem) for problem in problems]

    async def pause(self, name: str, progress: Progress = unheard) -> None:
        """Keeps a plan's seeds from being claimed, but for those that an active plan wants, too.

        Seeds that are being crawled are finished.

        Raises:
            PlanError: There is no such plan, or it was cancelled.
        """
        await self._set_state(name, "paused")
        await self._set_aside(name, progress)

    async def resume(self, name: str, progress: Progress = unheard) -> int:
        """Lets a paused plan go on; returns how many seeds had been set aside.

        Raises:
            PlanError: There is no such plan, or it was cancelled.
        """
        await self._set_state(name, "active")
        return sum([await admin.resume(name, progress) for admin in self.admins.values()])

    async def prioritize(self, name: str, priority: int, progress: Progress = unheard) -> int:
        """Gives a plan another priority, in its definition and for all of its seeds that aren't finished.

        Args:
            priority: From 0 to 9.

        Returns:
            The number of those seeds.

        Raises:
            PlanError: There is no such plan.
        """
        await self._plan(name)

        def prioritized(record: PlanRecord | None) -> PlanRecord:
            if record is None:
                raise PlanError(f"plan {name!r} was deleted by somebody else meanwhile")
            return replace(record, definition=with_priority(record.definition, priority))

        await self.registry.change_plan(name, prioritized)
        # What workers offer for pages that they hold has it, too, from when they are told. Seeds that they claim or
        # offer while the first pass goes on may be behind it: the second one finds those.
        for _ in range(2):
            await self.registry.tell_priority(name, priority)
            moved = sum([await admin.prioritize(name, priority, progress) for admin in self.admins.values()])
        return moved

    async def cancel(self, name: str, progress: Progress = unheard) -> int:
        """Fails the seeds of a plan that are ready, with the reason `cancelled`; returns how many.

        Those that another plan wants, too, are left to that one. Seeds that are being crawled are finished.

        Raises:
            PlanError: There is no such plan.
        """
        await self._set_state(name, "cancelled")
        return await self._set_aside(name, progress)

    async def delete(self, name: str, progress: Progress = unheard) -> None:
        """Forgets a plan that is done or cancelled: its record, ledger and failed seeds.

        Its finished pages stay known, but for those that led to others, which may be undelivered: should a plan of the
        same name be submitted, it comes by there again.

        Raises:
            PlanError: There is no such plan, or some of its seeds are ready, are being crawled or are being offered.
                Then nothing was deleted; or a part, when seeds were offered meanwhile.
        """
        record = await self._plan(name)
        if record.state == "cancelled":
            # Workers may have handed seeds back since, and none may be there to claim them.
            await self._set_aside(name, progress)
        elif record.offering_until_ms > await self.registry.now_ms():
            raise PlanError(f"plan {name!r} is being submitted; cancel it first")
        await self._refuse_unfinished(record)
        record = await self._decide(name)
        await self.registry.tell_partitions(record, deleted=True)  # from here on nobody can offer seeds of it
        try:
            await self._forget(record, progress)
        except PlanError:
            await self.registry.tell_partitions(await self._decide(name))
            raise
        if not await self.registry.replace_plan(record, None):
            raise PlanError(f"plan {name!r} was submitted or changed by somebody else meanwhile")

    async def _forget(self, record: PlanRecord, progress: Progress) -> None:
        """Forgets a plan's ledger, its failed seeds, its search pages, those that led on and those left to others.

        Raises:
            PlanError: Some of its seeds are ready or being crawled: they were offered just before nobody could.
        """
        await self._refuse_unfinished(record)
        for _plan, site in await self.ledger(record.name):
            for admin in self.admins.values():
                if not await admin.forget(record.name, site, progress):
                    raise PlanError(f"plan {record.name!r} has got new seeds on site {site!r} meanwhile; try again")
        await self.admins["content"].forget_cancelled(record.name)
        for admin in self.admins.values():
            await admin.forget_finished(record.name, progress)

    async def _refuse_unfinished(self, record: PlanRecord) -> None:
        accounts = [account for both in (await self.ledger(record.name)).values() for account in both.values()]
        if unfinished := sum(account.ready + account.executing for account in accounts):
            hint = (
                "cancel it first" if record.state != "cancelled" else "workers still end what they hold, try again soon"
            )
            raise PlanError(f"plan {record.name!r} has {unfinished} seeds that are ready or executing; {hint}")

    async def _set_aside(self, name: str, progress: Progress) -> int:
        """Fails the ready seeds of a cancelled plan, sets those of a paused one aside; returns how many."""
        return sum([await admin.set_aside(name, progress) for admin in self.admins.values()])

    async def _set_state(self, name: str, state: PlanState) -> None:
        await self.registry.tell_partitions(await self._decide(name, state))

    async def _plan(self, name: str) -> PlanRecord:
        """Returns a plan's record.

        Raises:
            PlanError: No plan of that name was submitted; it says so if there are pages all the same.
        """
        try:
            return await self.registry.plan(name)
        except PlanError:
            if not await self.ledger(name):
                raise
            hint = "they can't be paused, resumed, cancelled or deleted; scrapy seeds list shows them"
            raise PlanError(f"no plan {shown(name)} was submitted, its pages were offered one by one: {hint}") from None

    async def _decide(self, name: str, state: PlanState | None = None) -> PlanRecord:
        """Writes into a plan's record which state it is in from now on (None: as before); returns the record."""
        await self._plan(name)  # tells what is known of the name, if there is no such plan
        now_ms = await self.registry.now_ms()

        def decided(record: PlanRecord | None) -> PlanRecord:
            if record is None:
                raise PlanError(f"plan {name!r} was deleted by somebody else meanwhile")
            if record.state == "cancelled" and state not in ("cancelled", None):
                raise PlanError(f"plan {name!r} was cancelled; scrapy plan submit --replace begins it anew")
            return record.decided(state or record.state, now_ms)

        return await self.registry.change_plan(name, decided)


def explained(error: RedisError, where: str) -> UnavailableError:
    """Returns what an error of Redis means for an operator: it is full, refuses this client, or is away.

    Args:
        where: Which Redis it is.
    """
    if isinstance(error, OutOfMemoryError):
        return UnavailableError(f"{where} is full: {FULL_REMEDY}")
    if why := refusal(error):
        return AccessError(f"{where}: {why}")
    return UnavailableError(f"{where}: {said_of(error)}")
