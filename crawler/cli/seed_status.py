"""Where a page is and why it isn't done: its state, what the reason means, and whether any worker would crawl it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from crawler.base import reasons
from crawler.base.errors import FrontierError, HeadroomError, InputError
from crawler.base.models import Seed
from crawler.base.text import inert, one_line
from crawler.cli.ledger_words import meaning
from crawler.cli.output import format_time
from crawler.cluster.workers import SPIDERS, read_workers
from crawler.frontier.finished import TIME_UNIT_SECONDS
from crawler.frontier.seed_info import seed_info
from crawler.plans import Plan
from crawler.scope.scorers.choice import scorer_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.models import Frontier
    from crawler.plans.operator import Operator
    from crawler.plans.plan_record import PlanRecord
    from crawler.sites import Site

MAX_SEARCH_PAGES = 20  # most search pages of a plan that are shown: those of a search by POST all have the same URL


async def search_pages(operator: Operator, url: str, plan: str) -> list[Seed]:
    """Returns a plan's search pages that have this URL; where the plan's definition has none, one made from the URL.

    All of the plan's search pages are made for that, in a thread: a hundred thousand take some seconds.

    Raises:
        PlanError: There is no plan of that name.
        FrontierError: The plan's definition in Redis is damaged.
    """
    record = await operator.registry.plan(plan)
    try:
        sites = {name: await operator.registry.site(name) for name in record.sites}
        defined = await asyncio.to_thread(_search_pages_at, url, record, sites)
    except InputError as error:
        raise FrontierError(str(error)) from error
    # Of a site whose pages name the next one, the definition yields the first page only.
    name = record.sites[0]
    by_url = Seed(url, plan, name, frontier="nav", edition=record.edition, exact=sites[name].exact)
    return defined or [by_url]


def _search_pages_at(url: str, record: PlanRecord, sites: Mapping[str, Site]) -> list[Seed]:
    """Returns the first search pages that a plan's definition has with this URL."""
    seeds = Plan.from_definition(record.definition, sites).search_pages(record.edition)
    return list(islice((seed for seed in seeds if seed.url == url), MAX_SEARCH_PAGES))


async def known_search_pages(operator: Operator, url: str) -> list[dict[str, Any]]:
    """Returns the statuses of the search pages of all plans that have this URL and were offered."""
    seeds: list[Seed] = []
    for plan in await operator.registry.plans():
        with contextlib.suppress(FrontierError):  # a plan that is damaged must not hide the others
            seeds += await search_pages(operator, url, plan)
    statuses = [await seed_status(operator, seed) for seed in seeds]
    return [status for status in statuses if status["state"] != "unknown"]


async def content_statuses(operator: Operator, url: str, site: str | None) -> list[dict[str, Any]]:
    """Returns the statuses of a content page, of which each site has a seed of its own: of one site, or of all sites.

    Of all sites, only those that know the page; where none does, there is one that says so.
    """
    ledger = await operator.ledger()
    names = [site] if site else sorted({name for _plan, name in ledger}) or [""]
    # By identity: a site with `identity: exact` may have another one for the page, and so has a plan whose list it is.
    seeds = {
        seed.fingerprint: seed
        for name in names
        for exact in (False, True)
        for seed in (
            Seed(url, "", name, exact=exact),
            *(Seed(url, plan, name, interval_s=1, exact=exact) for plan, of_plan in ledger if of_plan == name),
        )
    }
    statuses = [await seed_status(operator, seed) for seed in seeds.values()]
    return [status for status in statuses if status["state"] != "unknown"] or statuses[:1]


async def seed_status(operator: Operator, seed: Seed) -> dict[str, Any]:
    """Returns where a seed is and why it isn't done, as JSON values."""
    info = await seed_info(operator.queues[seed.frontier], seed)
    why = info.why
    if reason_meaning := meaning(info.details.get("reason", "")):
        why += f": {reason_meaning}"
    if info.state == "failed":
        why += "; " + await _what_helps(operator, info.details)
    elif info.state == "parked" and info.seed:
        why += f"; scrapy plan resume {info.seed['plan']} lets it go on"
    elif info.state in ("ready", "quarantined"):
        why += await _why_not_claimed(operator, info.seed, seed.frontier)
    site = seed.site if info.details else ""  # nothing is known of a page that was never offered
    return {"frontier": seed.frontier, "site": site, **asdict(info), "why": why}


