"""What a page declares for programs: searches by OpenSearch or schema.org, feeds; and where it links to its search."""

from __future__ import annotations

import contextlib
import re
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lxml import etree

from crawler.base.urls import origin_as_written
from crawler.discovery.search.search_template import QUERY, SearchTemplate
from crawler.extract.declared import Declared
from crawler.sites.search import check_encoding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from crawler.discovery.pages.page import ParsedPage

MAX_NODES = 20_000  # lists, objects and values of a page's JSON-LD that are looked at
MAX_DESCRIPTION_BYTES = 100_000  # an OpenSearch description has 2,000
MAX_FEEDS = 5
FEED_TYPES = "application/rss+xml", "application/atom+xml", "application/feed+json"
MAX_ROBOTS_BYTES = 500 * 1024  # as much of robots.txt as RFC 9309 has everybody read
_SITEMAP = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(https?://[^\s#]{1,2000})", re.IGNORECASE | re.MULTILINE)
MAX_ENCODINGS = 20  # a description names one or two
FOR_PEOPLE = "text/html", "application/xhtml+xml"
_PAGED = {"page": "startPage", "offset": "startIndex"}  # what a template calls the number, by the kind of paging
# Parameters that are left out if they are optional: the site chooses better for itself.
_MAY_BE_EMPTY = frozenset({"language", "inputEncoding", "outputEncoding"})
_PARAMETER = re.compile(r"\{([\w:]+)(\??)\}")
_SAID = re.compile(r"\{(?:query|per_page|page|offset)\}")
_NUMBER = re.compile(r"\d{1,3}").fullmatch
_OPTIONAL = re.compile(r"\{[^{}]*\}")
_SEARCH_PATH = re.compile(
    r"/(?:[\w-]*search[\w-]*|suche|buscar|recherche|sousuo|find)(?:\.\w+)?/?(?:$|\?)", re.IGNORECASE
)
_SEARCH_TEXT = re.compile(
    r"(?:advanced |site )?search\b.{0,20}|(?:高级|高級|站内|全文)?(?:搜索|搜尋|查询|查詢|检索)|検索|검색", re.IGNORECASE
)


def description_url(page: ParsedPage) -> str:
    """Returns where the page's OpenSearch description is; empty for none."""
    link = page.tree.select_one("link[rel~=search][type='application/opensearchdescription+xml'][href]")
    return page.absolute(link.attr("href") or "") if link else ""


def is_description(body: bytes) -> bool:
    """Returns whether a body is an OpenSearch description: XML that has a template of an address."""
    root = _xml(body)
    return root is not None and any(element.get("template") for element in root.iter("{*}Url"))


def by_description(body: bytes, url: str, types: Collection[str] = FOR_PEOPLE) -> SearchTemplate | None:
    """Returns the search that an OpenSearch description offers; None if it offers none, or isn't one."""
    root = _xml(body)
    if root is None:
        return None
    encoding = _encoding([element.text or "" for element in root.iter("{*}InputEncoding")])
    for element in root.iter("{*}Url"):
        if element.get("type") in types and element.get("rel", "results") == "results":
            first = {name: element.get(name) or "1" for name in ("indexOffset", "pageOffset")}
            if template := _open_search(element.get("template") or "", encoding, first):
                return replace(template, source=f"the OpenSearch description {url}")
    return None


def by_action(page: ParsedPage) -> SearchTemplate | None:
    """Returns the search that the page declares as schema.org's SearchAction; None for none."""
    for target in _search_actions(Declared(page.tree, page.url).json_ld):
        name = _OPTIONAL.search(target)
        url = _OPTIONAL.sub("", target.replace(name[0], "\0", 1)).replace("\0", QUERY) if name else ""
        if url.startswith(("http://", "https://")):
            return SearchTemplate(url, source="the page's SearchAction")
    return None


def feeds(page: ParsedPage) -> list[str]:
    """Returns the feeds that a page declares."""
    links = page.tree.select("link[rel~=alternate][href]")
    urls = [page.absolute(link.attr("href") or "") for link in links if link.attr("type") in FEED_TYPES]
    return [url for url in dict.fromkeys(urls) if url][:MAX_FEEDS]


def sitemap(robots: bytes, url: str) -> str:
    """Returns the first sitemap that a robots.txt names at the origin of a URL; empty for none."""
    named = (match[1].decode("ascii", "replace") for match in _SITEMAP.finditer(robots[:MAX_ROBOTS_BYTES]))
    return next((address for address in named if address.startswith(f"{origin_as_written(url)}/")), "")


def search_page(page: ParsedPage) -> str:
    """Returns the page to which a link says that it leads to the search; empty for none."""
    own = f"{origin_as_written(page.url)}/"
    same_host = [anchor for anchor in page.anchors if anchor.url.startswith(own)]
    for anchor in same_host:
        if _SEARCH_PATH.search(anchor.url) or _SEARCH_TEXT.fullmatch(anchor.text):
            return anchor.url
    return ""


def _xml(body: bytes) -> etree._Element | None:
    """Returns the root of an XML document; None if it is none, or larger than a description."""
    if len(body) > MAX_DESCRIPTION_BYTES:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return None


def _encoding(names: Sequence[str]) -> str:
    """Returns the encoding in which words are sent: UTF-8 where that will do, else the first that there is."""
    known = []
    for name in names[:MAX_ENCODINGS]:
        with contextlib.suppress(ValueError):
            known.append(check_encoding(name.strip()))
    return "utf-8" if "utf-8" in known or not known else known[0]


def _open_search(template: str, encoding: str, first: Mapping[str, str]) -> SearchTemplate | None:
    """Returns the search that a template of OpenSearch makes; None where it needs what a site file can't say.

    Args:
        template: Its `template`.
        encoding: In which the words are sent.
        first: Its `indexOffset` and `pageOffset`, the numbers of the first result and page, as they are written.
    """
    if "{searchTerms}" not in template or not template.startswith(("http://", "https://")):
        return None
    head, mark, query = template.partition("?")
    paging = _open_search_paging(template, first)
    values = {"searchTerms": QUERY, "count": "{per_page}", "language": "*", "inputEncoding": encoding}
    values |= {"outputEncoding": "utf-8"} | ({_PAGED[paging["kind"]]: f"{{{paging['kind']}}}"} if paging else {})
    parts = []
    for part in (head, *query.split("&")) if mark else (head,):
        names = _PARAMETER.findall(part)
        if any(name not in values and not optional for name, optional in names):
            return None
        if part != head and any(name not in values or name in _MAY_BE_EMPTY for name, optional in names if optional):
            continue
        parts.append(_PARAMETER.sub(lambda match: values.get(match[1], ""), part))
    url = parts[0] + mark + "&".join(parts[1:])
    if _OPTIONAL.search(_SAID.sub("", url)):
        return None  # a brace that is none of OpenSearch
    return SearchTemplate(url, encoding=encoding, paging=paging)


def _open_search_paging(template: str, first: Mapping[str, str]) -> dict[str, Any]:
    named = dict.fromkeys(name for name, _ in _PARAMETER.findall(template))
    for kind, name in _PAGED.items():
        if name in named:
            offset = first["pageOffset" if kind == "page" else "indexOffset"]
            usual = "1" if kind == "page" else "0"  # where a site file counts from unless it says otherwise
            counted = {} if offset == usual or not _NUMBER(offset) else {"first": int(offset)}
            return {"kind": kind, **counted}
    return {}


def _search_actions(objects: Sequence[Any]) -> Iterator[str]:
    """Yields the targets of the SearchActions anywhere in some objects, the outer ones first."""
    nodes = deque(objects)
    for _ in range(MAX_NODES):
        if not nodes:
            return
        node = nodes.popleft()
        if isinstance(node, list):
            nodes += node[:MAX_NODES]
        elif isinstance(node, dict):
            if node.get("@type") == "SearchAction":
                target = node.get("target")
                target = target.get("urlTemplate") if isinstance(target, dict) else target
                if isinstance(target, list):
                    target = target[0] if target else ""
                if isinstance(target, str):
                    yield target
            nodes += node.values()
