"""Definitions in Redis: plans with their state, sites with their version. All processes of a cluster read the same.

What comes back from Redis is validated again: a definition is data, and Redis isn't trusted.
"""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import asdict, dataclass
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any, Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from crawler.errors import FrontierError, InputError, PlanError
from crawler.frontier.keys import as_text
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.queue import OFFER_BATCH, Queue
from crawler.frontier.scripts import even_when_full
from crawler.frontier.seed_admin import SeedAdmin
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.frontier.seed_admin import Found
    from crawler.models import Frontier
    from crawler.plans import Plan

PlanState = Literal["active", "paused", "cancelled"]
OFFERING_MS = 60_000  # a submission that says nothing for so long has died; it no longer keeps a crawl from ending
SITES_CHANGED = "sites"  # message on the wake channels


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A submitted plan as Redis keeps it.

    Attributes:
        edition: When it was submitted, in ms since the epoch; part of its nav seeds' identity.
        nav_seeds: How many it has.
        offering_until_ms: Deadline of the running submission; 0: all its nav seeds are offered.
        replacing: What the edition before left isn't cleared away yet.
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
    """Reads and writes the definitions.

    Args:
        partitions: `FRONTIER_PARTITIONS`; politeness and pauses are copied to each.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis: Any = redis  # its types don't know that answers are bytes
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
        """Writes a plan's record, also when Redis is full: plans can be cancelled then."""
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
            if mark is not None:  # first: in no moment is it active
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
        """Writes definitions; a changed one gets the next version, and workers pick it up within seconds."""
        changed = False
        for site in sites:
            raw = await self._redis.hget(self._keys.sites, site.name)
            try:
                version, old = _load_site(raw) if raw else (0, None)
            except FrontierError:  # damaged: the new one takes its place
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

    async def submit(self, plan: Plan, queue: Queue, *, replace: bool = False) -> AsyncIterator[tuple[int, int]]:
        """Stores a plan and offers its nav seeds; yields (offered, new) as it goes on.

        Submitting the same plan again carries on where it was, also when it was paused: what is there already counts
        as known. Whatever dies half-way, the same call completes it.

        Args:
            queue: Of the nav frontier.
            replace: Begin a new edition: search pages of the one before are dropped as `replaced`. Content pages that
                it found stay; those that failed as `cancelled` may be found again.

        Raises:
            PlanError: Another plan of that name is there, or this one was cancelled, and `replace` is off. Or it was
                cancelled, replaced or deleted by somebody else meanwhile; what was offered until then stays.
        """
        record = await self._admit(plan, replace=replace)
        await self._admit_sites(plan)
        await self.save_sites(plan.sites)
        await self.save(record)  # from here on the same call completes it
        await self.mark(plan.name, "active")
        nav, content = (
            SeedAdmin(queue),
            SeedAdmin(Queue(self._redis, self._keys, "content", partitions=queue.partitions)),
        )
        if record.replacing:
            await nav.drop(lambda found: _is_older(found, record), "replaced")
            await content.drop(lambda found: _is_cancelled(found, plan.name), "replaced")
        for admin in (nav, content):
            await admin.resume(plan.name)
        offered = new = 0
        seeds = plan.nav_seeds(record.edition)
        while batch := list(itertools.islice(seeds, OFFER_BATCH)):
            new += sum(await queue.offer(batch))
            offered += len(batch)
            await self._extend(record, await self.now_ms() + OFFERING_MS)
            yield offered, new
        await self._extend(record, 0)

    async def _admit_sites(self, plan: Plan) -> None:
        """Keeps one plan from moving another one's site: a name stands for one place.

        Raises:
            PlanError: A plan that isn't cancelled uses the name for another `base`; nothing was changed.
        """
        others = [one for one in (await self.plans()).values() if one.name != plan.name and one.state != "cancelled"]
        for site in plan.sites:
            users = [one.name for one in others if site.name in one.sites]
            stored = (await self.site(site.name)).base if users else site.base
            if stored != site.base:
                here = f"{stored} in plan {users[0]!r} and {site.base} in this one"
                raise PlanError(f"site {site.name!r} is {here}: give one of them another name")

    async def is_offering(self) -> bool:
        """Returns whether some submission is under way."""
        now = await self.now_ms()
        for name, raw in (await self._redis.hgetall(self._keys.plans)).items():
            with contextlib.suppress(FrontierError):  # junk offers nothing; who looks at plans is told of it
                if self._load(as_text(name), raw).offering_until_ms > now:
                    return True
        return False

    async def is_done(self, queues: Mapping[Frontier, Queue]) -> bool:
        """Returns whether nothing is ready, executing or on its way, in either frontier.

        Nav is read before content, twice, with unchanged offer counts: what nav pages offered in between would show.
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

    async def _admit(self, plan: Plan, *, replace: bool) -> PlanRecord:
        """Returns the record to submit a plan under: the one there is, or one with a new edition."""
        old = (await self.plans()).get(plan.name)
        definition = orjson.loads(orjson.dumps(plan.definition()))
        now = await self.now_ms()
        if old and not replace and old.definition != definition:
            raise PlanError(
                f"plan {plan.name!r} was submitted with another content: give it another name, or use --replace"
            )
        if old and not replace and old.state == "cancelled":
            raise PlanError(f"plan {plan.name!r} was cancelled: delete it first, or use --replace")
        goes_on = (
            old and old.definition == definition and old.state != "cancelled" and (not replace or old.offering_until_ms)
        )
        edition = old.edition if old and goes_on else max(now, old.edition + 1 if old else 0)
        return PlanRecord(
            name=plan.name,
            definition=definition,
            sites=[site.name for site in plan.sites],
            edition=edition,
            nav_seeds=sum(1 for _ in plan.nav_seeds(edition)),
            offering_until_ms=now + OFFERING_MS,
            replacing=old.replacing if old and goes_on else old is not None,
        )

    async def _extend(self, record: PlanRecord, until_ms: int) -> None:
        """Moves a submission's deadline; 0 ends it. Its state is read again: it may have been paused meanwhile."""
        now = await self.plan(record.name)
        if now.edition != record.edition or now.state == "cancelled":
            what = "cancelled" if now.state == "cancelled" else "replaced"
            raise PlanError(f"plan {record.name!r} was {what} while it was being submitted")
        await self.save(changed(now, offering_until_ms=until_ms, replacing=False))


def _is_older(found: Found, record: PlanRecord) -> bool:
    return found.state != "failed" and found.seed.plan == record.name and found.seed.edition != record.edition


def _is_cancelled(found: Found, plan: str) -> bool:
    return found.state == "failed" and found.reason == "cancelled" and found.seed.plan == plan


_record_type = TypeAdapter(PlanRecord)


def _load_site(raw: bytes) -> tuple[int, Any]:
    try:
        stored = orjson.loads(raw)
        return int(stored["version"]), stored["definition"]
    except (ValueError, KeyError, TypeError, OverflowError):
        raise FrontierError(f"not a site: {raw[:80]!r}") from None
