"""Where a request connects to: the addresses are found and judged before libcurl hears of them."""

from __future__ import annotations

import asyncio
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError, UnsupportedURLSchemeError
from scrapy.utils.url import add_http_if_no_scheme

from crawler import config
from crawler.base.errors import PrivateAddressError
from crawler.download.dns import NO_ADDRESSES, DnsCache, HostAddresses, shared_dns_cache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.settings import BaseSettings

SHORT_LOOKUP_SECONDS = 5.0  # how long a look-up may take that a request can do without; a proxy may hide DNS
# The schemes of proxies that may be used; with any other, libcurl would resolve the host by itself.
PROXY_SCHEMES = ("http", "https", "socks4a", "socks5h")
AUTHORITIES_REMEMBERED = 10_000
_SCHEME_AND_AUTHORITY = re.compile(rf"(?:{'|'.join(PROXY_SCHEMES)})://[^/?#]*", re.IGNORECASE)


class Target(NamedTuple):
    """What a request connects to.

    Attributes:
        host: Of the URL, or of the proxy; IPv6 without its brackets.
        addresses: At least one; any of them will do.
        literal: The host is itself an address.
        proxy: The proxy's URL; None: there is none.
    """

    host: str
    port: int
    addresses: tuple[str, ...]
    literal: bool
    proxy: str | None


class Targets:
    """Finds the target of each request.

    Args:
        allow_private: ALLOW_PRIVATE_ADDRESSES. A proxy may stand on any address, for the operator chose it. But the
            proxy resolves the request's host, so that host is looked up here first, and refused if any address of it
            is private. A host that can't be resolved here passes: behind a proxy there may be no DNS.
    """

    def __init__(self, dns: DnsCache, *, allow_private: bool) -> None:
        self._dns = dns
        self._allow_private = allow_private

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: ALLOW_PRIVATE_ADDRESSES is neither on nor off.
        """
        return cls(shared_dns_cache(settings), allow_private=config.ALLOW_PRIVATE_ADDRESSES.of(settings))

    def cached(self, request: Request) -> Target | None:
        """Returns the target if it is known without waiting; None: `find` must be asked.

        Raises:
            UnsupportedURLSchemeError: The URL names no host.
            PrivateAddressError: The host has only private addresses.
            CannotResolveHostError: The host has no address.
        """
        if request.meta.get("proxy"):
            return None
        host, port = _host_and_port(scheme_and_authority(request.url))
        addresses = self._dns.cached(host)
        return None if addresses is None else self._target(host, port, addresses)

    async def find(self, request: Request) -> Target:
        """Returns the target, after a look-up if need be.

        Raises:
            UnsupportedURLSchemeError: As `cached`, or the proxy is of a kind that can't be used.
            PrivateAddressError: As `cached`, or a proxy would be asked for a private address.
            CannotResolveHostError: As `cached`, or the proxy has no address.
        """
        host, port = _host_and_port(scheme_and_authority(request.url))
        proxy: str | None = request.meta.get("proxy")
        if not proxy:
            return self._target(host, port, await self._dns.resolve(host))
        proxy = add_http_if_no_scheme(proxy)
        if proxy.partition("://")[0] not in PROXY_SCHEMES:
            raise UnsupportedURLSchemeError(f"a proxy of another kind than {', '.join(PROXY_SCHEMES)}")
        if not self._allow_private:
            addresses = await self._resolve_soon(host)
            if len(addresses.public) < len(addresses.every):
                raise PrivateAddressError(f"{host} has a private address")
        host, port = _host_and_port(scheme_and_authority(proxy))
        return self._target(host, port, await self._dns.resolve(host), proxy)

    async def addresses_of(self, host: str) -> Sequence[str]:
        """Returns every address that a request to a host may connect to; empty: there is none, or no answer in time."""
        return self._usable(await self._resolve_soon(host.strip("[]")))

    def _target(self, host: str, port: int, addresses: HostAddresses, proxy: str | None = None) -> Target:
        usable = self._usable(addresses) if proxy is None else addresses.every
        if usable:
            return Target(host, port, usable, addresses.literal, proxy)
        if addresses.every:
            raise PrivateAddressError(f"{host} has a private address")
        raise CannotResolveHostError(f"no address of {host}")

    def _usable(self, addresses: HostAddresses) -> tuple[str, ...]:
        return addresses.every if self._allow_private else addresses.public

    async def _resolve_soon(self, host: str) -> HostAddresses:
        """Returns the host's addresses; none where no answer comes within SHORT_LOOKUP_SECONDS."""
        try:
            async with asyncio.timeout(SHORT_LOOKUP_SECONDS):
                return await self._dns.resolve(host)
        except TimeoutError:
            return NO_ADDRESSES


def url_to_send(url: str) -> str:
    """Returns a URL without fragment, user and password; Scrapy sends the latter two as a header."""
    if "#" not in url and "@" not in url:
        return url
    url = url.partition("#")[0]
    begin = scheme_and_authority(url)
    if "@" in begin:
        scheme, _, authority = begin.partition("://")
        url = f"{scheme}://{authority.rpartition('@')[2]}{url[len(begin) :]}"
    return url


def scheme_and_authority(url: str) -> str:
    """Returns the beginning of a URL up to its path: `https://user@host:port`.

    Raises:
        UnsupportedURLSchemeError: It is no URL of the web.
    """
    match = _SCHEME_AND_AUTHORITY.match(url)
    if match is None:
        raise UnsupportedURLSchemeError(f"no URL of a web page: {url[:80]!r}")
    return match[0]


@lru_cache(AUTHORITIES_REMEMBERED)
def _host_and_port(begin: str) -> tuple[str, int]:
    parts = urlsplit(begin)
    try:
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UnsupportedURLSchemeError(str(error)) from None
