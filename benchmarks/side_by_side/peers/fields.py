"""What every peer written in Python reads from a page: the fields of sites/side_by_side.yaml, by the same selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def read(page: Any, url: str, join: Callable[[str], str]) -> dict[str, Any]:
    """Returns a page's item.

    Args:
        page: Has parsel's `css`: a selector, or a response of a framework that has it, too.
        url: Of the page.
        join: Makes a link of the page absolute.
    """
    return {
        "url": url,
        "title": page.css("h1.title::text").get(),
        "author": page.css("a.author::text").get(),
        "published": page.css("time::attr(datetime)").get(),
        "section": page.css("a.section::text").get(),
        "tags": page.css("a.tag::text").getall(),
        "views": page.css("span.views::text").get(),
        "content": "\n".join(page.css(".post-body p::text").getall()),
        "links": [join(href) for href in page.css(".related a::attr(href)").getall()],
    }
