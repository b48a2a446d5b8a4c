"""Fetches one page for a person at a terminal, outside of any crawl: `scrapy site check FILE URL`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.errors import UnavailableError
from crawler.models import Fetched
from crawler.urls import canonical

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

CHUNK_BYTES = 65_536


def fetch(url: str, *, user_agent: str, timeout_s: float, max_bytes: int) -> Fetched:
    """Returns a page, following redirects within http and https.

    Args:
        url: Absolute; private addresses too, since a person named it.
        user_agent: Sent as it is.
        timeout_s: For the whole page, in seconds.
        max_bytes: Of its body.

    Raises:
        UrlError: Not an http(s) URL.
        UnavailableError: No answer, an error status, too large, or not in time.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request

    address = canonical(url)
    deadline = time.monotonic() + timeout_s
    request = Request(address, headers={"User-Agent": user_agent, "Accept-Encoding": "identity"})  # noqa: S310 -- canonical
    try:
        with _opener().open(request, timeout=timeout_s) as response:
            body = bytearray()
            while chunk := response.read1(CHUNK_BYTES):
                body += chunk
                if len(body) > max_bytes:
                    raise UnavailableError(f"{address} is larger than {max_bytes} bytes")
                if time.monotonic() > deadline:
                    raise UnavailableError(f"{address} took longer than {timeout_s:g} s")
            kind = response.headers.get("Content-Type", "")
            return Fetched(canonical(response.url), response.status, kind, bytes(body))
    except HTTPError as error:
        raise UnavailableError(f"{address} answered {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:  # ValueError: a redirect to something that isn't a URL
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise UnavailableError(f"{address} can't be fetched: {reason}") from None


def _opener() -> OpenerDirector:
    """Returns an opener that knows http and https only; urllib's own would also follow a redirect to ftp."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener
