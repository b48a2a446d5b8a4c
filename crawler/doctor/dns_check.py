"""The name server: does it know the hosts that plans ask for, or the proxies that are asked for them?"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.settings import BaseSettings
from scrapy.utils.url import add_http_if_no_scheme

from crawler.doctor.finding import Finding, advice, not_tried, ok, stop
from crawler.doctor.stored_sites import stored_sites
from crawler.download.targets import PROXY_SCHEMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_HOSTS = 10  # most hosts that are looked up: enough to tell a host that is gone from a name server that is
# Resolvers wait for one name server for 5 s before they ask the next; here the stored sites were read before, and all
# must be over within checks.py's OTHERS_SECONDS.
LOOKUP_SECONDS = 3.0
# Stands for a site while none is stored, so that the proxies are found.
ANY_SITE = ("http://site.invalid", "https://site.invalid")


async def dns(settings: Mapping[str, Any]) -> Finding:
    """Looks up hosts of stored sites, or the proxies that look those up, and nothing else."""
    sites = await stored_sites(settings)
    proxies = _Proxies(settings)
    origins = {origin for origin in (sites or {}).values() if origin}
    of_sites = {origin: proxies.of(origin) for origin in origins or ANY_SITE}
    used = set(filter(None, of_sites.values()))
    if wrong := sorted(proxy for proxy in used if urlsplit(proxy).scheme not in PROXY_SCHEMES):
        schemes = {urlsplit(proxy).scheme for proxy in wrong}
        return stop(
            f"a proxy of the environment is {', '.join(sorted(schemes))}: every page that goes through it fails; "
            f"expected {', '.join(PROXY_SCHEMES)}"
        )
    asked_directly = {origin for origin in origins if not of_sites[origin]}
    names = _names(urlsplit(url).hostname or "" for url in asked_directly | used)
    if names:
        return await _look_up(names)
    if used:
        return not_tried("hosts are looked up by a proxy, which is given by its address: there is no name to look up")
    if sites is None:
        return not_tried("the sites stand in Redis, which can't be read")
    if origins:
        return not_tried("the hosts of stored sites are addresses: there is no name to look up")
    return not_tried("no stored site has a host to look up; a plan that is submitted brings some")


class _Proxies:
    """Which proxy a page is asked for through: by the environment, as Scrapy's middleware reads it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        is_enabled = BaseSettings(dict(settings)).getbool("HTTPPROXY_ENABLED", default=True)
        self._middleware = HttpProxyMiddleware() if is_enabled else None

    def of(self, url: str) -> str:
        """Returns a proxy's URL; empty: the host is asked directly."""
        if self._middleware is None:
            return ""
        request = Request(url)
        self._middleware.process_request(request)
        proxy = request.meta.get("proxy")
        return add_http_if_no_scheme(proxy) if proxy else ""


async def _look_up(hosts: list[str]) -> Finding:
    answered = await asyncio.gather(*map(_is_known, hosts))
    unknown = [host for host, is_known in zip(hosts, answered, strict=True) if not is_known]
    if len(unknown) == len(hosts):
        return stop(
            f"none of {', '.join(hosts)} is found within {LOOKUP_SECONDS:g} s: see /etc/resolv.conf and its name "
            "server; until then workers hand their pages back"
        )
    if unknown:
        return advice(f"not found within {LOOKUP_SECONDS:g} s: {', '.join(unknown)}; are these still their names?")
    return ok(f"found: {', '.join(hosts)}")


def _names(hosts: Iterable[str]) -> list[str]:
    """Returns the first of the hosts that are names."""
    names = []
    for host in sorted(set(hosts)):
        try:
            ipaddress.ip_address(host)
        except ValueError:
            names.append(host)
    return [name for name in names if name][:MAX_HOSTS]


async def _is_known(host: str) -> bool:
    with contextlib.suppress(OSError, UnicodeError):  # a TimeoutError is an OSError
        async with asyncio.timeout(LOOKUP_SECONDS):
            return bool(await asyncio.get_running_loop().getaddrinfo(host, None))
    return False
