"""Fetches one page for a person at a terminal, outside of any crawl: `scrapy site check FILE URL`.

It comes as in a crawl: from the same download handler, with the same headers, proxies and decoders. But private
addresses are connected to, since a person has named them, and redirects are followed wherever they lead.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.statscollectors import DummyStatsCollector

from crawler import config
from crawler.download import codings
from crawler.download.handler import CurlDownloadHandler
from crawler.download.targets import Targets
from crawler.errors import AnswerError, PrivateAddressError, UnavailableError, UrlError
from crawler.models import Fetched
from crawler.spiders.base import FrontierSpider
from crawler.urls import canonical
from crawler.worker.outcomes import REDIRECT_STATUSES, outcome_of_status

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import Settings


async def fetch(url: str, settings: Settings) -> Fetched:
    """Returns a page, after redirects within http and https.

    Args:
        url: Absolute.
        settings: The project's. As in a crawl, DOWNLOAD_TIMEOUT is for the whole page, DOWNLOAD_MAXSIZE of its body,
            decoded.

    Raises:
        UrlError: It isn't an http(s) URL.
        UnavailableError: There is no answer, or not in time, or its status says that it is no page, or it is too large.
    """
    address = canonical(url)
    own = settings.copy()
    FrontierSpider.update_settings(own)
    max_bytes, timeout_s = config.DOWNLOAD_MAXSIZE.of(own), config.DOWNLOAD_TIMEOUT.of(own)
    own.set("ALLOW_PRIVATE_ADDRESSES", value=True, priority="cmdline")
    crawler = Crawler(Spider, own)
    crawler.stats = DummyStatsCollector(crawler)
    handler = CurlDownloadHandler(crawler)
    try:
        async with asyncio.timeout(timeout_s):
            response = await _follow(address, handler, own)
        if outcome_of_status(response.status) is not None:
            raise UnavailableError(f"{response.url} answered {response.status}")
        body = codings.decode(response.body, response.headers.getlist("Content-Encoding"), max_bytes)
    except (TimeoutError, DownloadTimeoutError):
        raise UnavailableError(f"{address} took longer than {timeout_s:g} s") from None
    except DownloadCancelledError:
        raise UnavailableError(f"{address} is larger than {max_bytes} bytes") from None
    except (
        AnswerError,
        CannotResolveHostError,
        DownloadConnectionRefusedError,
        DownloadFailedError,
        UnsupportedURLSchemeError,
    ) as error:
        raise UnavailableError(f"{address} can't be fetched: {error}") from error
    finally:
        await handler.close()
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    return Fetched(canonical(response.url), response.status, content_type, body)


async def refusal(url: str, settings: Settings) -> str:
    """Returns why a crawl with these settings refuses the address of a page that was fetched here; empty: it doesn't.

    robots.txt isn't asked for.
    """
    try:
        await Targets.from_settings(settings).find(Request(url))
    except PrivateAddressError:
        return "a crawl refuses this page: private-address (ALLOW_PRIVATE_ADDRESSES)"
    except CannotResolveHostError:  # a proxy had it, whose network may have names of its own
        return ""
    return ""


async def _follow(address: str, handler: CurlDownloadHandler, settings: Settings) -> Response:
    """Returns the first answer that is no redirect.

    Raises:
        UnavailableError: There are too many redirects, or one leads to what isn't fetched.
        Exception: What the download raised.
    """
    headers = {
        **settings.getdict("DEFAULT_REQUEST_HEADERS"),
        "User-Agent": settings["USER_AGENT"],
        "Accept-Encoding": codings.ACCEPT_ENCODING,
    }
    meta = {"verbatim_url": True, "download_timeout": config.DOWNLOAD_TIMEOUT.of(settings)}
    proxies = HttpProxyMiddleware()
    for _ in range(config.REDIRECT_MAX_TIMES.of(settings) + 1):
        request = Request(address, headers=headers, meta=dict(meta))
        proxies.process_request(request)
        response = await handler.download_request(request)
        location = response.headers.get("Location")
        if response.status not in REDIRECT_STATUSES or not location:
            return response
        try:
            address = canonical(location.decode("utf-8", "replace"), address)
        except UrlError as error:
            raise UnavailableError(f"{address} leads to what isn't fetched: {error}") from None
    raise UnavailableError(f"{address} is one redirect too many")
