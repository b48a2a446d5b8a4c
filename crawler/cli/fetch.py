"""Fetches pages for a person at a terminal, outside of any crawl: `scrapy site check FILE URL`, `scrapy site new URL`.

They come as in a crawl: from the same download handler, with the same headers, proxies and decoders. Nothing is asked
for that a crawl with these settings refuses: the page, and each address that it redirects to, must be allowed by its
host's robots.txt, and private addresses by ALLOW_PRIVATE_ADDRESSES.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from types import MappingProxyType
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
from crawler.base.errors import AnswerError, HeadroomError, PrivateAddressError, UnavailableError, UrlError
from crawler.base.models import Fetched, SentOn
from crawler.base.redaction import without_credentials
from crawler.base.urls import canonical, host, origin, redirect_target, split_route
from crawler.download import codings
from crawler.download.handler import CurlDownloadHandler
from crawler.download.page_rules import sent_headers
from crawler.download.site_headers import SiteHeaders
from crawler.download.web_sockets import WebSocketRequest, WebSocketResponse
from crawler.render.exchange import PageAnswer
from crawler.robots.file import MAX_FETCH_SECONDS, MAX_REDIRECTS, RobotsFile
from crawler.robots.rules import MAX_FILE_BYTES, Rules, parse, product_token
from crawler.spiders.base import FrontierSpider
from crawler.worker.claiming.outcomes import REDIRECT_STATUSES, outcome_of_status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container, Iterator, Mapping

    from scrapy.http import Response
    from scrapy.settings import Settings

    from crawler.download.web_sockets import CurlWebSocket
    from crawler.render.exchange import PageRequest
    from crawler.sites import Site

KEEP_METHOD_STATUSES = frozenset({307, 308})  # a redirect by any other status is followed by GET
ROBOTS_MAX_BYTES = 8 * MAX_FILE_BYTES  # of a robots.txt, decoded; what a crawl reads of one is its beginning

_NO_ANSWER = (
    AnswerError,
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    UnsupportedURLSchemeError,
)


class CrawlRefusesError(HeadroomError):
    """A crawl with these settings would not ask for an address, so nothing was sent there."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"a crawl refuses {without_credentials(address)}: {why}")
        self.address = address


