"""Resolves names to public addresses only, so that no page can point the crawler at the network it runs in.

The check is made on the very addresses that sockets are opened to: a name that answers differently next time gains
nothing. Addresses written into a URL pass here as well, in IPv4 and IPv6.

A proxy that the operator chose may be anywhere, but it is the proxy that looks names up then: `refuse_private` asks
before it does. A proxy of a network that must not be crawled should refuse private addresses itself.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from scrapy.utils.datatypes import LocalCache
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]  # and so interfaces are Any below

from crawler import config
from crawler.errors import PrivateAddressError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IAddress

KEEP_SECONDS = 300.0  # a name's answer; getaddrinfo doesn't tell for how long it holds, and places do move
PROXY_LOOKUP_SECONDS = 5.0  # for a name that a proxy will look up: behind one, DNS may be out of reach
# What isn't the public internet, although Python 3.11 takes it for global.
NOT_PUBLIC = (
    ipaddress.IPv4Network("168.63.129.16/32"),  # Azure's host: credentials of the machine
    ipaddress.IPv4Network("192.0.0.0/24"),  # RFC 6890; Oracle's metadata at .192
    ipaddress.IPv4Network("192.88.99.0/24"),  # RFC 7526: relays that are gone
    ipaddress.IPv6Network("3fff::/20"),  # RFC 9637: for documents
)
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # all that was ever given out (RFC 4291, 2.4)
# Addresses that a gateway turns into the IPv4 address in their last four bytes: NAT64 (RFC 6052), SIIT (RFC 2765), and
# the old IPv4-compatible ones (RFC 4291, 2.5.5.1).
WITH_IPV4_INSIDE = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))


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
            return is_private(str(inner))
        if address not in PUBLIC_IPV6:
            return True
    return not address.is_global or address.is_multicast or any(address in network for network in NOT_PUBLIC)


@dataclass(slots=True)
class Lookup:
    """What a download has to do with addresses.

    Attributes:
        any_address: What it asks for is a proxy, which the operator chose.
        refused: A private address was found and not used.
    """

    any_address: bool = False
    refused: bool = False


lookup: ContextVar[Lookup | None] = ContextVar("lookup", default=None)  # of the download that the code runs for


async def refuse_private(name: str) -> None:
    """Looks a name up that somebody else will look up for us. A name without an answer passes: here is no DNS, then.

    Raises:
        PrivateAddressError: It has a private address, unless ALLOW_PRIVATE_ADDRESSES is on.
    """
    from twisted.internet import reactor

    resolver: Any = reactor.nameResolver
    looked = Lookup()
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    token = lookup.set(looked)
    try:
        resolver.resolveHostName(_Answer(lambda _resolution: None, lambda _addresses: done.set_result(None)), name)
    finally:
        lookup.reset(token)
    await asyncio.wait([done], timeout=PROXY_LOOKUP_SECONDS)
    if looked.refused:
        raise PrivateAddressError(f"{name} has a private address")


async def addresses_of(name: str) -> list[str]:
    """Returns the addresses that a name may be reached at; empty where it has none, or no answer comes in time."""
    from twisted.internet import reactor

    resolver: Any = reactor.nameResolver
    done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
    answer = _Answer(lambda _resolution: None, lambda found: None if done.done() else done.set_result(found))
    resolver.resolveHostName(answer, name.strip("[]"))
    await asyncio.wait([done], timeout=PROXY_LOOKUP_SECONDS)
    return [address.host for address in done.result()] if done.done() else []


@implementer(IHostnameResolver)
class PublicResolver:
    """Looks names up as the reactor does, in IPv4 and IPv6, remembers them, and keeps private addresses to itself.

    Args:
        size: DNSCACHE_SIZE; 0 remembers nothing.
        allow_private: ALLOW_PRIVATE_ADDRESSES.
    """

    def __init__(self, reactor: ReactorBase, size: int, *, allow_private: bool) -> None:
        self._reactor: Any = reactor
        self._inner: Any = self._reactor.nameResolver
        self._size = size
        self._known: LocalCache[tuple[str, int], tuple[float, list[Any]]] = LocalCache(size)
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Builds the resolver.

        Raises:
            ConfigError: ALLOW_PRIVATE_ADDRESSES is neither on nor off.
        """
        settings = crawler.settings
        size = settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0
        return cls(reactor, size, allow_private=config.flag(settings, "ALLOW_PRIVATE_ADDRESSES"))

    def install_on_reactor(self) -> None:
        """Makes it the one way from names to sockets."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 -- Twisted's interface, as are the arguments' names
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        """Tells the receiver a name's public addresses: none, where all are private or there are none at all."""
        looked, key = lookup.get() or Lookup(), (hostName, portNumber)

        def tell(addresses: list[Any]) -> None:
            for address in addresses:
                if self._allow_private or looked.any_address or not is_private(address.host):
                    resolutionReceiver.addressResolved(address)
                else:
                    looked.refused = True
            resolutionReceiver.resolutionComplete()

        def found(addresses: list[Any]) -> None:
            if addresses and self._size > 0:
                self._known[key] = (time.monotonic() + KEEP_SECONDS, addresses)
            tell(addresses)

        until, known = self._known.get(key, (0.0, []))
        if until > time.monotonic():
            resolution = _Resolution(hostName)
            resolutionReceiver.resolutionBegan(resolution)
            tell(known)
            return resolution
        answer = _Answer(resolutionReceiver.resolutionBegan, found)
        return self._inner.resolveHostName(answer, hostName, portNumber, addressTypes, transportSemantics)


@implementer(IHostResolution)
class _Resolution:
    """A lookup that is over as it begins."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Comes too late."""


@implementer(IResolutionReceiver)
class _Answer:
    """Collects all addresses before they are looked at."""

    def __init__(self, began: Callable[[Any], object], found: Callable[[list[Any]], object]) -> None:
        self.resolutionBegan = began
        self._found = found
        self._addresses: list[Any] = []

    def addressResolved(self, address: Any) -> None:  # noqa: N802 -- Twisted's names
        self._addresses.append(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        self._found(self._addresses)
