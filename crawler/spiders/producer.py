"""`scrapy crawl producer`: search pages in, content seeds out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler import extract
from crawler.models import Fetched, Frontier, Seed
from crawler.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crawler.sites import Site
    from crawler.visits import Visit


class ProducerSpider(FrontierSpider):
    """Reads nav pages and offers what they link to. A nav seed ends only after its offers are acknowledged."""

    name = "producer"
    frontier: Frontier = "nav"

    async def read(self, page: Fetched, visit: Visit, site: Site) -> AsyncIterator[Any]:
        """Offers the page's results, and the next page where only this one knows it."""
        seed = visit.seed
        links = extract.links(page, site, body=seed.body, number=seed.page)
        visit.fetch_ends()  # the turn goes on while Redis takes the offers
        if links.urls:
            await self.worker.offer([Seed(url, seed.plan, seed.site, keywords=seed.keywords) for url in links.urls])
        if links.next is not None and seed.more > 0:
            found = links.next
            following = replace(
                seed,
                url=found.url,
                method=found.method,
                body=found.body,
                page=found.page,
                more=seed.more - 1,
                interval_s=0,
            )
            await self.worker.offer([following], "nav")
        return
        yield  # makes this a generator: a producer has no items
