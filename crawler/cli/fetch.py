"""Fetches one page for a person at a terminal, outside of any crawl: `scrapy site check FILE URL`.

It comes as in a crawl: from the same download handler, with the same headers, proxies and decoders. Nothing is asked
for that a crawl with these settings refuses: the page, and each address that it redirects to, must be allowed by its
host's robots.txt, and private addresses by ALLOW_PRIVATE_ADDRESSES.
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
from crawler.errors import AnswerError, HeadroomError, PrivateAddressError, UnavailableError, UrlError
from crawler.models import Fetched
from crawler.redaction import without_credentials
from crawler.robots.file import RobotsFile
from crawler.robots.finder import MAX_FETCH_SECONDS, MAX_REDIRECTS
from crawler.robots.rules import MAX_FILE_BYTES, Rules, parse, product_token
from crawler.spiders.base import FrontierSpider
from crawler.urls import canonical, origin
from crawler.worker.outcomes import REDIRECT_STATUSES, outcome_of_status

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import Settings


ROBOTS_MAX_BYTES = 8 * MAX_FILE_BYTES  # of a robots.txt, decoded; what a crawl reads of one is its beginning


class CrawlRefusesError(HeadroomError):
    """A crawl with these settings would not ask for an address, so nothing was sent there."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"a crawl refuses {without_credentials(address)}: {why}")
        self.address = address


async def fetch(url: str, settings: Settings) -> Fetched:
    """Returns a page, after redirects within http and https.

    Args:
        url: Absolute.
        settings: The project's. As in a crawl, DOWNLOAD_TIMEOUT is for the whole page, DOWNLOAD_MAXSIZE of its body,
            decoded.

    Raises:
        UrlError: It isn't an http(s) URL.
        CrawlRefusesError: A crawl wouldn't ask for it, or for where it redirects to.
        UnavailableError: There is no answer, or not in time, or its status says that it is no page, or it is too large.
    """
    address = canonical(url)
    own = settings.copy()
    FrontierSpider.update_settings(own)
    max_bytes, timeout_s = config.DOWNLOAD_MAXSIZE.of(own), config.DOWNLOAD_TIMEOUT.of(own)
    crawler = Crawler(Spider, own)
    crawler.stats = DummyStatsCollector(crawler)
    handler = CurlDownloadHandler(crawler)
    try:
        async with asyncio.timeout(timeout_s):
            response = await _Fetcher(own, handler).page(address)
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


class _Fetcher:
    """Sends requests as a crawl does, each only where a crawl may go.

    Args:
        settings: Those of a crawl.
        handler: Downloads, and refuses private addresses unless ALLOW_PRIVATE_ADDRESSES is on.
    """

    def __init__(self, settings: Settings, handler: CurlDownloadHandler) -> None:
        self._settings, self._handler = settings, handler
        self._obey = config.ROBOTSTXT_OBEY.of(settings)
        self._agent = product_token(config.ROBOTSTXT_USER_AGENT.of(settings) or config.USER_AGENT.of(settings))
        self._max_redirects = config.REDIRECT_MAX_TIMES.of(settings)
        self._proxies = HttpProxyMiddleware()
        self._rules: dict[str, Rules | None] = {}  # by authority; None: its robots.txt is unreachable

    async def page(self, address: str) -> Response:
        """Returns the first answer that is no redirect.

        Raises:
            CrawlRefusesError: A crawl wouldn't ask for the page, or for one that it redirects to.
            UnavailableError: There are too many redirects, or one leads to what isn't fetched.
            Exception: What the download raised.
        """
        for _ in range(self._max_redirects + 1):
            try:
                await self._judge(address)
                response = await self._send(address)
            except PrivateAddressError as error:
                raise CrawlRefusesError(address, "private-address (ALLOW_PRIVATE_ADDRESSES)") from error
            location = _redirect_of(response)
            if location is None:
                return response
            try:
                address = canonical(location, address)
            except UrlError as error:
                raise UnavailableError(f"{address} leads to what isn't fetched: {error}") from None
        raise UnavailableError(f"{address} is one redirect too many")

    async def _judge(self, address: str) -> None:
        """Raises CrawlRefusesError if robots.txt forbids an address, or can't be had."""
        if not self._obey:
            return
        authority = origin(address)
        if authority not in self._rules:
            self._rules[authority] = await self._ask(authority)
        rules = self._rules[authority]
        if rules is None:
            raise CrawlRefusesError(address, f"robots-unreachable ({authority}/robots.txt has no usable answer)")
        if not rules.allows(address):
            raise CrawlRefusesError(address, f"robots ({authority}/robots.txt forbids it; ROBOTSTXT_OBEY)")

    async def _ask(self, authority: str) -> Rules | None:
        """Returns the rules of an authority; None where a crawl would have to wait for them.

        Raises:
            PrivateAddressError: The host, or that to which the file has moved, has a private address.
            Exception: What the download raised.
        """
        address = f"{authority}/robots.txt"
        try:
            async with asyncio.timeout(MAX_FETCH_SECONDS):
                response = await self._send(address)
                for _ in range(MAX_REDIRECTS):
                    if (location := _redirect_of(response)) is None:
                        break
                    address = canonical(location, address)
                    response = await self._send(address)
            body = codings.decode(response.body, response.headers.getlist("Content-Encoding"), ROBOTS_MAX_BYTES)
        except UrlError:
            return Rules()
        except DownloadCancelledError:  # larger than any page may be
            return None
        file = RobotsFile.from_response(response.status, body, 0, None, 0)
        return None if file.state == "unreachable" else parse(file.text, self._agent)

    async def _send(self, address: str) -> Response:
        headers = {
            **self._settings.getdict("DEFAULT_REQUEST_HEADERS"),
            "User-Agent": self._settings["USER_AGENT"],
            "Accept-Encoding": codings.ACCEPT_ENCODING,
        }
        meta = {"verbatim_url": True, "download_timeout": config.DOWNLOAD_TIMEOUT.of(self._settings)}
        request = Request(address, headers=headers, meta=meta)
        self._proxies.process_request(request)
        return await self._handler.download_request(request)


def _redirect_of(response: Response) -> str | None:
    location = response.headers.get("Location")
    return location.decode("utf-8", "replace") if location and response.status in REDIRECT_STATUSES else None
