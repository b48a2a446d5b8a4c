"""`scrapy crawl consumer`: content pages become items, and may lead to further content pages."""

from __future__ import annotations

import hashlib
import socket
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from crawler import config, extract
from crawler.errors import ExtractError
from crawler.extract.limits import MAX_BODY_BYTES
from crawler.item import Item
from crawler.models import Fetched, Frontier, Seed
from crawler.spiders.base import FrontierSpider, fetched
from crawler.worker.outcomes import outcome_of_error, outcome_of_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from crawler.extract import Fields, Links
    from crawler.sites import Site
    from crawler.worker.visits import Visit

ID_NAMESPACE = uuid.UUID("5ab1ad57-3d9c-5b0c-8f5a-8f0f2a6f6c11")  # of item ids; with another one every item is new
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
        spider.parser_modules = config.words(crawler.settings, "PARSER_MODULES")
        return spider

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Item]:
        """Returns the page's item; empty when a further page of it can't be had, which retries the whole seed.

        Links are offered first, also those of a page that turns out to hold no item.
        """
        follow = site.follow if site.follow and visit.seed.depth < site.follow.depth else None
        max_links = self.max_links if follow else 0
        reading = await extract.offload(
            extract.read, page, site, max_links=max_links, parser_modules=self.parser_modules
        )
        if follow:
            await self._offer(reading.links, visit, follow.per_host)
        parts = [reading.fields()]
        max_pages = site.content.max_pages if site.content else 1
        seen = {page.url}
        while (url := parts[-1].next_page) and len(parts) < max_pages and url not in seen:
            seen.add(url)
            further = await self._further_page(url, visit, site)
            if further is None:
                return ()
            parts.append(further)
            if sum(len(part.content) for part in parts) > MAX_BODY_BYTES:
                raise ExtractError("too-large", f"{len(parts)} pages of one item")
        return (item(page, visit, extract.join(parts)),)

    async def _further_page(self, url: str, visit: Visit, site: Site) -> Fields | None:
        """Fetches and reads a page that continues the visit's page; None when it can't be had: the visit has ended."""
        try:
            response = await self.fetch(url, visit)
        except Exception as error:  # noqa: BLE001 -- whatever a download raises has an outcome
            self.decide_outcome(visit, outcome_of_error(error))
            return None
        if outcome := outcome_of_status(response.status):
            self.decide_outcome(visit, outcome)
            return None
        return await extract.offload(extract.fields, fetched(response), site, parser_modules=self.parser_modules)

    async def _offer(self, links: Links, visit: Visit, per_host: int) -> None:
        """Offers links; returns when Redis has them, so that the page's own seed doesn't end before."""
        self.count_left_out(links)
        seed = visit.seed
        further = [Seed(url, seed.plan, seed.site, keywords=seed.keywords, depth=seed.depth + 1) for url in links.urls]
        if further:
            await self.worker.offers.offer(further, budget=per_host)


def item(page: Fetched, visit: Visit, fields: Fields) -> Item:
    """Returns the item of a visit.

    Args:
        page: The page, or the first of several.
        visit: What the page was fetched for.
        fields: What it yields.
    """
    seed, fingerprint = visit.seed, visit.claimed.fingerprint.hex()
    values = fields.in_item()
    made = Item(
        id=_id(f"{fingerprint}:0"),  # the item's number on its page; each page has one
        resource=seed.site,
        url=page.url,
        time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        plan=seed.plan,
        keywords=list(seed.keywords),
        status=page.status,
        sha256=hashlib.sha256(page.body).hexdigest(),
        node=NODE,
        fingerprint=fingerprint,
        **values,
    )
    made.visit = visit
    made.note_clean(*values.values())
    return made


def _id(name: str) -> str:
    """Returns `str(uuid.uuid5(ID_NAMESPACE, name))`, in a third of the time."""
    digest = bytearray(hashlib.sha1(ID_NAMESPACE.bytes + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50  # version 5
    digest[8] = digest[8] & 0x3F | 0x80  # RFC 9562's variant
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
