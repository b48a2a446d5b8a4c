"""Twisted's face of the names (names.py): public addresses only, so that no page can point the crawler at its network.

The check is made on the very addresses that sockets are opened to: a name that answers differently next time gains
nothing. Addresses written into a URL pass here as well, in IPv4 and IPv6.

A proxy that the operator chose may be anywhere, but it is the proxy that looks names up then: `refuse_private` asks
before it does. A proxy of a network that must not be crawled should refuse private addresses itself.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]  # and so interfaces are Any below

from crawler import config
from crawler.download.dns import DnsCache, Found, dns_cache_for
from crawler.errors import PrivateAddressError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IAddress

PROXY_LOOKUP_SECONDS = 5.0  # for a name that a proxy will look up: behind one, DNS may be out of reach


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
    """Tells the reactor a name's addresses, and keeps private ones to itself.

    Args:
        allow_private: ALLOW_PRIVATE_ADDRESSES.
    """

    def __init__(self, reactor: ReactorBase, names: DnsCache, *, allow_private: bool) -> None:
        self._reactor: Any = reactor
        self._names = names
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Builds the resolver.

        Raises:
            ConfigError: ALLOW_PRIVATE_ADDRESSES is neither on nor off.
        """
        settings = crawler.settings
        return cls(reactor, dns_cache_for(settings), allow_private=config.flag(settings, "ALLOW_PRIVATE_ADDRESSES"))

    def install_on_reactor(self) -> None:
        """Makes it the one way from names to sockets."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 -- Twisted's interface, as are the arguments' names
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: ARG002, N803
        transportSemantics: str = "TCP",  # noqa: ARG002, N803
    ) -> Any:
        """Tells the receiver a name's public addresses: none, where all are private or there are none at all."""
        looked = lookup.get() or Lookup()
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def tell(found: Found) -> None:
            use = found.every if self._allow_private or looked.any_address else found.public
            looked.refused = looked.refused or len(use) < len(found.every)
            for address in use:
                kind = IPv6Address if ":" in address else IPv4Address
                resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
            resolutionReceiver.resolutionComplete()

        known = self._names.known(hostName)
        if known is not None:
            tell(known)
        else:
            finding = asyncio.ensure_future(self._names.find(hostName))
            finding.add_done_callback(lambda done: None if resolution.cancelled else tell(done.result()))
        return resolution


@implementer(IHostResolution)
class _Resolution:
    """A lookup. The names go on with it when nobody waits any more: the next one will want the answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cancelled = False

    def cancel(self) -> None:
        """Wants no answer any more."""
        self.cancelled = True


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
