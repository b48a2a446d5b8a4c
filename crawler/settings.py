"""This project for Scrapy: its modules, and what spiders of its own have.

What the frontier's spiders run with is in `crawler/config/crawl_settings.py`; each setting of the crawl, with its type,
range, default and reason, in `crawler/config/__init__.py`. Neither is repeated here. Any other
spider has Scrapy's defaults, and what follows: the words of the template of `scrapy startproject`.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg

ADDONS = {"crawler.Headroom": 100}
BOT_NAME = "headroom"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1
FEED_EXPORT_ENCODING = "utf-8"


def _refuse_to_hide_another() -> None:
    """Ends the process where these settings would stand in for those of a project whose package has the same name.

    Scrapy puts a project's folder behind the installed packages, so `crawler.settings` of such a project means these.
    """
    own, configuration = Path(__file__).parent, closest_scrapy_cfg()
    other = Path(configuration).parent / own.name
    if configuration and (other / "settings.py").is_file() and not other.samefile(own):
        if (other / "scrapy_private.py").is_file():  # a clone of Headroom, which it was installed from as a copy
            raise SystemExit(
                f"error: Headroom is installed at {own}, which hides the one in this clone, {other}; "
                "have it run what the clone holds: pip install --no-deps -e ."
            )
        raise SystemExit(
            f"error: Headroom's package `crawler` hides this project's at {other}; "
            "rename that one, or install Headroom in an environment of its own"
        )


def _refuse_to_hide_an_egg() -> None:
    """Ends the process where these settings would stand in for those of an egg that holds Headroom itself.

    scrapyd puts the egg that it was sent behind the installed packages: it would run another version than it was told.
    """
    for entry in sys.path:
        if (
            entry.endswith(".egg")
            and not Path(__file__).is_relative_to(entry)
            and PathFinder.find_spec(__package__, [entry])
        ):
            raise SystemExit(
                f"error: Headroom is installed at {Path(__file__).parent}, which hides the one in the egg {entry}; "
                "uninstall it there, or send eggs of projects that use it as an add-on"
            )


_refuse_to_hide_another()
_refuse_to_hide_an_egg()
