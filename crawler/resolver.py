"""Resolves names to public addresses only, so that no page can point the crawler at the network it runs in.

The check is made on the very address that the socket is opened to: a name that answers differently next time gains
nothing.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.error import DNSLookupError

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.defer import Deferred


# Addresses that a gateway turns into the IPv4 address in their last four bytes: NAT64 (RFC 6052), and the old
# IPv4-compatible ones (RFC 4291, 2.5.5.1).
WITH_IPV4_INSIDE = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215; Python 3.11 takes it for global


def is_private(host: str) -> bool:
    """Returns whether a host is an address outside the public internet. Names are not: they are resolved first.

    Args:
        host: As in a canonical URL: decimal and octal IPv4 forms are dotted by then, IPv6 stands in brackets.
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and any(address in network for network in WITH_IPV4_INSIDE):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return not inner.is_global or inner.is_multicast
        if address in LOCAL_NAT64:
            return True
    return not address.is_global or address.is_multicast


class PublicResolver(CachingThreadedResolver):
    """Scrapy's caching resolver, without the private addresses unless ALLOW_PRIVATE_ADDRESSES is on."""

    allow_private = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> PublicResolver:
        """Builds the resolver."""
        resolver: PublicResolver = super().from_crawler(crawler, reactor)
        resolver.allow_private = config.flag(crawler.settings, "ALLOW_PRIVATE_ADDRESSES")
        return resolver

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802 -- Twisted's name
        """Returns an address; fails with DNSLookupError for a private one."""
        answer: Deferred[str] = super().getHostByName(name, timeout)
        return answer.addCallback(self._checked, name)

    def _checked(self, address: Any, name: str) -> Any:
        if not self.allow_private and is_private(str(address)):
            raise DNSLookupError(f"{name} resolves to a private address")
        return address
