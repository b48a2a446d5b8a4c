"""The Scrapy add-on: `ADDONS = {"crawler.Headroom": 100}` in the settings of any Scrapy project.

It gives the project the spiders `producer` and `consumer`, and keeps the project's own spiders from private addresses.
All else that a crawl needs is switched on by its spiders themselves (`crawler/config/crawl_settings.py`). So the
project's own spiders, and commands such as `scrapy shell`, stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.config.components import set_default
from crawler.config.crawl_settings import FAST_ENGINE_ADDON, FAST_ENGINE_ORDER, PRIVATE_ADDRESSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

SPIDERS = "crawler.spiders"
PRIVATE_ADDRESSES_ORDER = 1_000_000  # last before the download, whatever numbers others have: it sees what is sent


class Headroom:
    """The add-on, which Scrapy builds once for each crawler of a project that names it in ADDONS."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Returns the add-on."""
        return cls()

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Adds producer and consumer to the project's spiders, and the fast engine for spiders that ask for it.

        The project's own modules come after, so that a spider of its own that is called `producer` stays what it is.
        """
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            settings.set("SPIDER_MODULES", [SPIDERS, *modules], settings.getpriority("SPIDER_MODULES") or 0)
        if set_default(settings, "ADDONS", FAST_ENGINE_ADDON, FAST_ENGINE_ORDER):
            settings.set("FAST_ENGINE", value=False, priority="default")

    def update_settings(self, settings: BaseSettings) -> None:
        """Keeps a spider from private addresses; the frontier's have a component of their own for that."""
        set_default(settings, "DOWNLOADER_MIDDLEWARES", PRIVATE_ADDRESSES, PRIVATE_ADDRESSES_ORDER)


def is_switched_on(settings: Mapping[str, object]) -> bool:
    """Returns whether a project's settings name the add-on."""
    addons = settings.get("ADDONS")
    if not hasattr(addons, "items"):
        return False
    names = (Headroom, "crawler.Headroom", f"{__name__}.Headroom")
    return any(name in names and order is not None for name, order in addons.items())
