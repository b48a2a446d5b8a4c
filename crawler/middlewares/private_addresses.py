"""Downloader middleware that keeps spiders of a project's own from private addresses, whatever handler downloads.

The frontier's spiders don't need it: `scope.py` judges their URLs, and their handler the addresses that it connects to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.httpobj import urlparse_cached

from crawler import config
from crawler.base.errors import PrivateAddressError
from crawler.download.dns import HostAddresses, shared_dns_cache
from crawler.download.private_addresses import is_private

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.download.dns import DnsCache

NO_HOST = ("data", "file", "s3")  # schemes whose URLs name no host that would be connected to


class PrivateAddressMiddleware:
    """Refuses requests to hosts with a private address.

    It stands last before the download, so that it sees what is sent. The handler looks a name up again, which may get
    another answer than this did; so the address that an answer came from is judged, too, where the handler tells it. A
    proxy may stand anywhere, for the operator chose it.
    """

    def __init__(self, dns: DnsCache) -> None:
        self._dns = dns

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the settings.

        Raises:
            NotConfigured: ALLOW_PRIVATE_ADDRESSES is on.
            ConfigError: It is neither on nor off.
        """
        if config.ALLOW_PRIVATE_ADDRESSES.of(crawler.settings):
            raise NotConfigured
        return cls(shared_dns_cache(crawler.settings))

    async def process_request(self, request: Request) -> None:
        """Lets requests to public hosts pass, and those to hosts without an address, which fail by themselves.

        Raises:
            PrivateAddressError: The host has a private address; it may have public ones beside it.
        """
        url = urlparse_cached(request)
        if url.scheme in NO_HOST or not url.hostname:
            return
        addresses = await self._addresses_of(url.hostname)
        if len(addresses.public) < len(addresses.every):
            raise _error(url.hostname)

    def process_response(self, request: Request, response: Response) -> Response:
        """Lets answers from public addresses pass.

        Raises:
            PrivateAddressError: The answer came from a private address.
        """
        if response.ip_address is not None and not request.meta.get("proxy") and is_private(str(response.ip_address)):
            raise _error(urlparse_cached(request).hostname or "")
        return response

    async def _addresses_of(self, host: str) -> HostAddresses:
        if is_asyncio_available():
            return await self._dns.resolve(host)
        # With another reactor a name passes for public.
        return HostAddresses((host,), () if is_private(host) else (host,))


def _error(host: str) -> PrivateAddressError:
    return PrivateAddressError(f"{host} has a private address, which ALLOW_PRIVATE_ADDRESSES=1 would allow")
