"""Which sites of a plan have the searches of another one: each page is fetched once, and read as that site's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base.urls import canonical, hostname

if TYPE_CHECKING:
    from crawler.plans import Plan
    from crawler.sites import SearchTarget


def of_plan(plan: Plan) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose searches are all those of a site before it."""
    asked = {seed.site for seed in plan.nav_seeds(edition=0)}
    words = plan.combinations()[0]
    readers: dict[tuple[str, str, str], str] = {}  # request -> the site that reads its answer
    found = []
    for site in plan.sites:
        target = plan.targets(site, words, pages=1)[0]
        if site.name in asked:
            readers.setdefault(_request(target), site.name)
        else:
            reader = readers.get(_request(target), "another site")
            why = f"it gets no page, since its searches are those of {reader}; leave it out, or give it another base"
            found.append({"site": site.name, "host": hostname(target.url), "why": why})
    return found


def _request(target: SearchTarget) -> tuple[str, str, str]:
    return target.method, canonical(target.url, routes=True), target.body
