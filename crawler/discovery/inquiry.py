"""What a site is asked, and what is noted of it, while its file is proposed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.base.errors import ExtractError
from crawler.discovery.page import ParsedPage

if TYPE_CHECKING:
    from crawler.base.models import Fetched
    from crawler.discovery.proposal import Notes
    from crawler.discovery.search_template import SearchTemplate
    from crawler.discovery.visitor import Visitor
    from crawler.sites import Site

FIRST_ERROR = 400  # the lowest status that is one


@dataclass(frozen=True, slots=True)
class Inquiry:
    """All that those need who find out one part of a site file each.

    Attributes:
        visitor: Asks for the pages.
        name: Of the site.
        word: That the site's search should find; empty: none is known.
        notes: Remarks for the file.
        unread: Searches with what they answer to the word, and to one that nothing has, where no results stand in that
            as it comes.
    """

    visitor: Visitor
    name: str
    word: str
    notes: Notes
    unread: list[tuple[SearchTemplate, Fetched, Fetched]] = field(default_factory=list)

    async def search(self, site: Site, word: str, why: str) -> Fetched:
        """Asks for a page of results just as a crawl would."""
        target = site.search_targets([word], pages=1, per_page=20, sort="newest")[0]
        return await self.visitor.ask(target.url, why, body=target.body, content_type=site.request_content_type)


def page_of(fetched: Fetched) -> ParsedPage | None:
    """Returns a page as a tree; None if it is no HTML."""
    try:
        return ParsedPage(fetched)
    except ExtractError:
        return None
