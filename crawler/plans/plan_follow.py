"""Which links a plan follows, whatever the sites' files say: its key `follow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator

from crawler.base.urls import host, hostname
from crawler.base.yamlfile import Part
from crawler.scope.registrable import registrable_domain
from crawler.sites.follow import checked_domain, in_domains, passes
from crawler.sites.pattern import PatternField

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_WWW = "www."  # hosts that differ by it alone are one for people


class PlanFollow(Part):
    """Which links of a plan's pages are followed; its keys are named as in Scrapy's LinkExtractor."""

    depth: int = Field(
        5, ge=0, le=1_000, description="Most links between a start page, or a result, and a page.", examples=[3]
    )
    links: int = Field(
        100, ge=1, le=10_000, description="Most links of one page that are followed; the first ones are.", examples=[50]
    )
    allow: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions (RE2) of which a link's address must match one, anywhere in it; empty: all "
        "do. Start pages needn't.",
        examples=[[r"/20\d\d/"]],
    )
    deny: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses that aren't followed, even if `allow` matches.",
        examples=[["/print$"]],
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
    allow_domains: tuple[Annotated[str, Field(min_length=1, max_length=253)], ...] = Field(
        (),
        strict=False,
        max_length=1_000,
        description="Domains, each with its subdomains, that links may lead to besides those of `hosts`.",
        examples=[["example.org"]],
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

    def wants(self, url: str, page_url: str, start_hosts: AbstractSet[str]) -> bool:
        """Returns whether a link is followed, or a redirect of a page that a link led to.

        Args:
            url: Canonical URL of the link, or of the redirect's target.
            page_url: Canonical URL of the page with the link, or of the one that redirects.
            start_hosts: The hosts that `start` names, by `host_of`.
        """
        return passes(url, self.allow, self.deny + self.never) and self._in_hosts(url, page_url, start_hosts)

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
        return is_same or self._in_hosts(url, page_url, start_hosts)

    def refuses(self, url: str) -> bool:
        """Returns whether the page with this canonical URL is never asked for."""
        return not passes(url, (), self.never)

    def only_leads_on(self, url: str) -> bool:
        """Returns whether the page with this canonical URL makes no item."""
        return self.is_list(url) or bool(self.detail and not passes(url, self.detail, ()))

    def is_list(self, url: str) -> bool:
        """Returns whether the page with this canonical URL is a list, which may have something new later."""
        return bool(self.list) and passes(url, self.list, ())

    def _in_hosts(self, url: str, page_url: str, start_hosts: AbstractSet[str]) -> bool:
        own = host_of(url)
        return (
            self.hosts == "any" or own == host_of(page_url) or own in start_hosts or in_domains(url, self.allow_domains)
        )


def host_of(url: str) -> str:
    """Returns the host of a canonical URL, with its port, without `www.`."""
    return host(url).removeprefix(_WWW)
