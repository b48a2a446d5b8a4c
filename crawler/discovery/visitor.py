"""Who asks for pages on behalf of discovery. It knows how a crawl does that; discovery doesn't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from crawler.base.models import Fetched


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

        Args:
            page: As it came.
            why: What for, in words.

        Raises:
            HeadroomError: It can't be rendered, or enough were.
        """
        ...
