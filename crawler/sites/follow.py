"""Which links of content pages are followed, through which redirects, how far, and how many of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from crawler.base.errors import UrlError
from crawler.base.urls import canonical, host, hostname, without_host_dot
from crawler.base.yamlfile import Part
from crawler.sites.pattern import PatternField
from crawler.sites.selector import Selector, SelectorField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.sites.pattern import Pattern


class Follow(Part):
    """Which links of content pages are followed; its keys are named as in Scrapy's LinkExtractor."""

    links: SelectorField = Field(
        Selector.parse("css:a, area"),
        description="Selects the links; of an element, the `href` counts. A `json:` selector if content pages are "
        "JSON.",
        examples=["css:article a"],
    )
    allow: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions (RE2) of which a link's address must match one, anywhere in it; empty: all "
        "do.",
        examples=[[r"/20\d\d/"]],
    )
    deny: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses that aren't followed, even if `allow` matches.",
        examples=[["/print$"]],
    )
    allow_domains: tuple[Annotated[str, Field(min_length=1, max_length=253)], ...] = Field(
        (),
        strict=False,
        max_length=100,
        description="Domains, each with its subdomains, that links may lead to besides the page's own host. A redirect "
        "out of these fails the page as `out-of-scope`.",
        examples=[["example.org"]],
    )
    items: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions (RE2) of addresses that are content pages. A page whose address matches none "
        "only leads on, as a list of threads does: its links are followed, and it becomes no item, but is counted as "
        "`list-page`. Empty: all are content pages.",
        examples=[[r"/thread/\d+"]],
    )
    depth: int = Field(1, ge=1, le=50, description="Most links between a search result and a page.", examples=[2])
    per_page: int = Field(
        100, ge=1, le=10_000, description="Most links of one page that are followed; the first ones are.", examples=[50]
    )
    per_host: int = Field(
        10_000,
        ge=1,
        le=100_000_000,
        description="Most pages of one host that are crawled because of a link, over all pages and plans; what is over "
        "counts as `over-budget`. The count is forgotten `FAIL_DAYS` after its first page.",
        examples=[5_000],
    )

    @field_validator("allow_domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(checked_domain(domain) for domain in value)

    def wants(self, url: str, page_url: str) -> bool:
        """Returns whether a link is followed, or a redirect from a page that a link led to.

        Args:
            url: Canonical URL of the link, or of the redirect's target.
            page_url: Canonical URL of the page with the link, or of the one that redirects.
        """
        return passes(url, self.allow, self.deny) and self._in_scope(url, page_url)

    def makes_item(self, url: str) -> bool:
        """Returns whether the page with this canonical URL becomes an item; if not, it only leads on."""
        url = without_host_dot(url)
        return not self.items or any(pattern.found_in(url) for pattern in self.items)

    def _in_scope(self, url: str, page_url: str) -> bool:
        if host(url) == host(page_url):
            return True
        return in_domains(url, self.allow_domains)


def passes(url: str, allow: Sequence[Pattern], deny: Sequence[Pattern]) -> bool:
    """Returns whether an address matches one of the patterns that allow it, if there are any, and none that deny it."""
    url = without_host_dot(url)  # patterns are written without it
    if allow and not any(pattern.found_in(url) for pattern in allow):
        return False
    return not any(pattern.found_in(url) for pattern in deny)


def in_domains(url: str, domains: Sequence[str]) -> bool:
    """Returns whether the host of an address is one of the domains, or below one."""
    name = hostname(url)
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)


def checked_domain(value: str) -> str:
    """Returns a domain as hosts of canonical URLs have it.

    Raises:
        ValueError: It is none.
    """
    with contextlib.suppress(UrlError):
        if not any(mark in value for mark in ":/?#@\\"):
            return hostname(canonical(f"http://{value}/"))
    raise ValueError("a domain such as example.org")
