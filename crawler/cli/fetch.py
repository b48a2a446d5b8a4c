"""Fetches one page for a person at a terminal, outside of any crawl: `scrapy site check FILE URL`.

libcurl fetches it, as in a crawl. But libcurl resolves the name itself and connects to private addresses too, since a
person has named them; and it uses the environment's proxies, decodes the body and follows redirects.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import pycurl

from crawler.download.curl_loop import CurlLoop
from crawler.download.curl_options import CurlOptions
from crawler.errors import UnavailableError
from crawler.models import Fetched
from crawler.urls import canonical

if TYPE_CHECKING:
    from scrapy.settings import Settings

SUCCESSFUL = range(200, 300)  # statuses


async def fetch(url: str, settings: Settings) -> Fetched:
    """Returns a page, after redirects within http and https.

    Args:
        url: Absolute.
        settings: USER_AGENT, CONTACT, DOWNLOAD_TIMEOUT (for the whole page), DOWNLOAD_MAXSIZE (of its body, decoded),
            REDIRECT_MAX_TIMES, and what they say of TLS.

    Raises:
        UrlError: It isn't an http(s) URL.
        UnavailableError: There is no answer, or not in time, or it has an error's status or is too large.
    """
    address = canonical(url)
    parts = urlsplit(address)
    contact, max_bytes, timeout_s = (settings[name] for name in ("CONTACT", "DOWNLOAD_MAXSIZE", "DOWNLOAD_TIMEOUT"))
    body = bytearray()

    def take(piece: bytes) -> int:
        body.extend(piece)
        return len(piece) if len(body) <= int(max_bytes) else 0  # 0: libcurl ends the transfer

    with contextlib.closing(CurlOptions.from_settings(settings).new_handle()) as curl:
        for option, value in {
            pycurl.URL: address,
            pycurl.PROXY: "" if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme, ""),
            pycurl.USERAGENT: settings["USER_AGENT"] + (f" (+{contact})" if contact else ""),
            pycurl.FOLLOWLOCATION: 1,
            pycurl.MAXREDIRS: settings.getint("REDIRECT_MAX_TIMES"),
            pycurl.REDIR_PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.HTTP_CONTENT_DECODING: 1,
            pycurl.ACCEPT_ENCODING: "",  # every coding that libcurl knows
            pycurl.TIMEOUT_MS: int(float(timeout_s) * 1000),
            pycurl.WRITEFUNCTION: take,
        }.items():
            curl.setopt(option, value)
        with contextlib.closing(CurlLoop()) as loop:
            end = await loop.start(curl)
        status: int = curl.getinfo(pycurl.RESPONSE_CODE)
        if len(body) > int(max_bytes):
            raise UnavailableError(f"{address} is larger than {max_bytes} bytes")
        if end.code == pycurl.E_OPERATION_TIMEDOUT:
            raise UnavailableError(f"{address} took longer than {timeout_s} s")
        if end.code:
            raise UnavailableError(f"{address} can't be fetched: {end.message}")
        if status not in SUCCESSFUL:
            raise UnavailableError(f"{address} answered {status}")
        content_type = curl.getinfo(pycurl.CONTENT_TYPE) or ""
        return Fetched(canonical(curl.getinfo(pycurl.EFFECTIVE_URL)), status, content_type, bytes(body))