async def _what_helps(operator: Operator, details: Mapping[str, Any]) -> str:
    """Returns what makes a failed seed ready again, by its `plans` and its `reason`."""
    plans, records = details["plans"], await operator.registry.plans()
    if all(plan in records and records[plan].state == "cancelled" for plan in plans):
        cancelled = " and ".join(f"plan {plan} is cancelled" for plan in plans)
        return f"{cancelled}, so it stays so: scrapy plan submit --replace begins the plan anew"
    if details.get("reason") == reasons.LACKS_WORDS:
        return "scrapy plan submit --replace with other words looks at it again"
    if str(details.get("reason")).startswith((reasons.BUDGET, reasons.SCOPE)):
        return "scrapy plan submit --replace with a larger budget or scope tries it again"
    if str(details.get("reason")).startswith(reasons.TRAP):
        return "scrapy plan submit --replace, then scrapy seeds retry, makes it ready again"
    return "scrapy seeds retry makes it ready again"


async def _why_not_claimed(operator: Operator, seed: Mapping[str, Any] | None, frontier: Frontier) -> str:
    """Returns what keeps the workers of a frontier from crawling a seed; empty when nothing does."""
    workers = [
        worker
        for worker in await read_workers(operator)
        if worker["frontier"] == frontier and worker["state"] in ("alive", "redis-full")
    ]
    if not workers:
        return f"; no {SPIDERS[frontier]} is running: scrapy crawl {SPIDERS[frontier]}"
    if all(worker["state"] == "redis-full" for worker in workers):
        return "; its workers claim nothing while Redis is full: raise its maxmemory"
    if all(worker["egress_down_s"] for worker in workers):
        return "; no host on the web answers its workers: look at their networks, name servers and proxies"
    if all(worker["sinks_down"] for worker in workers):
        down = sorted({sink for worker in workers for sink in worker["sinks_down"]})
        return f"; its workers claim nothing while sinks are down: {', '.join(down)}"
    if all(worker["why_no_browser"] for worker in workers) and await _is_rendered(operator, seed, frontier):
        return f"; its page may have to be rendered, and no {SPIDERS[frontier]} can: {workers[0]['why_no_browser']}"
    return ""


async def _is_rendered(operator: Operator, seed: Mapping[str, Any] | None, frontier: Frontier) -> bool:
    """Returns whether a seed's site has its pages rendered."""
    with contextlib.suppress(FrontierError):
        site = await operator.registry.site(seed["site"] if seed else "")
        return site.render.of(frontier).when != "never"
    return False


def finished_until_s(finished_s: int) -> int:
    """Returns by when a seed was finished at the latest: Redis keeps no more than from when on, `finished_s`."""
    return finished_s + TIME_UNIT_SECONDS


async def with_score(operator: Operator, status: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a seed's status with the sentence that explains its priority; empty where no scorer said why."""
    score = ""
    if (seed := status["seed"]) and seed["why"]:
        with contextlib.suppress(HeadroomError):  # its plan was deleted, or has the order of a scorer that isn't here
            record = await operator.registry.plan(seed["plan"])
            score = scorer_class(record.definition.get("order", ""), settings).explanation(seed["why"])
    return {**status, "score": score}


def print_seed_statuses(answer: dict[str, Any]) -> None:
    """Prints a page's `url` and the statuses of its `seeds`, each as `seed_status` returned it."""
    print(inert(answer["url"]))
    for status in answer["seeds"]:
        _print_seed_status(status)


def _known_of(seed: Mapping[str, Any] | None) -> str:
    """Returns what puts a page before others, and the combinations of words whose searches found it, first one first.

    Empty where nothing of that is kept.
    """
    if not seed:
        return ""
    combinations = dict.fromkeys(tuple(words) for words in (seed["keywords"], *seed["further_keywords"]) if words)
    words = "; ".join(" + ".join(words) for words in combinations) or "none"
    return f", priority {seed['priority']}, depth {seed['depth']}, keywords: {words}"


def _print_seed_status(status: dict[str, Any]) -> None:
    print(one_line(f"{status['frontier']} {status['fingerprint']}: {status['state']}, {status['why']}"))
    if status["details"]:
        plans = " + ".join(status["details"]["plans"]) or "unknown"  # a finished page's, of a damaged Redis
        print(" ", one_line(f"plan {plans}, site {status['site']}{_known_of(status['seed'])}"))
    if status["score"]:
        print(" ", one_line(f"priority {status['seed']['priority']}: {status['score']}"))
    if score_ms := status["details"].get("score_ms"):
        what = {"failed": "failed", "executing": "claimed"}.get(status["state"], "due")
        print(f"  {what} {format_time(score_ms)}")
    if finished_s := status["details"].get("finished_s"):
        # Rounded up to whole minutes, as the other is rounded down, but no time to come.
        until_s = max(finished_s, min(finished_until_s(finished_s) + 59, int(time.time())))
        first, last = (format_time(at_s * 1000, to_minutes=True) for at_s in (finished_s, until_s))
        print(f"  finished between {first.removesuffix(' UTC')} and {last}")
