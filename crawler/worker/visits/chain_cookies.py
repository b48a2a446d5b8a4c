"""The cookies of one chain of redirects, such as from a page to its gate and back; its last answer ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http.cookies import CookieJar

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class ChainCookies:
    """Keeps what answers of a chain set, and adds it to the chain's further requests, as browsers do.

    Args:
        request: Whose answer is the first that sets any.
    """

    def __init__(self, request: Request) -> None:
        self._jar = CookieJar()
        self._own = request.headers.getlist("Cookie")  # the cookies of the last request, without those of the chain

    def keep(self, response: Response, request: Request) -> None:
        """Keeps the cookies that an answer sets."""
        self._jar.extract_cookies(response, request)

    def take_off(self, redirected: Request) -> None:
        """Leaves a request that was made of the last one the cookies of its site or its spider alone."""
        if redirected.headers.pop("Cookie", None) and self._own:
            redirected.headers.setlist("Cookie", self._own)

    def add_to(self, request: Request) -> None:
        """Adds the chain's cookies to a request; of one name, the site's or the spider's own counts."""
        self._own = request.headers.getlist("Cookie")
        request.headers.pop("Cookie", None)
        self._jar.add_cookie_header(request)
        if self._own:
            chains = (request.headers.get("Cookie") or b"").decode("latin-1")
            own = b"; ".join(self._own).decode("latin-1")
            request.headers["Cookie"] = joined_cookies(own, chains).encode("latin-1")


def joined_cookies(own: str, further: str) -> str:
    """Returns cookies of a site's file, or of a spider, and further ones; of one name, the former count.

    Args:
        own: As a `Cookie` header has them; empty: there are none.
        further: Likewise.
    """
    named = {pair.partition("=")[0].strip() for pair in own.split(";")}
    added = [pair.strip() for pair in further.split(";") if pair.partition("=")[0].strip() not in named]
    return "; ".join([own, *added] if own else added)
