"""Scrapy's responses, made without taking apart again what was just put together."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.http import Response
from scrapy.responsetypes import responsetypes

if TYPE_CHECKING:
    from crawler.download.heads import Head

REMEMBERED = 1_024  # content types; addresses of servers


def response(url: str, head: Head, body: bytes, address: str, flags: list[str] | None = None) -> Response:
    """Returns what Scrapy's `make_response` does.

    But a body in a coding is no text, whatever its URL and its first bytes look like: whoever decodes it finds its
    class then.
    """
    kept = dict.get(head.headers, b"Content-Type")
    if dict.__contains__(head.headers, b"Content-Encoding"):
        kind = Response
    else:
        kind = _kind(kept[-1]) if kept else Response
        if kind is Response:
            kind = responsetypes.from_args(headers=head.headers, url=url, body=body)
    made = kind(
        url=url,
        status=head.status,
        body=body,
        flags=flags,
        ip_address=_address(address) if address else None,
        protocol=head.protocol,
    )
    made.headers = head.headers
    return made


@lru_cache(REMEMBERED)
def _kind(content_type: bytes) -> type[Response]:
    return responsetypes.from_content_type(content_type)


@lru_cache(REMEMBERED)
def _address(written: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(written)
