"""Where a page leads at once by a refresh: by `<meta http-equiv="refresh" content="0; url=/there">`, or by its header.

Source: the HTML standard, "shared declarative refresh steps".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import re2

from crawler.base.errors import ExtractError
from crawler.extract.document import base_url
from crawler.extract.encoding import utf8
from crawler.extract.markup import parse_html

if TYPE_CHECKING:
    from crawler.base.models import Fetched

LOOKED_AT_BYTES = 16_384  # of a page, from its beginning: its head, in which a refresh stands
_refresh_at_once = re.compile(
    r"""\s*(?:0+(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?"""
    r"""(?:(["'])(?P<quoted>.*?)(?:\1|$)|(?P<bare>.*))""",
    re.IGNORECASE | re.DOTALL,
).match
_may_refresh = re2.compile(rb"(?i)http-equiv\s*=\s*[\"']?\s*refresh").search


def refresh_target(page: Fetched, header: str) -> tuple[str, str]:
    """Returns where a page leads at once, as it says it, and the URL to which that is relative; empty: nowhere.

    A refresh in a `<noscript>` is for others than most of the page's readers, and one after a second or more lets them
    read.

    Args:
        page: An answer that is a page.
        header: Its header `Refresh`; empty: it has none.
    """
    if target := _target(header):
        return target, page.url
    head = page.body[:LOOKED_AT_BYTES]
    if not _may_refresh(head) and b"\0" not in head:  # with NULs it may be in UTF-16
        return "", page.url
    try:
        tree = parse_html(utf8(page)[0][:LOOKED_AT_BYTES])
    except ExtractError:
        return "", page.url
    base = tree.select_one("base[href]")
    for meta in tree.select('meta[http-equiv="refresh" i]:not(noscript *, template *)'):
        if target := _target(meta.attr("content") or ""):
            return target, base_url((base.attr("href") or "") if base else "", page.url)
    return "", page.url


def _target(refresh: str) -> str:
    match = _refresh_at_once(refresh)
    return (match["quoted"] or match["bare"] or "").strip() if match else ""
