"""`scrapy crawl consumer`: content pages become items, and may lead to further content pages."""

from __future__ import annotations

import hashlib
import socket
from typing import TYPE_CHECKING, Any, Self

from crawler import config, extract
from crawler.errors import ExtractError
from crawler.extract.document import MAX_BODY_BYTES
from crawler.item import Item, instant_now, item_id
from crawler.models import Fetched, Frontier, Seed
from crawler.spiders.base import FrontierSpider, fetched
from crawler.worker.outcomes import Outcome, outcome_of_error, outcome_of_extract_error, outcome_of_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from crawler.extract import Fields, Links
    from crawler.sites import Site
    from crawler.sites.follow import Follow
    from crawler.worker.visits import Visit

NODE = socket.gethostname()


class ConsumerSpider(FrontierSpider):
    """Reads content pages: each becomes one item, together with the pages that continue it. Offers links to follow."""

    name = "consumer"
    frontier: Frontier = "content"
    parser_modules: tuple[str, ...]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Builds the spider.

        Raises:
            ConfigError: A setting is wrong.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.parser_modules = config.PARSER_MODULES.of(crawler.settings)
        return spider

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Item]:
        """Returns the page's item; empty when a further page of it can't be had now, which retries the whole seed.

        A further page that will never be had, or not by this seed's last try, is named in the item; the pages before it
        are delivered.

        Links are offered first, also those of a page that turns out to hold no item.
        """
        follow = site.follow
        if follow and all(seed.depth >= follow.depth for seed in visit.seeds):
            follow = None
        if site.follow and (follow is None or page.url != visit.seed.url):
            visit.leads_on = True  # for a plan that finds the page in another number of steps
        max_links = self.max_links if follow else 0
        reading = await extract.offload(
            extract.read, page, site, max_links=max_links, parser_modules=self.parser_modules
        )
        if follow:
            await self._offer(reading.links, visit, follow)
        parts = [reading.fields()]
        max_pages = site.content.max_pages if site.content else 1
        seen = {page.url}
        missing_pages: list[str] = []
        gaps = 0
        while (url := parts[-1].next_page) and len(parts) < max_pages and url not in seen:
            seen.add(url)
            further = await self._further_page(url, visit, site)
            if isinstance(further, Outcome):
                if not self._is_final(further, visit):
                    self.decide_outcome(visit, further)
                    return ()
                missing_pages.append(url)
                gaps += further.leaves_gap
                break
            if sum(len(part.content) for part in (*parts, further)) > MAX_BODY_BYTES:
                missing_pages.append(url)
                break
            parts.append(further)
        made = item(page, visit, extract.join(parts), missing_pages)
        made.gaps = gaps
        self.worker.gaps.note(made)
        return (made,)

    async def _further_page(self, url: str, visit: Visit, site: Site) -> Fields | Outcome:
        """Fetches and reads a page that continues the visit's page; returns why, when it can't be had."""
        try:
            response = await self.fetch(url, visit)
            if outcome := outcome_of_status(response.status):
                return outcome
            return await extract.offload(
                extract.fields, fetched(response), site, parser_modules=self.parser_modules, continues=True
            )
        except ExtractError as error:
            return outcome_of_extract_error(error, response.status)
        except Exception as error:  # noqa: BLE001 -- whatever a download raises has an outcome
            return outcome_of_error(error)

    def _is_final(self, outcome: Outcome, visit: Visit) -> bool:
        """Returns whether a visit with this outcome would be its seed's last."""
        is_last_try = visit.claimed.tries + 1 >= self.worker.config.frontier.max_attempts
        return outcome.operation == "fail" or (outcome.operation == "retry" and is_last_try)

    async def _offer(self, links: Links, visit: Visit, follow: Follow) -> None:
        """Offers links to each plan that wants the page; returns when Redis has them, so that its seed ends later."""
        await self.count_left_out(links, visit.seed)
        further = [
            Seed(url, seed.plan, seed.site, keywords=seed.keywords, depth=seed.depth + 1, exact=seed.exact)
            for seed in visit.seeds
            if seed.depth < follow.depth
            for url in links.urls
        ]
        if further:
            visit.leads_on = True
            await self.worker.offers.offer(further, budget=follow.per_host)


def item(page: Fetched, visit: Visit, fields: Fields, missing_pages: Sequence[str] = ()) -> Item:
    """Returns the item of a visit.

    Args:
        page: The page, or the first of several.
        visit: What the page was fetched for.
        fields: What it yields.
        missing_pages: Further pages of it that couldn't be had.
    """
    seed, fingerprint = visit.seed, visit.claimed.fingerprint.hex()
    values = fields.in_item()
    made = Item(
        id=item_id(fingerprint),
        resource=seed.site,
        url=page.url,
        time=instant_now(),
        plan=seed.plan,
        keywords=list(seed.keywords),
        status=page.status,
        sha256=hashlib.sha256(page.body).hexdigest(),
        node=NODE,
        fingerprint=fingerprint,
        missing_pages=list(missing_pages),
        **values,
    )
    made.visit = visit
    made.note_clean(*values.values())
    return made
