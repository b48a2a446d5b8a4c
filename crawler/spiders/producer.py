"""`scrapy crawl producer`: search pages lead to content seeds, and to the next search page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler import extract
from crawler.models import Fetched, Frontier, Seed
from crawler.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.sites import Site
    from crawler.worker.visits import Visit


class ProducerSpider(FrontierSpider):
    """Reads nav pages and offers what they link to. A nav seed ends only after Redis has what its page led to."""

    name = "producer"
    frontier: Frontier = "nav"

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Any]:
        """Offers the page's results, and the next search page where only this one names it."""
        seed = visit.seed
        links = await extract.offload(
            extract.links, page, site, body=seed.body, number=seed.page, max_links=self.max_links
        )
        if links.empty:
            await self.worker.searches.end(visit.claimed)  # before the lane begins the next page
        visit.end_fetch()  # the host's turn is free while Redis takes the offers
        await self.count_left_out(links, replace(seed, frontier="content"))
        if links.urls:
            found = [Seed(url, seed.plan, seed.site, keywords=seed.keywords, exact=seed.exact) for url in links.urls]
            await self.worker.offers.offer(found, edition=seed.edition)
        if links.next is not None and seed.more > 0:
            next_page = links.next
            following = replace(
                seed,
                url=next_page.url,
                method=next_page.method,
                body=next_page.body,
                page=next_page.page,
                more=seed.more - 1,
                interval_s=0,
                run=visit.claimed.run,  # or the next run's would be known, and never read
            )
            await self.worker.offers.offer([following], "nav", edition=seed.edition)
        return ()
