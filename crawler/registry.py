"""Definitions in Redis: plans with their state, sites with their version. Every process of a cluster reads the same ones.

What comes back from Redis is validated again: a definition is data, and Redis isn't trusted.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import orjson

from crawler.errors import FrontierError, PlanError
from crawler.frontier.keys import SCHEMA_VERSION, Keys
from crawler.frontier.queue import OFFER_BATCH, Queue
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from redis.asyncio import Redis

    from crawler.plans import Plan

PlanState = Literal["active", "paused", "cancelled"]
OFFERING_MS = 60_000  # a submission that says nothing for so long has died; it no longer keeps a crawl from ending
SITES_CHANGED = "sites"  # message on the wake channels
MIN_REDIS = (7, 0)  # ZADD LT, ZRANGE BYSCORE, TIME before writes in scripts


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A submitted plan as Redis keeps it.

    Attributes:
        edition: When it was submitted, in ms since the epoch; part of its nav seeds' identity.
        nav_seeds: How many it has.
        offering_until_ms: Deadline of the running submission; 0: all its nav seeds are offered.
    """

    name: str
    definition: dict[str, Any]
    sites: list[str]
    edition: int
    nav_seeds: int
    state: PlanState = "active"
    offering_until_ms: int = 0


async def prepare(redis: Redis, keys: Keys, partitions: int) -> None:
    """Checks that this Redis can hold the frontier, and writes down its format at the very first start.

    Raises:
        FrontierError: Redis is too old, or holds a frontier of another format or number of partitions.
        redis.exceptions.RedisError: Redis is away.
    """
    version = str((await redis.info("server"))["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_REDIS:
        wanted = ".".join(map(str, MIN_REDIS))
        raise FrontierError(f"Redis {version} is too old, expected {wanted} or later (or Valkey)")
    wanted_schema = {"version": SCHEMA_VERSION, "partitions": partitions}
    for name, value in wanted_schema.items():
        await cast("Awaitable[int]", redis.hsetnx(keys.schema, name, str(value)))
    found = await cast("Awaitable[dict[bytes, bytes]]", redis.hgetall(keys.schema))
    if int(found[b"version"]) != SCHEMA_VERSION:
        raise FrontierError(
            f"Redis holds a frontier of format {found[b'version'].decode()}, this version needs {SCHEMA_VERSION}: finish that crawl "
            "with the version that began it, or use another KEY_PREFIX"
        )
    if int(found[b"partitions"]) != partitions:
        raise FrontierError(
            f"setting FRONTIER_PARTITIONS: got {partitions}, expected {found[b'partitions'].decode()}, which the frontier in Redis "
            "was begun with; it can't change while seeds are there"
        )


class Registry:
    """Reads and writes the definitions.

    Args:
        partitions: `FRONTIER_PARTITIONS`; politeness and pauses are copied to each.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis = redis
        self._keys = keys
        self._partitions = [keys.partition(number) for number in range(partitions)]

    async def now_ms(self) -> int:
        """Returns Redis's time, the only clock of the frontier."""
        seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def plans(self) -> dict[str, PlanRecord]:
        """Returns all plans by name; empty when there are none.

        Raises:
            FrontierError: Something that isn't a plan lies among them.
        """
        raw = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(self._keys.plans))
        return {name.decode(): _load_record(value) for name, value in sorted(raw.items())}

    async def plan(self, name: str) -> PlanRecord:
        """Returns one plan.

        Raises:
            PlanError: There is none of that name.
        """
        raw = await cast("Awaitable[bytes | None]", self._redis.hget(self._keys.plans, name))
        if raw is None:
            known = ", ".join(await self.plans()) or "there are none"
            raise PlanError(f"no plan {name!r}; submitted plans: {known}")
        return _load_record(raw)

    async def save(self, record: PlanRecord) -> None:
        """Writes a plan's record."""
        await cast("Awaitable[int]", self._redis.hset(self._keys.plans, record.name, orjson.dumps(asdict(record))))

    async def remove(self, name: str) -> None:
        """Removes a plan's record and its pause marks."""
        await cast("Awaitable[int]", self._redis.hdel(self._keys.plans, name))
        await self.mark(name, "active")

    async def mark(self, name: str, state: PlanState) -> None:
        """Tells every partition whether the plan's seeds may be claimed."""
        for keys in self._partitions:
            async with self._redis.pipeline() as pipeline:
                pipeline.srem(keys.paused, f"pause {name}", f"cancel {name}")
                if state != "active":
                    pipeline.sadd(keys.paused, f"{'pause' if state == 'paused' else 'cancel'} {name}")
                await pipeline.execute()

    async def site(self, name: str) -> Site:
        """Returns a site as it was last submitted, its selectors compiled.

        Raises:
            FrontierError: Redis has no such site, or what it has isn't one.
        """
        raw = await cast("Awaitable[bytes | None]", self._redis.hget(self._keys.sites, name))
        if raw is None:
            raise FrontierError(f"Redis has no definition of site {name!r}: submit a plan that uses it")
        try:
            return Site.from_definition(orjson.loads(raw)["definition"])
        except (ValueError, KeyError, TypeError) as error:
            raise FrontierError(f"the definition of site {name!r} in Redis is damaged: {error}") from error

    async def save_sites(self, sites: tuple[Site, ...]) -> None:
        """Writes definitions; a changed one gets the next version, and workers pick it up within seconds."""
        changed = False
        for site in sites:
            raw = await cast("Awaitable[bytes | None]", self._redis.hget(self._keys.sites, site.name))
            old = orjson.loads(raw) if raw else {"version": 0, "definition": None}
            definition = orjson.loads(orjson.dumps(site.definition()))
            if old["definition"] != definition:
                value = orjson.dumps({"version": old["version"] + 1, "definition": definition})
                await cast("Awaitable[int]", self._redis.hset(self._keys.sites, site.name, value))
                changed = True
            rule = site.politeness
            for keys in self._partitions:
                value = f"{rule.delay_s * 1000:.0f} {rule.concurrency} {rule.burst}".encode()
                await cast("Awaitable[int]", self._redis.hset(keys.politeness, site.name, value))
        if changed:
            for frontier in ("nav", "content"):
                await self._redis.publish(self._keys.wake(frontier), SITES_CHANGED)  # type: ignore[arg-type]  # literals

    async def submit(self, plan: Plan, queue: Queue) -> AsyncIterator[tuple[int, int]]:
        """Stores a plan and offers its nav seeds; yields (offered, new) as it goes on.

        Submitting the same plan again carries on where it was: what is there already counts as known. A submission that
        dies half-way leaves an active plan with fewer seeds; the same command completes it.

        Raises:
            PlanError: Another plan of that name is there.
        """
        old = (await self.plans()).get(plan.name)
        definition = orjson.loads(orjson.dumps(plan.definition()))
        if old and old.definition != definition:
            raise PlanError(f"plan {plan.name!r} was submitted with another content: give it another name, or use --replace")
        now = await self.now_ms()
        edition = old.edition if old else now
        record = PlanRecord(
            name=plan.name,
            definition=definition,
            sites=[site.name for site in plan.sites],
            edition=edition,
            nav_seeds=sum(1 for _ in plan.nav_seeds(edition)),
            offering_until_ms=now + OFFERING_MS,
        )
        await self.save_sites(plan.sites)
        await self.mark(plan.name, "active")
        await self.save(record)
        offered = new = 0
        seeds = plan.nav_seeds(edition)
        while batch := list(itertools.islice(seeds, OFFER_BATCH)):
            new += sum(await queue.offer(batch))
            offered += len(batch)
            await self.save(replace(record, offering_until_ms=await self.now_ms() + OFFERING_MS))
            yield offered, new
        await self.save(replace(record, offering_until_ms=0))

    async def is_offering(self) -> bool:
        """Returns whether some submission is under way."""
        now = await self.now_ms()
        return any(record.offering_until_ms > now for record in (await self.plans()).values())


def _load_record(raw: bytes) -> PlanRecord:
    try:
        return PlanRecord(**orjson.loads(raw))
    except (ValueError, TypeError) as error:
        raise FrontierError(f"not a plan: {raw[:80]!r}") from error
