"""Submitting a plan: its definition and its sites go to Redis, its nav seeds and start pages into the frontier."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import replace as changed
from functools import partial
from typing import TYPE_CHECKING

import orjson

from crawler.base import reasons
from crawler.base.errors import PlanError
from crawler.frontier.offer import OFFER_BATCH
from crawler.frontier.seed_admin import SeedAdmin, UnfinishedSeed
from crawler.plans.plan import priority_of
from crawler.plans.plan_record import PlanRecord
from crawler.plans.start_pages import Skipped, start_pages
from crawler.scope.candidate import Candidate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence

    from crawler.base.models import Frontier, Seed
    from crawler.frontier.queue import Queue
    from crawler.plans.combinations import Combination
    from crawler.plans.plan import Plan
    from crawler.plans.registry import Registry
    from crawler.scope.scope import Scope

# A submission without a sign of life for so long has died, and doesn't keep a crawl from ending.
OFFERING_MILLISECONDS = 60_000


async def submit(
    plan: Plan,
    registry: Registry,
    queues: Mapping[Frontier, Queue],
    *,
    replace: bool = False,
    replace_sites: bool = True,
    skipped: Skipped | None = None,
    scope: Scope | None = None,
) -> AsyncIterator[tuple[int, int]]:
    """Stores a plan and offers its nav seeds, then its start pages; yields (offered, new) after each batch.

    Submitting the same plan again goes on where it stopped, also after a pause: seeds that are there count as known.
    When it dies half-way, the same call completes it.

    Args:
        plan: As it was read.
        registry: Where the plan and its sites are stored.
        queues: Of both frontiers.
        replace: Begins a new edition: search pages of the one before are dropped as `replaced`, and so is what those
            lead to that are being read. Content pages that were found before stay. Those that were given up when the
            plan was cancelled come back as far as they are the new edition's, too: what led to them may be finished.
            Those that lacked its words are looked at again, by the new words, or are new to it should it find them.
        replace_sites: Whether its sites may take the place of stored ones that differ. A plan that goes on and is
            paused stays so then.
        skipped: Told of lines of start files that are left out.
        scope: The plan's. Start pages out of it are counted, and not offered.

    Raises:
        InputError: A start file can't be read; what was offered before stays, and the same call goes on.
        PlanError: Another plan of that name is there, or this one was cancelled, and `replace` is off. Or a stored site
            differs from the plan's, and `replace_sites` is off. Or somebody else has cancelled, replaced or deleted it
            meanwhile; what was offered since is ended likewise.
    """
    nav_seeds = sum(1 for _ in plan.nav_seeds(0))
    now_ms = max(await registry.now_ms(), await registry.told_version(plan.name) + 1)
    admit = partial(_admit, plan, nav_seeds, now_ms, replace=replace, keeps_pause=replace_sites)
    admit((await registry.plans()).get(plan.name))
    await registry.admit_sites(plan.sites, plan.name, replace=replace_sites)
    record = await _store(plan, registry, admit, replace_sites=replace_sites)  # from here on the same call completes it
    await registry.tell_partitions(record)
    nav, content = SeedAdmin(queues["nav"]), SeedAdmin(queues["content"])
    if record.replacing:
        await nav.drop(
            plan.name, lambda seed: seed.state != "failed" and seed.seed.edition < record.edition, reasons.REPLACED
        )
        is_wanted = partial(_is_wanted, {site.name for site in plan.sites}, set(plan.combinations()))
        await content.retry(partial(_comes_back, plan, is_wanted), plan.name)
        await content.drop(plan.name, _lacked_words, reasons.REPLACED)  # the others of them
        await content.drop(plan.name, lambda seed: seed.seed.interval_s > 0, reasons.REPLACED)  # another schedule's
        await content.offer_cancelled(plan.name, record.edition, is_wanted)
        await _offer_over_budget(plan, content, queues["content"], record.edition, is_wanted)
        await content.prioritize(plan.name, priority_of(record.definition), general=plan.file.judges_links)
    for admin in (nav, content):
        await admin.resume(plan.name)
    offered = new = 0
    seeds: Mapping[Frontier, Iterator[Seed]] = {
        "nav": plan.nav_seeds(record.edition),
        "content": start_pages(plan, skipped or Skipped()),
    }
    for frontier, of_frontier in seeds.items():
        while batch := list(itertools.islice(of_frontier, OFFER_BATCH)):
            if scope is not None and frontier == "content":
                batch = await _in_scope(batch, scope, queues[frontier])
            batch = [changed(seed, priority=priority_of(record.definition)) for seed in batch]
            new += sum(await queues[frontier].offer(batch, record.edition, edition=record.edition, confirmed=True))
            offered += len(batch)
            until_ms = await registry.now_ms() + OFFERING_MILLISECONDS
            record = await _move_deadline(record, registry, (nav, content), until_ms)
            yield offered, new
    record = await _move_deadline(record, registry, (nav, content), 0)
    if (priority := priority_of(record.definition)) != plan.file.priority:  # it came while a batch was on its way
        for admin in (nav, content):
            await admin.prioritize(plan.name, priority)


async def _in_scope(seeds: Sequence[Seed], scope: Scope, queue: Queue) -> list[Seed]:
    """Returns the start pages that are in scope; counts the others in the ledger, by site and filter."""
    refusals = [scope.refusal(Candidate.of(seed.url)) for seed in seeds]
    numbers = Counter((seed.site, name) for seed, name in zip(seeds, refusals, strict=True) if name)
    by_site = {seed.site: seed for seed in seeds}
    for (site, name), number in numbers.items():
        await queue.refuse(by_site[site], reasons.scope_note(name), number)
    return [seed for seed, name in zip(seeds, refusals, strict=True) if not name]


async def _offer_over_budget(
    plan: Plan, content: SeedAdmin, queue: Queue, edition: int, is_wanted: Callable[[Seed], bool]
) -> None:
    """Offers those followed links anew for which their host had no room: it has, by a larger `per_host`."""
    of_sites = {site.name: plan.file.follow if plan.file.is_general else site.follow for site in plan.sites}
    by_budget: dict[int, list[Seed]] = defaultdict(list)
    async for failed in content.seeds("failed", plan.name):
        for seed in failed.seeds if failed.reason == reasons.BUDGET_FOLLOW else ():
            follow = of_sites.get(seed.site)
            if seed.plan == plan.name and follow and is_wanted(seed):
                batch = by_budget[follow.per_host]
                batch.append(seed)
                if len(batch) == OFFER_BATCH:
                    full = by_budget.pop(follow.per_host)
                    await queue.offer(full, edition=edition, budget=follow.per_host, confirmed=True)
    for per_host, batch in by_budget.items():
        await queue.offer(batch, edition=edition, budget=per_host, confirmed=True)


def _is_wanted(sites: Collection[str], words: Collection[Combination], seed: Seed) -> bool:
    """Returns whether a content seed is one of a plan with these sites and combinations of words."""
    return seed.site in sites and (
        not seed.keywords or any(tuple(combination) in words for combination in seed.combinations)
    )


def _comes_back(plan: Plan, is_wanted: Callable[[Seed], bool], failed: UnfinishedSeed) -> bool:
    """Returns whether a failed page is to be had again for a plan that takes the place of one of its name."""
    of_plan = [seed for seed in failed.seeds if seed.plan == plan.name]
    if _lacked_words(failed) and any(plan.matches_text(seed.site) for seed in of_plan):
        return True  # its text may have the new words, whichever led to it
    # A page that several plans refuse has the reason of one of them: any such may be another plan's.
    of_plans = (reasons.CANCELLED, reasons.LACKS_WORDS, reasons.OUT_OF_SCOPE)
    is_of_plan = failed.reason in of_plans or failed.reason.startswith((reasons.SCOPE, reasons.BUDGET))
    is_of_plan = is_of_plan and failed.reason != reasons.BUDGET_FOLLOW  # offered anew, since that asks for room
    return is_of_plan and any(map(is_wanted, of_plan))


def _lacked_words(seed: UnfinishedSeed) -> bool:
    return seed.state == "failed" and seed.reason == reasons.LACKS_WORDS


async def _store(
    plan: Plan, registry: Registry, admit: Callable[[PlanRecord | None], PlanRecord], *, replace_sites: bool
) -> PlanRecord:
    """Stores a plan's record, then its sites; returns the record.

    Raises:
        PlanError: `admit` raised it; or another plan was submitted at the same time that gives the name of a site to
            another place, or to another definition. Then the record is what it was before.
    """
    before: PlanRecord | None = None

    def admitted(old: PlanRecord | None) -> PlanRecord:
        nonlocal before
        before = old
        return admit(old)

    record = await registry.change_plan(plan.name, admitted)
    try:
        await registry.save_sites(plan.sites, plan.name, replace=replace_sites)
    except PlanError:
        await registry.replace_plan(record, before)
        raise
    return record


def _admit(
    plan: Plan, nav_seeds: int, now_ms: int, old: PlanRecord | None, *, replace: bool, keeps_pause: bool
) -> PlanRecord:
    """Returns the record to submit a plan under: the one that is there, active from now on, or one with a new edition.

    Args:
        nav_seeds: The number of the plan's.
        old: The record that is there under the plan's name.
        keeps_pause: Whether a plan that goes on and is paused stays so.

    Raises:
        PlanError: The name is taken, or the plan was cancelled.
    """
    definition = orjson.loads(orjson.dumps(plan.definition()))
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
    record = PlanRecord(
        name=plan.name,
        definition=definition,
        sites=[site.name for site in plan.sites],
        edition=edition,
        nav_seeds=nav_seeds,
        offering_until_ms=now_ms + OFFERING_MILLISECONDS,
        replacing=old.replacing if old and goes_on else old is not None,
        version=old.version if old else 0,
    )
    is_paused = goes_on and keeps_pause and old is not None and old.state == "paused"
    return record.decided("paused" if is_paused else "active", now_ms)


async def _move_deadline(
    record: PlanRecord, registry: Registry, admins: tuple[SeedAdmin, SeedAdmin], until_ms: int
) -> PlanRecord:
    """Says until when a submission counts as alive; 0 ends it. Returns the record, which has its priority by now.

    Raises:
        PlanError: Somebody else has cancelled, replaced or deleted the plan meanwhile. What was offered since is ended
            as that command has ended the rest.
    """

    def moved(now: PlanRecord | None) -> PlanRecord:
        if now is None or now.edition != record.edition or now.state == "cancelled":
            fate = "deleted" if now is None else "cancelled" if now.state == "cancelled" else "replaced"
            raise PlanError(f"plan {record.name!r} was {fate} while it was being submitted")
        return changed(now, offering_until_ms=until_ms, replacing=False)

    try:
        return await registry.change_plan(record.name, moved)
    except PlanError:
        now = (await registry.plans()).get(record.name)
        nav, content = admins
        if now is not None and now.edition == record.edition:
            await nav.set_aside(record.name)
            await content.set_aside(record.name)
        else:
            await nav.drop(record.name, lambda seed: seed.seed.edition == record.edition, reasons.REPLACED)
        raise
