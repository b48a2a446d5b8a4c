"""Which links a plan follows, whatever the sites' files say: its key `follow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crawler.base.urls import host, hostname
from crawler.scope.registrable import registrable_domain
from crawler.sites.follow import LinkRules, in_domains, passes
from crawler.sites.pattern import PatternField

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from crawler.base.item import PageType

_WWW = "www."  # hosts that differ by it alone are one for people


class PlanFollow(LinkRules):
    """Which links of a plan's pages are followed, with the rules that sites have, too."""

    depth: int = Field(
        5, ge=0, le=1_000, description="Most links between a start page, or a result, and a page.", examples=[3]
    )
    links: int = Field(
        100, ge=1, le=10_000, description="Most links of one page that are followed; the first ones are.", examples=[50]
    )
    never: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses that aren't asked for at all, whatever leads there: a link, a "
        "redirect or a start file.",
        examples=[["/logout"]],
    )
    list: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses of pages that only lead on: they make no item, and count as "
        "`list-page`. With a `schedule` they are asked again each time.",
        examples=[["/page/\\d+"]],
    )
    detail: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses of pages that make items; others then only lead on. Empty: all "
        "do that `list` doesn't name.",
        examples=[["/article/"]],
    )
    hosts: Literal["own", "any"] = Field(
        "own",
        description="`own`: links stay on the host of their page, and on the hosts that `start` names, with or without "
        "`www.`; `any`: they may lead anywhere.",
        examples=["any"],
    )

    @property
    def per_page(self) -> int:
        """Most links of one page, by the name that sites have for it."""
        return self.links

    def wants(self, url: str, page_url: str, start_hosts: AbstractSet[str] = frozenset()) -> bool:
        """Returns whether a link is followed, as of a site, and may be asked for."""
        return not self.refuses(url) and super().wants(url, page_url, start_hosts)

    def takes_listed(self, url: str, list_url: str, start_hosts: AbstractSet[str]) -> bool:
        """Returns whether a page is one of the plan's that a sitemap or a feed names."""
        return passes(url, self.allow, self.deny) and self.may_redirect(url, list_url, start_hosts)

    def may_redirect(self, url: str, page_url: str, start_hosts: AbstractSet[str]) -> bool:
        """Returns whether a start page, or what a search found, may redirect to an address.

        Beyond the hosts of links it may go to others of its registrable domain, as from example.org to en.example.org:
        the owner is the same. A page elsewhere would be the start of a crawl that nobody asked for.
        """
        if self.refuses(url):
            return False
        domain = registrable_domain(hostname(url))
        is_same = bool(domain) and domain == registrable_domain(hostname(page_url))
        return is_same or self.in_hosts(url, page_url, start_hosts)

    def refuses(self, url: str) -> bool:
        """Returns whether the page with this canonical URL is never asked for."""
        return not passes(url, (), self.never)

    def only_leads_on(self, url: str, page_type: PageType | None = None) -> bool:
        """Returns whether the page with this canonical URL makes no item; `page_type`: None before it is read."""
        if self.is_list(url) or self.detail:
            return self.is_list(url) or not passes(url, self.detail, ())
        return page_type in self.list_types

    def is_list(self, url: str) -> bool:
        """Returns whether the page with this canonical URL is a list, which may have something new later."""
        return bool(self.list) and passes(url, self.list, ())

    def in_hosts(self, url: str, page_url: str, start_hosts: AbstractSet[str]) -> bool:
        """Returns whether a link may lead to a host: to one that is left open by its key, too."""
        own = host_of(url)
        return (
            self.hosts == "any" or own == host_of(page_url) or own in start_hosts or in_domains(url, self.allow_domains)
        )


def host_of(url: str) -> str:
    """Returns the host of a canonical URL, with its port, without `www.`."""
    return host(url).removeprefix(_WWW)
