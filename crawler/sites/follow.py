"""Which links of content pages are followed, through which redirects, how far, and how many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from crawler.base.item import PageType
from crawler.base.urls import host, hostname, without_host_dot
from crawler.base.yamlfile import Part
from crawler.sites.host_names import checked_domain
from crawler.sites.pattern import PatternField
from crawler.sites.selector import Selector, SelectorField

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from crawler.sites.pattern import Pattern


class LinkRules(Part):
    """Which links of pages are followed, whoever says so; the keys are named as in Scrapy's LinkExtractor."""

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
    allow_domains: tuple[Annotated[str, Field(min_length=1, max_length=253), AfterValidator(checked_domain)], ...] = (
        Field(
            (),
            strict=False,
            max_length=1_000,
            description="Domains, each with its subdomains, that links may lead to besides. A redirect out of these "
            "fails the page as `out-of-scope`.",
            examples=[["example.org"]],
        )
    )
    list_types: tuple[PageType, ...] = Field(
        (),
        strict=False,
        description="Types of pages that only lead on, whatever their address, as they are told of a page that is read "
        "without selectors: `article`, `forum`, `product`, `collection`, `listing`, `documentation`, `service`. They "
        "make no item, and count as `list-page`.",
        examples=[["listing", "collection"]],
    )
    per_host: int = Field(
        10_000,
        ge=1,
        le=100_000_000,
        description="Most pages of one host that are crawled because of a link, over all pages and plans; what is over "
        "fails as `budget-follow`, and is tried when a plan is submitted with more and `--replace`. Beyond as many "
        "again, at least 100, it is only counted, as `over-budget`. The count is forgotten `FAIL_DAYS` after its first "
        "page.",
        examples=[5_000],
    )

    def wants(self, url: str, page_url: str, start_hosts: AbstractSet[str] = frozenset()) -> bool:
        """Returns whether a link is followed, or a redirect from a page that a link led to.

        Args:
            url: Canonical URL of the link, or of the redirect's target.
            page_url: Canonical URL of the page with the link, or of the one that redirects.
            start_hosts: The hosts that a plan's `start` names, by `host_of`.
        """
        return passes(url, self.allow, self.deny) and self.in_hosts(url, page_url, start_hosts)

    def in_hosts(self, url: str, page_url: str, start_hosts: AbstractSet[str]) -> bool:  # noqa: ARG002 -- of plans
        """Returns whether a link may lead to a host; the arguments are those of `wants`."""
        return host(url) == host(page_url) or in_domains(url, self.allow_domains)


class Follow(LinkRules):
    """Which links of a site's content pages are followed; those of a page stay on its host."""

    links: SelectorField = Field(
        Selector.parse("css:a, area"),
        description="Selects the links; of an element, the `href` counts. A `json:` selector if content pages are "
        "JSON.",
        examples=["css:article a"],
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

    def makes_item(self, url: str) -> bool:
        """Returns whether the page with this canonical URL becomes an item; if not, it only leads on."""
        return passes(url, self.items, ())


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
