"""Offers single pages, as a person names them, to the content frontier: `scrapy seeds offer`."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from crawler import sites
from crawler.base import reasons, urls
from crawler.base.errors import FrontierError, PlanError, ScriptRouteError, UrlError
from crawler.base.models import Seed
from crawler.base.redaction import without_credentials
from crawler.base.text import one_line
from crawler.frontier.offer import OFFER_BATCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.plans.operator import Operator
    from crawler.sites import Site

MANUAL = "manual"  # the plan of pages that are offered for none, which is never submitted


async def prepare_site(operator: Operator, name: str, sites_dir: str) -> Site:
    """Returns a site's definition, and writes it to Redis, where the workers find it.

    A definition in a file goes before the one in Redis. But a site stays at the base that a plan has given it.

    Raises:
        SiteError: No file and no submitted plan defines the site.
        InputError: Its file is wrong.
    """
    stored = None
    with contextlib.suppress(FrontierError):  # Redis has none, or a damaged one, which the file's replaces
        stored = await operator.registry.site(name)
    try:
        site = sites.load(name, sites_dir)
    except sites.SiteError:
        if stored is None:
            raise
        return stored
    if stored is not None and stored.base:
        site = site.named(name, stored.base)
    await operator.registry.save_sites((site,))
    return site


async def offer_note(operator: Operator, plan: str) -> str:
    """Returns what must be said of pages that are offered to a plan; empty where nothing must.

    Raises:
        PlanError: They would not be crawled.
    """
    record = await operator.registry.admit_pages(plan)
    if record is None:
        unknown = f"; no plan {plan} was submitted: these pages can't be paused, cancelled or deleted"
        return "" if plan == MANUAL else unknown
    return f"; plan {plan} is paused: scrapy plan resume {plan} lets them go on" if record.state == "paused" else ""


async def offer_urls(
    operator: Operator, site: Site, plan: str, lines: Iterable[str]
) -> tuple[int, int, list[dict[str, str]]]:
    """Offers URLs in batches, as they come.

    Returns:
        How many were offered, how many of these were new, and the lines that are no URLs, each with the reason.

    Raises:
        PlanError: The plan was deleted meanwhile: what was offered before is gone with it, and what follows would be
            refused.
    """
    offered = new = 0
    bad: list[dict[str, str]] = []
    source, record = iter(lines), (await operator.registry.plans()).get(plan)
    general = record is not None and record.judges_links
    while batch := list(itertools.islice(source, OFFER_BATCH)):
        seeds = []
        for line in batch:
            try:
                url = urls.canonical(line, drop=site.drop, routes=site.has_routes("content"))
                seeds.append(Seed(url, plan, site.name, exact=site.exact, general=general))
            except UrlError as error:
                bad.append({"url": one_line(without_credentials(line)), "why": str(error)})
                if isinstance(error, ScriptRouteError):
                    place = Seed(urls.canonical(line.partition("#")[0]), plan, site.name)
                    await operator.queues["content"].refuse(place, reasons.UNOPENED_SCRIPT_ROUTES, 1)
        new += sum(await operator.queues["content"].offer(seeds, confirmed=True))
        offered += len(seeds)
        if await operator.registry.was_deleted(plan):
            raise PlanError(f"plan {plan!r} was deleted meanwhile, and what was offered to it is gone")
    return offered, new, bad