class Fetcher:
    """Fetches pages one after the other, each only where a crawl may go. A host's robots.txt is asked for once.

    Args:
        settings: Those of a crawl.
        handler: Downloads, and refuses private addresses unless ALLOW_PRIVATE_ADDRESSES is on.
        delay_s: Seconds between two starts of requests to a host, if its robots.txt asks for no more.
        site: Whose headers and cookies pages are asked for with; None for none.
    """

    def __init__(
        self, settings: Settings, handler: CurlDownloadHandler, delay_s: float, site: Site | None = None
    ) -> None:
        self._settings, self._handler, self._delay_s, self._site = settings, handler, delay_s, site
        self._site_headers = SiteHeaders.of(settings)
        self._obey = config.ROBOTSTXT_OBEY.of(settings)
        self._agent = product_token(config.ROBOTSTXT_USER_AGENT.of(settings) or config.USER_AGENT.of(settings))
        self._max_redirects = config.REDIRECT_MAX_TIMES.of(settings)
        self._max_bytes, self._timeout_s = config.DOWNLOAD_MAXSIZE.of(settings), config.DOWNLOAD_TIMEOUT.of(settings)
        self._proxies = HttpProxyMiddleware()
        self._rules: dict[str, Rules | None] = {}  # by authority; None: its robots.txt is unreachable
        self._last_start_s: dict[str, float] = {}  # by host, on the event loop's clock

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, delay_s: float = 0.0, site: Site | None = None) -> AsyncIterator[Fetcher]:
        """Gives a fetcher with the settings of a crawl.

        Args:
            settings: The project's.
            delay_s: Seconds between two starts of requests to a host. 0, for a single page, doesn't heed a
                Crawl-delay either.
            site: Whose headers and cookies pages are asked for with; None for none.
        """
        own = settings.copy()
        FrontierSpider.update_settings(own)
        crawler = Crawler(Spider, own)
        crawler.stats = DummyStatsCollector(crawler)
        handler = CurlDownloadHandler(crawler)
        try:
            yield cls(own, handler, delay_s, site)
        finally:
            await handler.close()

    def keep_delay(self, delay_s: float) -> None:
        """Keeps so many seconds between two requests to a host from now on, more if its robots.txt asks for it."""
        self._delay_s = delay_s

    async def refusal(self, url: str) -> str:
        """Returns why robots.txt keeps a crawl from an address; empty: it doesn't.

        Raises:
            UrlError: It isn't an http(s) URL.
            UnavailableError: The host doesn't answer, or not in time.
        """
        address, _ = split_route(canonical(url, routes=True))
        try:
            await self._judge(address)
        except CrawlRefusesError as error:
            return str(error)
        except PrivateAddressError:
            return ""  # ALLOW_PRIVATE_ADDRESSES is what keeps it from there
        return ""

    async def page_of(self, url: str, site: Site, *, renders: bool = False) -> Fetched:
        """Returns a page of a site, or what the site has fetched in its place, with the page's own address.

        Args:
            renders: A browser renders the page, though a crawl might not have it rendered.

        Raises:
            HeadroomError: As `page`.
        """
        address = canonical(url, routes=renders or site.has_routes("content"))
        twin = site.address_of(address)
        page = await self.page(twin, site.results.empty_status)
        return page if twin == address else replace(page, url=address)

    async def page(self, url: str, statuses: Container[int] = (), *, page_host: str = "") -> Fetched:
        """Returns an answer that is a page.

        Args:
            url: Absolute.
            statuses: Those that count as a page's, though they say that there is none.
            page_host: As of `get`.

        Raises:
            UnavailableError: It is none by its status; else as `get`.
        """
        page = await self.get(url, page_host=page_host)
        if outcome_of_status(page.status) is not None and page.status not in statuses:
            raise UnavailableError(f"{page.url} answered {page.status}")
        return page

    async def get(self, url: str, *, body: str = "", content_type: str = "", page_host: str = "") -> Fetched:
        """Returns the first answer that is no redirect, whatever its status.

        Args:
            url: Absolute, perhaps with the route that a script of the page shows; so is the answer's own.
            body: With one, the request is a POST.
            content_type: Of the body.
            page_host: Of the page that it is joined to, which alone has the site's headers; empty: it is a page.

        Raises:
            UrlError: It isn't an http(s) URL.
            CrawlRefusesError: A crawl wouldn't ask for it, or for where it redirects to.
            NoSecretError: A secret in the site's headers or cookies is missing here.
            UnavailableError: There is no answer, or not in time, or it is too large.
        """
        asked, route = split_route(canonical(url, routes=True))
        response, route = await self._page(asked, route, body, content_type, page_host or host(asked))
        address = canonical(response.url)
        with self._told_of(address):
            decoded = codings.decode(response.body, response.headers.getlist("Content-Encoding"), self._max_bytes)
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        sent_on = SentOn(asked, address) if asked != address else None
        return Fetched(address + route, response.status, content_type, decoded, sent_on=sent_on)

    async def answer_to(self, request: PageRequest, page_host: str) -> PageAnswer:
        """Returns the answer to a request of a page that is rendered, be it a redirect.

        Args:
            page_host: Of the page.

        Raises:
            HeadroomError: As `get`.
        """
        address = canonical(request.url)
        headers = dict(sent_headers(request))
        if self._site:
            headers |= self._site_headers.at(self._site, address, page_host)
        try:
            await self._judge(address)
            await self._pause(address)
            async with asyncio.timeout(self._timeout_s):
                response = await self._send(address, request.body, of_site=headers, method=request.method)
            body = codings.decode(response.body, response.headers.getlist("Content-Encoding"), self._max_bytes)
        except PrivateAddressError as error:
            raise CrawlRefusesError(address, "private-address (ALLOW_PRIVATE_ADDRESSES)") from error
        except (TimeoutError, DownloadTimeoutError):
            raise UnavailableError(f"it took longer than {self._timeout_s:g} s") from None
        except DownloadCancelledError:
            raise UnavailableError(f"it is larger than {self._max_bytes} bytes") from None
        except _NO_ANSWER as error:
            raise UnavailableError(f"it can't be fetched: {error}") from error
        sent = tuple((name, value) for name, values in response.headers.items() for value in values)
        return PageAnswer(response.status, sent, body)

    @asynccontextmanager
    async def socket_at(self, request: PageRequest, page_host: str) -> AsyncIterator[CurlWebSocket]:
        """Gives a WebSocket of a page that is rendered, and closes it.

        Args:
            page_host: Of the page.

        Raises:
            HeadroomError: As `get`.
        """
        address = canonical(request.url)
        headers = dict(sent_headers(request))
        if self._site:
            headers |= self._site_headers.at(self._site, address, page_host)
        try:
            await self._judge(address)
            await self._pause(address)
            async with asyncio.timeout(self._timeout_s):
                response = await self._send(address, of_site=headers, request_class=WebSocketRequest)
        except PrivateAddressError as error:
            raise CrawlRefusesError(address, "private-address (ALLOW_PRIVATE_ADDRESSES)") from error
        except (TimeoutError, *_NO_ANSWER) as error:
            raise UnavailableError(f"it can't be opened: {error}") from error
        if not isinstance(response, WebSocketResponse):
            raise UnavailableError(f"it is no WebSocket: status {response.status}")
        try:
            yield response.socket
        finally:
            response.socket.close()

    async def _page(
        self, address: str, route: str, body: str, content_type: str, page_host: str
    ) -> tuple[Response, str]:
        """Returns the first answer that is no redirect, and the route that holds there.

        Pauses between requests don't count as time of the page.

        Raises:
            CrawlRefusesError: A crawl wouldn't ask for the page, or for one that it redirects to.
            UnavailableError: As of `get`; or there are too many redirects, or one leads to what isn't fetched.
        """
        for _ in range(self._max_redirects + 1):
            of_site = self._site_headers.at(self._site, address, page_host) if self._site else {}
            try:
                await self._judge(address)
                await self._pause(address)
                with self._told_of(address):
                    async with asyncio.timeout(self._timeout_s):
                        response = await self._send(address, body, content_type, of_site)
            except PrivateAddressError as error:
                raise CrawlRefusesError(address, "private-address (ALLOW_PRIVATE_ADDRESSES)") from error
            location = _redirect_of(response)
            if location is None:
                return response, route
            try:
                address, route = split_route(redirect_target(location, address + route, routes=True))
            except UrlError as error:
                raise UnavailableError(f"{address} leads to what isn't fetched: {error}") from None
            page_host = page_host if host(address) == page_host else ""  # as of the seed that it becomes
            if response.status not in KEEP_METHOD_STATUSES:
                body = content_type = ""  # GET, as browsers do
        raise UnavailableError(f"{address} is one redirect too many")

    @contextmanager
    def _told_of(self, address: str) -> Iterator[None]:
        """Has an error of a download name the address that it is about: that of a page may have redirected to it.

        Raises:
            UnavailableError: There is no answer, or not in time, or it is too large.
        """
        try:
            yield
        except (TimeoutError, DownloadTimeoutError):
            raise UnavailableError(f"{address} took longer than {self._timeout_s:g} s") from None
        except DownloadCancelledError:
            raise UnavailableError(f"{address} is larger than {self._max_bytes} bytes") from None
        except _NO_ANSWER as error:
            raise UnavailableError(f"{address} can't be fetched: {error}") from error

    async def _judge(self, address: str) -> None:
        """Looks whether robots.txt allows an address.

        Raises:
            CrawlRefusesError: It forbids it, or has no usable answer.
            PrivateAddressError: As of `_ask`.
            UnavailableError: As of `_ask`.
        """
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
            UnavailableError: There is no answer, or not in time; the message names the file, not a page.
        """
        address = f"{authority}/robots.txt"
        await self._pause(address)
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
        except (TimeoutError, DownloadTimeoutError):
            raise UnavailableError(f"{address} takes too long") from None
        except _NO_ANSWER as error:
            raise UnavailableError(f"{address} can't be fetched: {error}") from error
        file = RobotsFile.from_response(response.status, body, 0, None, 0)
        return None if file.state == "unreachable" else parse(file.text, self._agent)

    async def _pause(self, address: str) -> None:
        """Waits until the address's host may be asked again, and remembers that it is asked now."""
        rules, name = self._rules.get(origin(address)), host(address)
        if not self._delay_s:
            self._last_start_s[name] = asyncio.get_running_loop().time()
            return
        asked_s = min(rules.crawl_delay_s, config.ROBOTS_MAX_CRAWL_DELAY_SECONDS.of(self._settings)) if rules else 0.0
        delay_s = max(self._delay_s, asked_s)
        now_s = asyncio.get_running_loop().time()
        wait_s = self._last_start_s.get(name, -delay_s) + delay_s - now_s
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        self._last_start_s[name] = max(now_s, now_s + wait_s)

    async def _send(
        self,
        address: str,
        body: str | bytes = "",
        content_type: str = "",
        of_site: Mapping[str, str] = MappingProxyType({}),
        *,
        method: str = "",
        request_class: type[Request] = Request,
    ) -> Response:
        headers = {
            **self._settings.getdict("DEFAULT_REQUEST_HEADERS"),
            "User-Agent": self._settings["USER_AGENT"],
            "Accept-Encoding": codings.ACCEPT_ENCODING,
            **of_site,
        }
        if content_type:
            headers["Content-Type"] = content_type
        meta = {"verbatim_url": True, "download_timeout": config.DOWNLOAD_TIMEOUT.of(self._settings)}
        method = method or ("POST" if body else "GET")
        request = request_class(address, method=method, headers=headers, body=body, meta=meta)
        self._proxies.process_request(request)
        return await self._handler.download_request(request)


def _redirect_of(response: Response) -> str | None:
    location = response.headers.get("Location")
    return location.decode("utf-8", "replace") if location and response.status in REDIRECT_STATUSES else None
