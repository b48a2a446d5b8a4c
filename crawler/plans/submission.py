"""Submitting a plan: its definition and its sites go to Redis, its nav seeds into the frontier."""

from __future__ import annotations

import itertools
from dataclasses import replace as changed
from typing import TYPE_CHECKING

import orjson

from crawler.errors import PlanError
from crawler.frontier.queue import OFFER_BATCH
from crawler.frontier.seed_admin import SeedAdmin
from crawler.plans.registry import PlanRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from crawler.frontier.queue import Queue
    from crawler.models import Frontier
    from crawler.plans.plan import Plan
    from crawler.plans.registry import Registry

OFFERING_MS = (
    60_000  # a submission without a sign of life for so long has died, and no longer keeps a crawl from ending
)


async def submit(
    plan: Plan, registry: Registry, queues: Mapping[Frontier, Queue], *, replace: bool = False
) -> AsyncIterator[tuple[int, int]]:
    """Stores a plan and offers its nav seeds; yields (offered, new) after each batch.

    Submitting the same plan again goes on where it stopped, also after a pause: seeds that are there count as known.
    When it dies half-way, the same call completes it.

    Args:
        plan: As it was read.
        registry: Where the plan and its sites are stored.
        queues: Of both frontiers.
        replace: Begins a new edition: search pages of the one before are dropped as `replaced`. Content pages that it
            found stay; those that failed as `cancelled` may be found again.

    Raises:
        PlanError: Another plan of that name is there, or this one was cancelled, and `replace` is off. Or somebody else
            has cancelled, replaced or deleted it meanwhile; the seeds that were offered until then stay.
    """
    record = await _admit(plan, registry, replace=replace)
    await _admit_sites(plan, registry)
    await registry.save_sites(plan.sites)
    await registry.save(record)  # from here on the same call completes it
    await registry.mark(plan.name, "active")
    nav, content = SeedAdmin(queues["nav"]), SeedAdmin(queues["content"])
    if record.replacing:
        await nav.drop(
            lambda found: (
                found.state != "failed" and found.seed.plan == plan.name and found.seed.edition != record.edition
            ),
            "replaced",
        )
        await content.drop(
            lambda found: found.state == "failed" and found.reason == "cancelled" and found.seed.plan == plan.name,
            "replaced",
        )
    for admin in (nav, content):
        await admin.resume(plan.name)
    offered = new = 0
    seeds = plan.nav_seeds(record.edition)
    while batch := list(itertools.islice(seeds, OFFER_BATCH)):
        new += sum(await queues["nav"].offer(batch))
        offered += len(batch)
        await _move_deadline(record, registry, await registry.now_ms() + OFFERING_MS)
        yield offered, new
    await _move_deadline(record, registry, 0)


async def _admit(plan: Plan, registry: Registry, *, replace: bool) -> PlanRecord:
    """Returns the record to submit a plan under: the one that is there, or one with a new edition.

    Raises:
        PlanError: The name is taken, or the plan was cancelled.
    """
    old = (await registry.plans()).get(plan.name)
    definition = orjson.loads(orjson.dumps(plan.definition()))
    now_ms = await registry.now_ms()
    if old and not replace and old.definition != definition:
        raise PlanError(
            f"plan {plan.name!r} was submitted with another content: give it another name, or use --replace"
        )
    if old and not replace and old.state == "cancelled":
        raise PlanError(f"plan {plan.name!r} was cancelled: delete it first, or use --replace")
    goes_on = (
        old and old.definition == definition and old.state != "cancelled" and (not replace or old.offering_until_ms)
    )
    edition = old.edition if old and goes_on else max(now_ms, old.edition + 1 if old else 0)
    return PlanRecord(
        name=plan.name,
        definition=definition,
        sites=[site.name for site in plan.sites],
        edition=edition,
        nav_seeds=sum(1 for _ in plan.nav_seeds(edition)),
        offering_until_ms=now_ms + OFFERING_MS,
        replacing=old.replacing if old and goes_on else old is not None,
    )


async def _admit_sites(plan: Plan, registry: Registry) -> None:
    """Keeps a plan from moving the site of another one: a name stands for one place.

    Raises:
        PlanError: A plan that isn't cancelled uses the name for another `base`; nothing was changed.
    """
    others = [one for one in (await registry.plans()).values() if one.name != plan.name and one.state != "cancelled"]
    for site in plan.sites:
        users = [one.name for one in others if site.name in one.sites]
        stored = (await registry.site(site.name)).base if users else site.base
        if stored != site.base:
            here = f"{stored} in plan {users[0]!r} and {site.base} in this one"
            raise PlanError(f"site {site.name!r} is {here}: give one of them another name")


async def _move_deadline(record: PlanRecord, registry: Registry, until_ms: int) -> None:
    """Says until when a submission counts as alive; 0 ends it.

    Raises:
        PlanError: Somebody else has cancelled, replaced or deleted the plan meanwhile.
    """
    now = await registry.plan(record.name)  # read again: it may have been paused
    if now.edition != record.edition or now.state == "cancelled":
        what = "cancelled" if now.state == "cancelled" else "replaced"
        raise PlanError(f"plan {record.name!r} was {what} while it was being submitted")
    await registry.save(changed(now, offering_until_ms=until_ms, replacing=False))
