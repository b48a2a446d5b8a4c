"""A DNS cache: names are resolved in threads, and answers are kept for a while, also that there is none.

However many requests wait for a name, it is looked up once at a time; none of them waits longer than LOOKUP_SECONDS.
"""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from scrapy.utils.datatypes import LocalCache

from crawler.base.errors import NodeError
from crawler.download.private_addresses import is_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

KEEP_SECONDS = 60.0  # how long an answer is kept, as in browsers: getaddrinfo doesn't tell its time to live
KEEP_NONE_SECONDS = 10.0  # how long it is kept that there is none: a name server's hiccup must not cost a host a minute
# How long a look-up may take: two tries of 5 s at each of two name servers, resolv.conf's defaults.
LOOKUP_SECONDS = 20.0
MAX_ADDRESSES = 16  # most addresses of one name that are used; an answer may hold thousands
MAX_LOOKUPS = 64  # most look-ups at once, each in a thread, so that slow name servers hold up nobody else


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """The addresses of a host.

    Attributes:
        every: All of them, in the order that the system recommends.
        public: Those on the public internet.
        literal: The host was itself given as an address.
    """

    every: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    literal: bool = False


NO_ADDRESSES = HostAddresses()


class DnsCache:
    """Resolves hosts and remembers the answers.

    Args:
        size: Hosts to remember; 0: none.
        look_up: Returns the addresses of a name, in a thread; raises OSError or UnicodeError where there are none.
            When it raises because this node has no file descriptor or memory left, so does `resolve`.
    """

    def __init__(self, size: int, look_up: Callable[[str], list[str]] | None = None) -> None:
        self._look_up = look_up or _getaddrinfo
        # By host: when the answer expires, and the answer.
        self._answers: LocalCache[str, tuple[float, HostAddresses]] = LocalCache(size)
        self._lookups: dict[str, asyncio.Future[HostAddresses]] = {}
        self._questions: queue.SimpleQueue[tuple[str, asyncio.Future[HostAddresses]]] = queue.SimpleQueue()
        self._threads = 0

    def cached(self, host: str) -> HostAddresses | None:
        """Returns what is remembered of a host; None: it must be resolved."""
        expires, addresses = self._answers.get(host, (0.0, NO_ADDRESSES))
        return addresses if expires > time.monotonic() else None

    async def resolve(self, host: str) -> HostAddresses:
        """Returns a host's addresses; none where no answer came in time. A late answer is remembered all the same.

        Args:
            host: A name, or an address, which stands for itself; IPv6 without its brackets.

        Raises:
            OSError: This node can't ask: it has no file descriptor left.
            NodeError: Likewise: no thread.
        """
        answer = self.cached(host) or self._literal(host)
        if answer is not None:
            return answer
        loop = asyncio.get_running_loop()
        lookup = self._lookups.get(host)
        if lookup is None or lookup.get_loop() is not loop:
            lookup = self._lookups[host] = loop.create_future()
            lookup.add_done_callback(partial(self._answered, host))
            self._ask(host, lookup)
        await asyncio.wait([lookup], timeout=LOOKUP_SECONDS)
        if lookup.done():
            return lookup.result()
        self._keep(host, NO_ADDRESSES)
        return NO_ADDRESSES

    def _literal(self, host: str) -> HostAddresses | None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            address = socket.inet_ntop(family, socket.inet_pton(family, host))  # in the spelling that sockets report
        except OSError:
            return None
        addresses = HostAddresses((address,), () if is_private(address) else (address,), literal=True)
        self._keep(host, addresses)
        return addresses

    def _ask(self, name: str, lookup: asyncio.Future[HostAddresses]) -> None:
        """Has a thread look a name up.

        Threads of concurrent.futures would keep a process that ends waiting for name servers; these end with it.
        """
        self._questions.put((name, lookup))
        if self._threads < min(len(self._lookups), MAX_LOOKUPS):
            self._threads += 1
            try:
                threading.Thread(target=self._answer, name=f"dns {self._threads}", daemon=True).start()
            except RuntimeError as error:  # the system gives no more of them
                self._threads -= 1
                if not self._threads:
                    lookup.set_exception(NodeError("threads", str(error)))

    def _answer(self) -> None:
        while True:
            name, lookup = self._questions.get()
            try:
                give = partial(lookup.set_result, self._addresses_of(name))
            except Exception as error:  # noqa: BLE001 -- it is for whoever asked; other names have need of the thread
                give = partial(lookup.set_exception, error)
            with suppress(RuntimeError):  # the event loop has ended
                lookup.get_loop().call_soon_threadsafe(_give, lookup, give)

    def _addresses_of(self, name: str) -> HostAddresses:
        try:
            every = tuple(dict.fromkeys(self._look_up(name)))[:MAX_ADDRESSES]
        except (OSError, UnicodeError):  # UnicodeError: a label of more than 63 characters
            with socket.socket():  # raises when there is no file descriptor left, of which resolvers needn't tell
                return NO_ADDRESSES
        return HostAddresses(every, tuple(address for address in every if not is_private(address)))

    def _answered(self, name: str, lookup: asyncio.Future[HostAddresses]) -> None:
        if self._lookups.get(name) is lookup:
            del self._lookups[name]
        if not lookup.cancelled() and lookup.exception() is None:
            self._keep(name, lookup.result())

    def _keep(self, host: str, addresses: HostAddresses) -> None:
        keep_s = KEEP_SECONDS if addresses.every else KEEP_NONE_SECONDS
        self._answers[host] = (time.monotonic() + keep_s, addresses)


def _give(lookup: asyncio.Future[HostAddresses], give: Callable[[], None]) -> None:
    if not lookup.done():
        give()


def shared_dns_cache(settings: BaseSettings) -> DnsCache:
    """Returns the process's cache: what one handler has learned, all know."""
    return _dns_cache(settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0)


@cache
def _dns_cache(size: int) -> DnsCache:
    return DnsCache(size)


def _getaddrinfo(name: str) -> list[str]:
    answers: list[Any] = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return [address[0] for *_, address in answers]
