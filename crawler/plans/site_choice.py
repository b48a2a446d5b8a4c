"""Which site of a plan reads the page at an address: by the hosts that the plan gives it, or those of its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base.urls import host, hostname
from crawler.sites.host_names import BELOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.sites import Site

EVERY_HOST = "*"


class SiteChoice:
    """Chooses among a plan's sites. What the plan says goes before what a file says; of two, the first in the plan.

    Args:
        sites: Each with its `hosts`, as `SiteUse` has them.
    """

    def __init__(self, sites: Iterable[tuple[Site, Sequence[str]]]) -> None:
        self._exact: dict[str, str] = {}
        self._below: dict[str, str] = {}
        self._own: dict[str, str] = {}
        self._others = ""
        for site, patterns in sites:
            if patterns:
                for pattern in patterns:
                    self._add(pattern, site.name)
            elif site.own_hosts:
                self._own.update(dict.fromkeys(site.own_hosts - self._own.keys(), site.name))
            else:  # nothing tells where it is, as of `web`
                self._add(EVERY_HOST, site.name)

    def of(self, url: str, page_url: str = "", page_site: str = "") -> str:
        """Returns the name of the site that reads a page; empty: the page isn't one of the plan's.

        Args:
            url: Canonical.
            page_url: Canonical URL of a page that leads to it; empty: none does.
            page_site: The site of that page, which reads others of its host if no site names the host.
        """
        chosen = self.named(url)
        if not chosen and page_url and host(url) == host(page_url):
            chosen = page_site
        return chosen or self._others

    def named(self, url: str) -> str:
        """Returns the name of the site that has a page's host by name or domain; empty: none has."""
        name = hostname(url)
        return self._exact.get(name) or self._of_domain(name) or self._own.get(host(url), "")

    def _add(self, pattern: str, site: str) -> None:
        if pattern == EVERY_HOST:
            self._others = self._others or site
        elif pattern.startswith(BELOW):
            self._below.setdefault(pattern.removeprefix(BELOW), site)
        else:
            self._exact.setdefault(pattern, site)

    def _of_domain(self, name: str) -> str | None:
        """Returns the site of the longest domain that a name is below."""
        domain = name.partition(".")[2] if self._below else ""
        while domain:
            if domain in self._below:
                return self._below[domain]
            domain = domain.partition(".")[2]
        return None
