"""Why a page isn't done: what the frontier knows of a seed, what its reason means, whether anybody would crawl it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from crawler.errors import FrontierError, InputError
from crawler.models import Seed
from crawler.text import inert, one_line

if TYPE_CHECKING:
    from crawler.models import Frontier
    from crawler.plans.operator import Operator

SEEDS_SHOWN = 20  # of a site that is searched by POST, all search pages have one URL
SPIDERS: dict[Frontier, str] = {"nav": "producer", "content": "consumer"}
# What a ledger's reason means, and what helps.
MEANINGS = {
    "robots": "its host's robots.txt forbids it to crawlers",
    "robots-unreachable": "its host's robots.txt can't be read, so nothing there may be fetched",
    "private-address": "it is on a private address; ALLOW_PRIVATE_ADDRESSES=1 crawls those",
    "cancelled": "its plan was cancelled before it was crawled",
    "replaced": "its plan was replaced before it was crawled",
    "crashed-worker": "worker after worker died with it",
    "unknown-site": "the definition of its site wasn't in Redis; submit its plan again",
    "no-content": "the site's selectors found nothing on it; scrapy site check SITE URL shows what they read",
    "not-results": "neither results nor the site's sign for none; scrapy site check SITE URL shows what is read",
    "not-html": "it isn't HTML",
    "empty-body": "the answer was empty",
    "too-large": "it is larger than DOWNLOAD_MAXSIZE",
    "dns": "its host's name can't be resolved",
    "message-too-large": "its item is larger than the sink takes",
}


async def nav_seeds(operator: Operator, url: str, plan: str) -> list[Seed]:
    """Returns a plan's search pages with that URL; one made up from it when the plan's definition has none.

    Raises:
        PlanError: There is no plan of that name.
        FrontierError: Its definition in Redis is damaged.
    """
    from crawler.plans import Plan

    record = await operator.registry.plan(plan)
    try:
        sites = {name: await operator.registry.site(name) for name in record.sites}
        seeds = Plan.from_definition(record.definition, sites).nav_seeds(record.edition)
        found = [seed for seed in seeds if seed.url == url]
    except InputError as error:
        raise FrontierError(str(error)) from error
    # With cursors, the plan knows the first page only.
    return found[:SEEDS_SHOWN] or [Seed(url, plan, record.sites[0], frontier="nav", edition=record.edition)]


async def explain(operator: Operator, seed: Seed) -> dict[str, Any]:
    """Returns where a seed is and why it isn't done, as JSON values."""
    info = await operator.admins[seed.frontier].show(seed)
    why = info.why
    reason = info.details.get("reason", "")
    if meaning := MEANINGS.get(reason):
        why += f": {meaning}"
    if info.state == "failed":
        why += "; scrapy seeds retry makes it ready again"
    elif info.state == "parked" and info.seed:
        why += f"; scrapy plan resume {info.seed['plan']} lets it go on"
    elif info.state in ("ready", "quarantined"):
        why += await _idle(operator, seed.frontier)
    return {"frontier": seed.frontier, **asdict(info), "why": why}


async def _idle(operator: Operator, frontier: Frontier) -> str:
    """Returns what keeps this frontier's workers from claiming; empty when nothing does."""
    from crawler.commands.workers import read_workers

    everybody = [one for one in await read_workers(operator) if one["frontier"] == frontier]
    workers = [one for one in everybody if one["state"] in ("alive", "redis-full")]
    if not workers:
        return f"; no {SPIDERS[frontier]} is running: scrapy crawl {SPIDERS[frontier]}"
    if all(one["state"] == "redis-full" for one in workers):
        return "; its workers claim nothing while Redis is full: raise its maxmemory"
    down = {sink for one in workers for sink in one["sinks_down"]}
    if down and all(one["sinks_down"] for one in workers):
        return f"; its workers claim nothing while sinks are down: {', '.join(sorted(down))}"
    return ""


def print_shown(url: str, shown: list[dict[str, Any]]) -> None:
    """Prints what `explain` returned."""
    from crawler.commands.views import moment

    print(inert(url))
    for one in shown:
        print(one_line(f"{one['frontier']} {one['fingerprint']}: {one['state']}, {one['why']}"))
        seed, details = one["seed"] or {}, one["details"]
        if seed:
            print(
                " ",
                one_line(
                    f"plan {seed['plan']}, site {seed['site']}, keywords: {' + '.join(seed['keywords']) or 'none'}"
                ),
            )
        if details.get("score_ms"):
            what = {"failed": "failed", "executing": "claimed"}.get(one["state"], "due")
            print(f"  {what} {moment(details['score_ms'])}")
        if details.get("finished_s"):
            print(f"  finished {moment(details['finished_s'] * 1000)}")
