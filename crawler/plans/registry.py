"""What was submitted, in Redis, for all processes of a crawl: plans with their state, sites with their version.

What comes back from Redis is checked as if it came from a file: Redis isn't trusted.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from crawler.errors import FrontierError, InputError, PlanError
from crawler.frontier.keys import as_text
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.scripts import even_when_full
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.frontier.queue import Queue
    from crawler.models import Frontier

PlanState = Literal["active", "paused", "cancelled"]
SITES_CHANGED = "sites"  # what workers are sent on their wake channels


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A submitted plan as Redis keeps it.

    Attributes:
        edition: When it was submitted, in ms since the epoch; part of its nav seeds' identity.
        nav_seeds: Their number.
        offering_until_ms: Until when its submission counts as alive; 0: all its nav seeds are offered.
        replacing: The seeds of the edition before are yet to be dropped.
    """

    name: str
    definition: dict[str, Any]
    sites: list[str]
    edition: int
    nav_seeds: int
    state: PlanState = "active"
    offering_until_ms: int = 0
    replacing: bool = False


class Registry:
    """Reads and writes plans and sites.

    Args:
        partitions: FRONTIER_PARTITIONS. Each has a copy of the sites' politeness and of the marks of paused plans.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis: Any = redis  # by its types, answers may be text; they are bytes
        self._keys = keys
        self._partitions = [keys.partition(number) for number in range(partitions)]

    async def now_ms(self) -> int:
        """Returns Redis's time, the only clock of the frontier."""
        seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def plans(self) -> dict[str, PlanRecord]:
        """Returns all plans by name; empty when there are none.

        Raises:
            FrontierError: Something among them isn't a plan.
        """
        raw = await self._redis.hgetall(self._keys.plans)
        return {as_text(name): self._load(as_text(name), value) for name, value in sorted(raw.items())}

    async def plan(self, name: str) -> PlanRecord:
        """Returns one plan.

        Raises:
            PlanError: There is none of that name.
        """
        raw = await self._redis.hget(self._keys.plans, name)
        if raw is None:
            known = ", ".join(await self.plans()) or "there are none"
            raise PlanError(f"no plan {name!r}; submitted plans: {known}")
        return self._load(name, raw)

    async def save(self, record: PlanRecord) -> None:
        """Writes a plan's record, also when Redis is full, since plans must be cancelled then."""
        await even_when_full(self._redis, self._keys.plans, "HSET", record.name, orjson.dumps(asdict(record)))

    async def remove(self, name: str) -> None:
        """Removes a plan's record and its pause marks."""
        await self._redis.hdel(self._keys.plans, name)
        await self.mark(name, "active")

    async def mark(self, name: str, state: PlanState) -> None:
        """Tells every partition whether the plan's seeds may be claimed."""
        marks = {"paused": f"pause {name}", "cancelled": f"cancel {name}"}
        mark = marks.pop(state, None)
        for keys in self._partitions:
            if mark is not None:  # before the other mark goes: without any, the plan would be active for a moment
                await even_when_full(self._redis, keys.paused, "SADD", mark)
            await self._redis.srem(keys.paused, *marks.values())

    async def site(self, name: str) -> Site:
        """Returns a site as it was last submitted, its selectors compiled.

        Raises:
            FrontierError: Redis has no such site, or what it has isn't one.
        """
        raw = await self._redis.hget(self._keys.sites, name)
        if raw is None:
            raise FrontierError(f"Redis has no definition of site {name!r}: submit a plan that uses it")
        try:
            return Site.from_definition(_load_site(raw)[1])
        except (InputError, FrontierError) as error:
            raise FrontierError(f"the definition of site {name!r} in Redis is damaged: {error}") from error

    async def save_sites(self, sites: tuple[Site, ...]) -> None:
        """Writes sites. A changed one gets the next version, and workers have it within seconds."""
        changed = False
        for site in sites:
            raw = await self._redis.hget(self._keys.sites, site.name)
            try:
                version, old = _load_site(raw) if raw else (0, None)
            except FrontierError:  # damaged; it is replaced
                version, old = 0, None
            definition = orjson.loads(orjson.dumps(site.definition()))
            if old != definition:
                value = orjson.dumps({"version": version + 1, "definition": definition})
                await self._redis.hset(self._keys.sites, site.name, value)
                changed = True
            rule = site.politeness
            for keys in self._partitions:
                value = f"{rule.delay_s * 1000:.0f} {rule.concurrency} {rule.burst}".encode()
                await self._redis.hset(keys.politeness, site.name, value)
        if changed:
            for frontier in FRONTIERS:
                await self._redis.publish(self._keys.wake(frontier), SITES_CHANGED)

    async def versions(self, sites: Iterable[str]) -> dict[str, int]:
        """Returns the stored version of each site, in the order given; 0 for one that isn't stored."""
        stored = {name: await self._redis.hget(self._keys.sites, name) for name in sites}
        return {name: _load_site(raw)[0] if raw else 0 for name, raw in stored.items()}

    async def is_offering(self) -> bool:
        """Returns whether a submission is under way."""
        now = await self.now_ms()
        for name, raw in (await self._redis.hgetall(self._keys.plans)).items():
            with contextlib.suppress(FrontierError):  # a damaged plan offers nothing; `plans` tells of it
                if self._load(as_text(name), raw).offering_until_ms > now:
                    return True
        return False

    async def is_done(self, queues: Mapping[Frontier, Queue]) -> bool:
        """Returns whether nothing is ready, executing or being offered, in either frontier.

        Both are read twice, nav before content: a nav page that ended between two reads has changed the number of
        offers, if it led to anything.
        """
        seen: list[tuple[int, int]] = []
        for _ in range(2):
            if await self.is_offering():
                return False
            nav, content = await queues["nav"].totals(), await queues["content"].totals()
            if nav.ready or nav.executing or content.ready or content.executing:
                return False
            seen.append((nav.offered, content.offered))
        return seen[0] == seen[1]

    def _load(self, name: str, raw: bytes) -> PlanRecord:
        try:
            return _record_type.validate_json(raw, strict=True)
        except ValidationError:
            how = f"HDEL {self._keys.plans} removes it"
            raise FrontierError(f"plan {name!r} in Redis is damaged, {how}: {raw[:80]!r}") from None


_record_type = TypeAdapter(PlanRecord)


def _load_site(raw: bytes) -> tuple[int, Any]:
    try:
        stored = orjson.loads(raw)
        return int(stored["version"]), stored["definition"]
    except (ValueError, KeyError, TypeError, OverflowError):
        raise FrontierError(f"not a site: {raw[:80]!r}") from None
