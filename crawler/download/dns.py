"""Names looked up off the event loop and remembered for a while, also where there was no answer. No Twisted.

One lookup a name is under way at a time, however many requests wait for it; none waits for longer than LOOKUP_SECONDS.
"""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from scrapy.utils.datatypes import LocalCache

from crawler.download.private_addresses import is_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

KEEP_SECONDS = 60.0  # an answer; getaddrinfo doesn't tell for how long it holds, and browsers keep it as long
KEEP_NONE_SECONDS = 10.0  # that there is none: a name server's hiccup mustn't cost a host a minute
LOOKUP_SECONDS = 20.0  # two tries of 5 s at each of two name servers, as resolv.conf has it by default
MOST_ADDRESSES = 16  # of one name; an answer may hold thousands
MOST_AT_ONCE = 64  # lookups, each in a thread: slow name servers hold nobody else up


@dataclass(frozen=True, slots=True)
class Found:
    """What a name leads to.

    Attributes:
        every: All its addresses, in the order that the system likes to try them.
        public: Those of the public internet.
        literal: The name is itself an address.
    """

    every: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    literal: bool = False


NOTHING = Found()


class DnsCache:
    """Remembers up to `size` names; 0 remembers nothing.

    Args:
        ask: Returns the addresses of a name, in a thread; raises OSError or UnicodeError where there are none.
    """

    def __init__(self, size: int, ask: Callable[[str], list[str]] | None = None) -> None:
        self._ask = ask or _ask_system
        self._known: LocalCache[str, tuple[float, Found]] = LocalCache(size)
        self._asked: dict[str, asyncio.Future[Found]] = {}
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="names")

    def known(self, name: str) -> Found | None:
        """Returns what is remembered of a name; None when it must be looked up."""
        until, found = self._known.get(name, (0.0, NOTHING))
        return found if until > time.monotonic() else None

    async def find(self, name: str) -> Found:
        """Returns what a name leads to, nothing where no answer came in time. A late answer counts for later requests.

        Args:
            name: A host of a URL; addresses are themselves, IPv6 without its brackets.
        """
        known = self.known(name) or self._literal(name)
        if known is not None:
            return known
        loop = asyncio.get_running_loop()
        asked = self._asked.get(name)
        if asked is None or asked.get_loop() is not loop:
            asked = loop.run_in_executor(self._threads, self._look_up, name)
            self._asked[name] = asked
            asked.add_done_callback(partial(self._answered, name))
        await asyncio.wait([asked], timeout=LOOKUP_SECONDS)
        if asked.done():
            return asked.result()
        self._keep(name, NOTHING)
        return NOTHING

    def _literal(self, name: str) -> Found | None:
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        try:
            address = socket.inet_ntop(family, socket.inet_pton(family, name))  # as the system writes it everywhere
        except OSError:
            return None
        found = Found((address,), () if is_private(address) else (address,), literal=True)
        self._keep(name, found)
        return found

    def _look_up(self, name: str) -> Found:
        try:
            every = tuple(dict.fromkeys(self._ask(name)))[:MOST_ADDRESSES]
        except (OSError, UnicodeError):  # UnicodeError: a label of more than 63 characters
            return NOTHING
        return Found(every, tuple(address for address in every if not is_private(address)))

    def _answered(self, name: str, asked: asyncio.Future[Found]) -> None:
        if self._asked.get(name) is asked:
            del self._asked[name]
        if not asked.cancelled():
            self._keep(name, asked.result())

    def _keep(self, name: str, found: Found) -> None:
        self._known[name] = (time.monotonic() + (KEEP_SECONDS if found.every else KEEP_NONE_SECONDS), found)


def dns_cache_for(settings: BaseSettings) -> DnsCache:
    """Returns the names of this process: all handlers share what one has learned."""
    return _of_size(settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0)


@cache
def _of_size(size: int) -> DnsCache:
    return DnsCache(size)


def _ask_system(name: str) -> list[str]:
    answers: list[Any] = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return [address[0] for *_, address in answers]
