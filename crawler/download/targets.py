"""Where a request goes: the addresses that it may connect to, found before libcurl hears of it."""

from __future__ import annotations

import asyncio
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError, UnsupportedURLSchemeError
from scrapy.utils.url import add_http_if_no_scheme

from crawler import config
from crawler.download.dns import NOTHING, DnsCache, Found, dns_cache_for
from crawler.errors import PrivateAddressError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

PROXY_LOOKUP_SECONDS = 5.0  # for a name that a proxy will look up: behind one, DNS may be out of reach
PROXIES = ("http", "https", "socks4a", "socks5h")  # the others would have us look names up for them
ORIGINS_REMEMBERED = 10_000
_BEGIN = re.compile(rf"(?:{'|'.join(PROXIES)})://[^/?#]*", re.IGNORECASE)


class Target(NamedTuple):
    """Where a request connects to.

    Attributes:
        host: Of the URL, or of the proxy; IPv6 without its brackets.
        addresses: Any of them will do; never none.
        literal: The host is itself an address.
        proxy: The proxy's URL; None: there is none.
    """

    host: str
    port: int
    addresses: tuple[str, ...]
    literal: bool
    proxy: str | None


class Targets:
    """Finds places.

    Args:
        allow_private: ALLOW_PRIVATE_ADDRESSES. A proxy, which the operator chose, may be anywhere; but it would look
            names up for us, and is asked for none that it shouldn't. A name without an answer passes there.
    """

    def __init__(self, names: DnsCache, *, allow_private: bool) -> None:
        self._names = names
        self._allow_private = allow_private

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: ALLOW_PRIVATE_ADDRESSES is neither on nor off.
        """
        return cls(dns_cache_for(settings), allow_private=config.flag(settings, "ALLOW_PRIVATE_ADDRESSES"))

    def known(self, request: Request) -> Target | None:
        """Returns the place without a wait; None: `find` must look.

        Raises:
            UnsupportedURLSchemeError: The URL names no place.
            PrivateAddressError: The host has only private addresses.
            CannotResolveHostError: The host has none.
        """
        if request.meta.get("proxy"):
            return None
        host, port = _origin(begin_of(request.url))
        found = self._names.known(host)
        return None if found is None else self._place(host, port, found)

    async def find(self, request: Request) -> Target:
        """Returns the place.

        Raises:
            UnsupportedURLSchemeError: As `known`, or a proxy of a kind that can't be used.
            PrivateAddressError: As `known`, or a proxy would be asked for a private address.
            CannotResolveHostError: As `known`; or the proxy has no address.
        """
        host, port = _origin(begin_of(request.url))
        proxy: str | None = request.meta.get("proxy")
        if not proxy:
            return self._place(host, port, await self._names.find(host))
        proxy = add_http_if_no_scheme(proxy)
        if proxy.partition("://")[0] not in PROXIES:
            raise UnsupportedURLSchemeError(f"a proxy of another kind than {', '.join(PROXIES)}")
        if not self._allow_private:
            await self._refuse_private(host)
        host, port = _origin(begin_of(proxy))
        return self._place(host, port, await self._names.find(host), proxy)

    def _place(self, host: str, port: int, found: Found, proxy: str | None = None) -> Target:
        addresses = found.every if self._allow_private or proxy is not None else found.public
        if addresses:
            return Target(host, port, addresses, found.literal, proxy)
        if found.every:
            raise PrivateAddressError(f"{host} has a private address")
        raise CannotResolveHostError(f"no address of {host}")

    async def _refuse_private(self, host: str) -> None:
        found = NOTHING
        try:
            async with asyncio.timeout(PROXY_LOOKUP_SECONDS):
                found = await self._names.find(host)
        except TimeoutError:
            return
        if len(found.public) < len(found.every):
            raise PrivateAddressError(f"{host} has a private address")


def wire_url(url: str) -> str:
    """Returns a URL as it is asked for: without fragment, name and password; Scrapy puts the latter into headers."""
    if "#" not in url and "@" not in url:
        return url
    url = url.partition("#")[0]
    begin = begin_of(url)
    if "@" in begin:
        scheme, _, place = begin.partition("://")
        url = f"{scheme}://{place.rpartition('@')[2]}{url[len(begin) :]}"
    return url


def begin_of(url: str) -> str:
    """Returns a URL's scheme and authority."""
    found = _BEGIN.match(url)
    if found is None:
        raise UnsupportedURLSchemeError(f"no address of a page: {url[:80]!r}")
    return found[0]


@lru_cache(ORIGINS_REMEMBERED)
def _origin(begin: str) -> tuple[str, int]:
    """Returns host and port of what a URL begins with."""
    parts = urlsplit(begin)
    try:
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UnsupportedURLSchemeError(str(error)) from None
