"""`scrapy crawl producer`: search pages in, content seeds out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from crawler import config, extract
from crawler.models import Fetched, Frontier, Seed
from crawler.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from crawler.sites import Site
    from crawler.worker.visits import Visit


class ProducerSpider(FrontierSpider):
    """Reads nav pages and offers what they link to. A nav seed ends only after its offers are acknowledged."""

    name = "producer"
    frontier: Frontier = "nav"
    max_links: int

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Builds the spider.

        Raises:
            ConfigError: A setting is wrong.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.max_links = config.whole(crawler.settings, "MAX_LINKS_PER_PAGE", 1, 10_000)
        return spider

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Any]:
        """Offers the page's results, and the next page where only this one knows it."""
        seed = visit.seed
        links = await extract.offload(extract.links, page, site, body=seed.body, number=seed.page, most=self.max_links)
        for stat, number in links.stats().items():
            self.crawler.stats.inc_value(stat, number)
        visit.end_fetch()  # the turn goes on while Redis takes the offers
        if links.urls:
            found = [Seed(url, seed.plan, seed.site, keywords=seed.keywords) for url in links.urls]
            await self.worker.offers.offer(found)
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
            )
            await self.worker.offers.offer([following], "nav")
        return ()
