"""What a site is asked, by whom, and what is noted of it, while its file is proposed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from crawler.base.errors import ExtractError
from crawler.discovery.pages.page import ParsedPage

if TYPE_CHECKING:
    from crawler.base.models import Fetched
    from crawler.discovery.proposal import Notes
    from crawler.discovery.search.search_template import SearchTemplate
    from crawler.sites import Site

FIRST_ERROR = 400  # the lowest HTTP status that says that a request failed


class Visitor(Protocol):
    """Fetches pages one by one, no more than it has said, and says why each is asked for."""

    async def ask(self, url: str, why: str, *, body: str = "", content_type: str = "") -> Fetched:
        """Returns a page, whatever its status.

        Args:
            url: Absolute.
            why: What for, in words.
            body: With one, the request is a POST.
            content_type: Of the body.

        Raises:
            HeadroomError: It can't be had: a crawl wouldn't ask for it, there is no answer, or enough were asked for.
        """
        ...

    async def render(self, page: Fetched, why: str) -> Fetched | None:
        """Returns a page as a browser shows it, with all JSON that it loaded; None: there is no browser here.

        Raises:
            HeadroomError: It can't be rendered, or enough were.
        """
        ...


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
