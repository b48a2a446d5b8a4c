"""What was submitted, in Redis, for all processes of a crawl: plans with their state, sites with their version.

What comes back from Redis is checked as if it came from a file: Redis isn't trusted.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import orjson

from crawler.base.errors import (
    FrontierError,
    HeadroomError,
    PlanError,
    UnavailableError,
    existing,
    shown,
)
from crawler.frontier import clock
from crawler.frontier.keys import as_count, as_text
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.scripts import compare_and_set, even_when_full, run
from crawler.plans.plan_record import PlanRecord
from crawler.plans.stored_site import StoredSite, as_stored, compiled, differences, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys
    from crawler.frontier.queue import Queue
    from crawler.sites import Site

T = TypeVar("T")
SITES_CHANGED = "sites"  # a message that workers are sent on their wake channels
PLANS_CHANGED = "plans"  # the first word of another, which the plan's name follows
WRITE_TRIES = 100  # most tries to write a record that others change, too: each failed one is another command's success


class Registry:
    """Reads and writes plans and sites.

    What a command decides about a plan it first writes into the plan's record, with a version (`change_plan`), then
    tells all partitions (`tell_partitions`), where the higher version counts. So of several commands at once, the
    last to decide is the one that all partitions follow; and one that died in between is completed by the next.

    Args:
        partitions: FRONTIER_PARTITIONS. Each has a copy of the sites' politeness and of the plans' states.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis: Any = redis  # redis-py's types allow text in answers; they are bytes
        self._keys = keys
        self._partitions = [keys.partition(number) for number in range(partitions)]

    async def now_ms(self) -> int:
        """Returns the time by the first partition's clock, in ms since the epoch."""
        return await clock.now_ms(self._redis, self._partitions[0])

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
            raise PlanError(f"no plan {shown(name)}; {existing(name, await self.plans(), 'submitted plans')}")
        return self._load(name, raw)

    async def records(self, names: set[str]) -> dict[str, PlanRecord | HeadroomError]:
        """Returns plans by name, or in the place of one why there is none."""
        return await self._definitions(self._keys.plans, names, self._load_some)

    async def _definitions(
        self, key: str, names: set[str], load: Callable[[str, bytes | None], T]
    ) -> dict[str, T | HeadroomError]:
        """Reads some fields of a hash at once."""
        definitions: dict[str, T | HeadroomError] = {}
        for name, raw in zip(names, await self._redis.hmget(key, list(names)), strict=True):
            try:
                definitions[name] = load(name, raw)
            except HeadroomError as error:
                definitions[name] = error
        return definitions

    async def admit_pages(self, name: str) -> PlanRecord | None:
        """Returns the plan that pages are offered to one by one; None: it was never submitted, which is no hindrance.

        Raises:
            PlanError: They would not be crawled.
        """
        raw = await self._redis.hget(self._keys.plans, name)
        if raw is None:
            if await self.was_deleted(name):
                raise PlanError(f"plan {name!r} was deleted lately: its pages would be refused; use another name")
            return None
        record = self._load(name, raw)
        if record.state == "cancelled":
            raise PlanError(f"plan {name!r} was cancelled: its pages would not be crawled")
        return record

    async def change_plan(self, name: str, change: Callable[[PlanRecord | None], PlanRecord]) -> PlanRecord:
        """Changes a plan's record, also when Redis is full, since plans must be cancelled then; returns the new one.

        Args:
            change: Returns the record that takes the place of the one it is given (None: there is no such plan), or
                raises. It is called again whenever somebody else has changed the record before it was written.

        Raises:
            UnavailableError: Others change it all the time.
        """
        for _ in range(WRITE_TRIES):
            raw = await self._redis.hget(self._keys.plans, name)
            record = change(None if raw is None else self._load(name, raw))
            if await compare_and_set(self._redis, self._keys.plans, name, raw, orjson.dumps(asdict(record))):
                await self._tell_workers(f"{PLANS_CHANGED} {name}")
                return record
        raise UnavailableError(f"plan {name!r} is changed by others all the time; try again")

    async def replace_plan(self, record: PlanRecord, other: PlanRecord | None) -> bool:
        """Puts another record of a plan, or none, in place of one; returns False when that isn't there any more.

        With its record what was counted of a plan is deleted.
        """
        raw = await self._redis.hget(self._keys.plans, record.name)
        if raw is None or self._load(record.name, raw) != record:
            return False
        value = None if other is None else orjson.dumps(asdict(other))
        counted = (self._keys.plan_yield, self._keys.plan_budget, self._keys.held_pages)
        forgotten = [] if other else [key(record.name) for key in counted]
        if not await compare_and_set(self._redis, self._keys.plans, record.name, raw, value, forgotten=forgotten):
            return False
        await self._tell_workers(f"{PLANS_CHANGED} {record.name}")
        return True

    async def tell_partitions(self, record: PlanRecord, *, deleted: bool = False) -> None:
        """Tells every partition the plan's state and edition, unless it knows a later one, also when Redis is full.

        Args:
            deleted: There is no such plan any more: offers of its seeds are refused, and counted nowhere.
        """
        arguments = [record.name, record.version, record.edition, "deleted" if deleted else record.state]
        for keys in self._partitions:
            await run(self._redis, "plan_state", keys.script_keys("nav"), arguments)

    async def told_version(self, name: str) -> int:
        """Returns the highest version of a plan that a partition knows, deleted or not; 0 where none knows it."""
        return max(as_count(state.partition(b" ")[0]) or 0 for state in await self._told_states(name))

    async def was_deleted(self, name: str) -> bool:
        """Returns whether a partition refuses the plan's seeds, since it was deleted lately."""
        return any(state.endswith(b" deleted") for state in await self._told_states(name))

    async def _told_states(self, name: str) -> list[bytes]:
        """Returns what each partition was told of a plan; empty for one that wasn't."""
        return [await self._redis.hget(keys.plan_states, name) or b"" for keys in self._partitions]

    async def site(self, name: str) -> Site:
        """Returns a site as it was last submitted, its selectors compiled.

        Raises:
            FrontierError: Redis has no such site, or what it has isn't one.
        """
        site = (await self.sites({name}))[name]
        if isinstance(site, HeadroomError):
            raise site
        return site

    async def sites(self, names: set[str]) -> dict[str, Site | HeadroomError]:
        """Returns sites by name as `site` does, or in the place of one why there is none."""
        return await self._definitions(self._keys.sites, names, compiled)

    async def admit_sites(self, sites: tuple[Site, ...], plan: str = "", *, replace: bool = True) -> None:
        """Keeps a plan from moving the site of another one: a name stands for one place.

        Args:
            plan: Whose sites they are; empty: no plan's.
            replace: Whether a site may take the place of a stored one that differs.

        Raises:
            PlanError: Another plan that isn't cancelled uses a name for another `base`. Or a stored site differs, and
                `replace` is off.
        """
        for site in sites:
            raw = await self._redis.hget(self._keys.sites, site.name)
            await self._admit_site(site, StoredSite.load_or_none(raw).definition, plan, replace=replace)

    async def save_sites(self, sites: tuple[Site, ...], plan: str = "", *, replace: bool = True) -> None:
        """Writes sites. A changed one gets the next version, and workers have it within seconds.

        The plan's record must be there before, so that of two plans at once that name different places alike, one is
        refused: the one that comes second finds the record of the first.

        Raises:
            PlanError: As `admit_sites`.
        """
        changed = False
        for site in sites:
            changed |= await self._save_site(site, plan, replace=replace)
            await self._tell_politeness(site, "HSET")
            await self._tell_rendering(site)
        if changed:
            await self._tell_workers(SITES_CHANGED)

    async def tell_priority(self, name: str, priority: int) -> None:
        """Tells workers that a plan has another priority."""
        await self._tell_workers(f"priority {name} {priority}")

    async def _tell_workers(self, message: str) -> None:
        for frontier in FRONTIERS:
            await self._redis.publish(self._keys.wake(frontier), message)

    async def _save_site(self, site: Site, plan: str, *, replace: bool) -> bool:
        """Writes a site's definition; returns whether it has changed.

        Raises:
            PlanError: As `admit_sites`.
        """
        definition = as_stored(site)
        for _ in range(WRITE_TRIES):
            raw = await self._redis.hget(self._keys.sites, site.name)
            old = StoredSite.load_or_none(raw)
            if old.definition == definition:
                return False
            await self._admit_site(site, old.definition, plan, replace=replace)
            # Whoever finds the definition must find a politeness, too, even if this process dies in between. That of a
            # site which has one is changed only once the definition is: somebody else's may come first, and stay.
            await self._tell_politeness(site, "HSETNX")
            new = StoredSite(old.version + 1, definition, await self.now_ms())
            if await compare_and_set(self._redis, self._keys.sites, site.name, raw, orjson.dumps(asdict(new))):
                return True
        raise UnavailableError(f"site {site.name!r} is changed by others all the time; try again")

    async def _tell_politeness(self, site: Site, command: Literal["HSET", "HSETNX"]) -> None:
        """Tells every partition how politely a site is asked, also when Redis is full."""
        rule = site.politeness
        value = f"{rule.delay_s * 1000:.0f} {rule.concurrency} {rule.burst}".encode()
        for keys in self._partitions:
            await even_when_full(self._redis, keys.politeness, command, site.name, value)

    async def _tell_rendering(self, site: Site) -> None:
        """Tells every partition in which frontiers all pages of a site are rendered, also when Redis is full."""
        for keys in self._partitions:
            for frontier in FRONTIERS:
                arguments = [site.name, int(site.render.of(frontier).when == "always")]
                while await run(self._redis, "render_site", keys.script_keys(frontier), arguments):
                    pass

    async def _admit_site(self, site: Site, stored: Any, plan: str, *, replace: bool) -> None:
        """Raises PlanError as `admit_sites`, for one site whose stored definition is given."""
        await self._refuse_to_move(site, stored, plan)
        if replace or not isinstance(stored, dict):
            return
        if stored != as_stored(site):
            which = differences(stored, site)
            raise PlanError(
                f"site {site.name!r} is stored with another definition, which differs in {which}: "
                "--replace-sites stores this one, for all plans that use the site"
            )

    async def _refuse_to_move(self, site: Site, stored: Any, plan: str) -> None:
        """Raises PlanError where another plan uses the site's name for another place."""
        base = stored.get("base", "") if isinstance(stored, dict) else site.base
        if base == site.base:
            return
        users = [
            record.name
            for record in (await self.plans()).values()
            if record.name != plan and record.state != "cancelled" and site.name in record.sites
        ]
        if users:
            here = f"{base} in plan {users[0]!r} and {site.base} in this one"
            raise PlanError(f"site {site.name!r} is {here}: give one of them another name")

    async def site_origins(self) -> dict[str, str]:
        """Returns the `https://HOST` of each stored site, by name; empty for one on no host of its own, or damaged."""
        stored = await self._redis.hgetall(self._keys.sites)
        return {as_text(name): origin_of(StoredSite.load_or_none(raw).definition) for name, raw in stored.items()}

    async def stored_sites(self) -> dict[str, StoredSite]:
        """Returns all sites as they are stored, by name, without those that are damaged."""
        sites = {}
        for name, raw in sorted((await self._redis.hgetall(self._keys.sites)).items()):
            with contextlib.suppress(FrontierError):
                sites[as_text(name)] = StoredSite.load(raw)
        return sites

    async def versions(self, sites: Iterable[str]) -> dict[str, int]:
        """Returns the stored version of each site, in the order given; 0 for one that isn't stored."""
        stored = {name: await self._redis.hget(self._keys.sites, name) for name in sites}
        return {name: StoredSite.load(raw).version if raw else 0 for name, raw in stored.items()}

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

    def _load_some(self, name: str, raw: bytes | None) -> PlanRecord:
        if raw is None:
            raise PlanError(f"Redis has no plan {name!r}: it was deleted")
        return self._load(name, raw)

    def _load(self, name: str, raw: bytes) -> PlanRecord:
        return PlanRecord.load(name, raw, self._keys.plans)
