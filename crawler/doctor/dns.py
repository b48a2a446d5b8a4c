"""The name server: does it know the hosts that plans ask for?"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from crawler.doctor.finding import Finding, better, not_tried, ok, stops
from crawler.doctor.stored_sites import stored_sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HOSTS_MAX = 10  # enough to tell a host that is gone from a name server that is
LOOKUP_SECONDS = 5.0  # as long as resolvers wait for one name server before they ask the next


async def dns(settings: Mapping[str, Any]) -> Finding:
    """Looks up hosts of stored sites, or the proxy that looks them up, and nothing else."""
    if proxies := [urlsplit(url).hostname or "" for scheme, url in getproxies().items() if scheme in ("http", "https")]:
        return await _look_up(_names(proxies)) or ok("the proxy has an address, and looks all names up")
    sites = await stored_sites(settings)
    if sites is None:
        return not_tried("the sites stand in Redis, which can't be read")
    found = await _look_up(_names(sites.values()))
    return found or not_tried("no stored site has a host to look up; a plan that is submitted brings some")


async def _look_up(hosts: Sequence[str]) -> Finding | None:
    """Returns whether these hosts are found; None where there is none."""
    if not hosts:
        return None
    answered = await asyncio.gather(*map(_is_known, hosts))
    unknown = [host for host, is_known in zip(hosts, answered, strict=True) if not is_known]
    if len(unknown) == len(hosts):
        return stops(
            f"none of {', '.join(hosts)} is found within {LOOKUP_SECONDS:g} s: see /etc/resolv.conf and its name "
            "server; until then workers hand their pages back"
        )
    if unknown:
        return better(f"not found within {LOOKUP_SECONDS:g} s: {', '.join(unknown)}; are these still their names?")
    return ok(f"found: {', '.join(hosts)}")


def _names(hosts: Iterable[str]) -> list[str]:
    """Returns the first of the hosts that are names."""
    names = []
    for host in sorted(set(hosts)):
        try:
            ipaddress.ip_address(host)
        except ValueError:
            names.append(host)
    return [name for name in names if name][:HOSTS_MAX]


async def _is_known(host: str) -> bool:
    with contextlib.suppress(OSError, UnicodeError):  # a TimeoutError is an OSError
        async with asyncio.timeout(LOOKUP_SECONDS):
            return bool(await asyncio.get_running_loop().getaddrinfo(host, None))
    return False
