"""Recognises software that many sites run, for which there is a kind, by the marks that it leaves on its pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.base.urls import origin_as_written

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.discovery.pages.page import ParsedPage


@dataclass(frozen=True, slots=True)
class Recognised:
    """A site whose software is known.

    Attributes:
        kind: Of site files.
        base: The kind's `base`.
        mark: By what it was recognised, in words.
    """

    kind: str
    base: str
    mark: str


def recognise(page: ParsedPage) -> list[Recognised]:
    """Returns the kinds that a page's site may be of, the likeliest first; empty if there is no mark of any."""
    generator = page.tree.select_one("meta[name=generator][content]")
    made_by = (generator.attr("content") or "") if generator else ""
    recognised: list[Recognised] = []
    for kinds, place_of in _SOFTWARE:
        base, mark = place_of(page, made_by) or ("", "")
        recognised += [Recognised(kind, base, mark) for kind in kinds if base]
    return recognised


def _mediawiki(page: ParsedPage, made_by: str) -> tuple[str, str] | None:
    link = page.tree.select_one("link[rel=EditURI][href]")
    href = page.absolute(link.attr("href") or "") if link else ""
    if "/api.php" in href and (made_by.startswith("MediaWiki") or "action=rsd" in href):
        return href.partition("/api.php")[0], f"generator {made_by}" if made_by else "its link to api.php?action=rsd"
    if made_by.startswith("MediaWiki"):
        return _before(page, r"(.*?)/(?:index|opensearch_desc|load|rest)\.php"), f"generator {made_by}"
    return None


def _dokuwiki(page: ParsedPage, made_by: str) -> tuple[str, str] | None:
    if made_by.startswith("DokuWiki") or page.tree.select_one("#dokuwiki__site, .dokuwiki") is not None:
        mark = f"generator {made_by}" if made_by else "the class dokuwiki"
        return _before(page, r"(.*?)/(?:doku\.php|lib/(?:exe|tpl|images)/.*)"), mark
    return None


def _wordpress(page: ParsedPage, made_by: str) -> tuple[str, str] | None:
    link = page.tree.select_one("link[rel='https://api.w.org/'][href]")
    if link is None and not made_by.startswith("WordPress"):
        return None
    mark = f"generator {made_by}" if made_by.startswith("WordPress") else "its link to the REST interface"
    href = page.absolute(link.attr("href") or "") if link else ""
    base = re.split(r"/(?:index\.php/?)?(?:wp-json/?|\?rest_route=)", href)[0] if href else ""
    return base or _before(page, r"(.*?)/(?:wp-includes|wp-content|wp-login\.php|xmlrpc\.php)"), mark


def _discourse(page: ParsedPage, made_by: str) -> tuple[str, str] | None:
    if not made_by.startswith("Discourse"):
        return None
    setup = page.tree.select_one("[data-base-uri]")
    path = (setup.attr("data-base-uri") or "") if setup else ""
    return f"{origin_as_written(page.url)}{path}", f"generator {made_by}"


def _phpbb(page: ParsedPage, _made_by: str) -> tuple[str, str] | None:
    if page.tree.select_one("body#phpbb, a[href*='www.phpbb.com']") is None:
        return None
    return _before(page, r"(.*?)/(?:search|viewforum|viewtopic|ucp|index|memberlist)\.php"), "the body's id phpbb"


_SOFTWARE: tuple[tuple[tuple[str, ...], Callable[[ParsedPage, str], tuple[str, str] | None]], ...] = (
    (("mediawiki",), _mediawiki),
    (("dokuwiki",), _dokuwiki),
    (("wordpress", "wordpress_html"), _wordpress),
    (("discourse",), _discourse),
    (("phpbb",), _phpbb),
)


def _before(page: ParsedPage, path: str) -> str:
    """Returns what stands before a path of the software in an address of the page's own host; empty for none."""
    wanted = re.compile(path)
    own = urlsplit(page.url)
    for element in page.tree.select("link[href], form[action], script[src], a[href], img[src]")[:1_000]:
        url = page.absolute(element.attr("href") or element.attr("action") or element.attr("src") or "")
        match = wanted.match(url.partition("?")[0])
        if match and urlsplit(url).netloc == own.netloc:
            return match[1]
    return ""
