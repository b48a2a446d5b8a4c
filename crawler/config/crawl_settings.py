"""Scrapy's settings as the frontier's spiders run with them, whatever the project sets for spiders of its own.

A project's Scrapy settings are made for its own spiders: the template of `scrapy startproject` asks for a delay of a
second, a pipeline expects the project's items, a header may hold a password for one site. The crawl's guarantees can't
rest on them, so the frontier's spiders take Scrapy's defaults and the values here. Of the project's they keep what says
who runs the process, and where (`PROJECT_WIDE`). More reaches them only if it is meant for them: by FRONTIER_SETTINGS
in the project's settings, by the `custom_settings` of a subclass, or on the command line.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from crawler import config
from crawler.base import log_events
from crawler.base.errors import ConfigError
from crawler.config import components

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
FAST_ENGINE_ADDON = "crawler.fast.addon.FastEngine"
PRIVATE_ADDRESSES = "crawler.middlewares.private_addresses.PrivateAddressMiddleware"
# Its place in ADDONS is the last, since other add-ons may replace Scrapy's downloader statistics.
FAST_ENGINE_ORDER = 1000
_REMOTE_CONTROL = {"scrapy.extensions.remote_control.RemoteControl"}  # Scrapy has it since 2.19

# What Scrapy 2.16 reads, though only later versions list it among their defaults.
READ_BEFORE_2_17: Mapping[str, Any] = {
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "DOWNLOAD_SLOTS": {},
    "DUPEFILTER_DEBUG": False,
    "REFERRER_POLICIES": {},
}

# Scrapy's settings of which the project's values hold for the frontier's spiders too: who runs the process, its log and
# statistics, its way to the network, where media are stored, and how `-o FILE` writes. Of its event loop, all but
# TWISTED_REACTOR: the crawl runs on asyncio alone.
PROJECT_WIDE = re.compile(
    r"ADDONS|ASYNCIO_EVENT_LOOP|BOT_NAME|COMMANDS_MODULE|DOWNLOAD_BIND_ADDRESS|EDITOR|FILES_STORE|FORCE_CRAWLER_PROCESS"
    r"|IMAGES_STORE|NEWSPIDER_MODULE|REACTOR_THREADPOOL_MAXSIZE|ROBOTSTXT_USER_AGENT|SPIDER_MODULES"
    r"|TEMPLATES_DIR|TWISTED_REACTOR_ENABLED|USER_AGENT"
    r"|(?:AWS|DNS|DNSCACHE|DOWNLOAD_TLS|FEED|FILES_STORE|FTP|GCS|HTTPPROXY|IMAGES_STORE|LOG|MAIL|MEMDEBUG|MEMUSAGE"
    r"|PERIODIC_LOG|SPIDER_LOADER|STATS)_\w+"
)

VALUES: Mapping[str, Any] = {
    **{
        setting.name: setting.default
        for setting in config.ALL
        if setting.owner == "Scrapy" and not PROJECT_WIDE.fullmatch(setting.name)
    },
    "SCHEDULER": "crawler.scheduler.Scheduler",
    "EXTENSIONS": {
        "crawler.config.logs.InertLogs": 0,  # first: what other extensions log is inert, too
        "crawler.worker.worker.Worker": 100,
        "crawler.worker.settling.delivery.Delivery": 200,
        "crawler.worker.metrics_server.MetricsServer": 300,  # off without METRICS_PORT
        "scrapy.extensions.telnet.TelnetConsole": None,
        **dict.fromkeys(_REMOTE_CONTROL & default_settings.EXTENSIONS_BASE.keys()),
    },
    "SPIDER_MIDDLEWARES": {
        # Next to the engine, whatever numbers others have: it counts what is left when they have dropped and added.
        "crawler.middlewares.visits.VisitSpiderMiddleware": -1_000_000,
        # Each costs every page a pass. HTTPERROR_ALLOW_ALL and URLLENGTH_LIMIT = 0 leave the first two nothing to do.
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    },
    "DOWNLOADER_MIDDLEWARES": {
        "crawler.middlewares.rendering.RenderMiddleware": 30,  # the last to see a page that has come
        "crawler.middlewares.known_site.KnownSiteMiddleware": 40,
        "crawler.middlewares.site_headers.SiteHeadersMiddleware": 45,
        "crawler.middlewares.scope.ScopeMiddleware": 50,
        "crawler.middlewares.search_order.SearchOrderMiddleware": 90,  # what comes later needs no robots.txt now
        "crawler.middlewares.robots.RobotsMiddleware": 100,
        "crawler.middlewares.traps.TrapMiddleware": 105,  # and this one's neither
        "crawler.middlewares.budget.BudgetMiddleware": 110,  # robots.txt's refusals take nothing of a budget
        "crawler.middlewares.refresh.RefreshMiddleware": 580,  # reads what the next one decodes
        "crawler.middlewares.decoding.DecodingMiddleware": 590,
        "crawler.middlewares.redirect.RedirectMiddleware": 600,
        PRIVATE_ADDRESSES: None,  # the scope and the download handler see to that
        "crawler.middlewares.turns.TurnMiddleware": 990,  # the last before the wire: what it lets through is sent
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # reads an error page as rules
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,  # no bound on codings
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,  # follows to other hosts without their turn
        # Follows to other hosts without their turn, too.
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,  # retries go through the frontier, with its turns
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    },
    "ITEM_PIPELINES": {
        "crawler.pipelines.clean.CleanPipeline": 100,
        "crawler.pipelines.media.PageMediaPipeline": 200,
        "crawler.pipelines.sink.SinkPipeline": 800,
    },
    "DOWNLOAD_HANDLERS": {
        "http": "crawler.download.handler.CurlDownloadHandler",
        "https": "crawler.download.handler.CurlDownloadHandler",
        "file": None,  # only the web is crawled
        "ftp": None,
        "s3": None,
        "data": None,
    },
    "CONCURRENT_REQUESTS_PER_DOMAIN": config.CONCURRENT_REQUESTS.high,  # must not bind: turns pace each host
    "DOWNLOAD_DELAY": 0,  # must not bind: turns pace each host
    "COOKIES_ENABLED": False,  # pages are read as a stranger would
    "LOGSTATS_INTERVAL": 600.0,  # a line each minute is the most of a healthy worker's log; `scrapy nodes` says more
    "HTTPERROR_ALLOW_ALL": True,  # a visit's end tells the ledger why; nothing is dropped on the way
    "WARN_ON_GENERATOR_RETURN_VALUE": False,  # reads the callback's source
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "URLLENGTH_LIMIT": 0,  # crawler/base/urls.py has the limit
}
COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "DOWNLOAD_HANDLERS", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")


def set_for_frontier(settings: BaseSettings, custom: Mapping[str, Any] | None) -> None:
    """Gives the settings of a crawler the values that the frontier's spiders run with.

    Args:
        settings: A crawler's own, before its add-ons have changed them. What the command line says stays.
        custom: `custom_settings` of the spider. In it, as in FRONTIER_SETTINGS, components (pipelines, middlewares,
            extensions, download handlers) are added to the crawl's, and None takes one out; any other value replaces
            the crawl's.

    Raises:
        ConfigError: FRONTIER_SETTINGS isn't a dict, or what it or `custom` says of components isn't.
    """
    set_aside = _set_aside_project(settings)
    values = _joined(VALUES, config.FRONTIER_SETTINGS.of(settings), "FRONTIER_SETTINGS")
    for name, value in _joined(values, custom or {}, "custom_settings").items():
        settings.set(name, value, "spider")
    components.set_default(settings, "ADDONS", FAST_ENGINE_ADDON, FAST_ENGINE_ORDER)
    # Above the priority that it has: a process that is given a crawler sets its own settings there once more, and of
    # two values of one priority the later stays.
    above = (settings.getpriority("ADDONS") or 0) + 1
    settings.set("ADDONS", settings.getdict("ADDONS"), max(above, SETTINGS_PRIORITIES["spider"]))
    if differing := sorted(name for name, value in set_aside.items() if settings[name] != value):
        logger.info(
            log_events.SETTINGS_SET_ASIDE,
            ", ".join(differing),
        )


def _joined(values: Mapping[str, Any], further: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Returns the values of settings with further ones, which are added where they are components."""
    joined = dict(values)
    for name, value in further.items():
        try:
            joined[name] = components.joined(values[name], value) if name in COMPONENTS else value
        except (ValueError, TypeError):
            raise ConfigError(name, value, "a dict, which is added to the crawl's", f" in {place}") from None
    return joined


def _set_aside_project(settings: BaseSettings) -> dict[str, Any]:
    """Sets Scrapy's settings back to their defaults where the project has set them, but for PROJECT_WIDE.

    Returns:
        The project's values by name, without those of its command line or of the spider.
    """
    set_aside = {}
    defaults = {**READ_BEFORE_2_17, **{name: getattr(default_settings, name) for name in default_settings.__all__}}
    for name, default in defaults.items():
        if (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["project"] or PROJECT_WIDE.fullmatch(name):
            continue
        if settings.getpriority(name) == SETTINGS_PRIORITIES["project"]:
            set_aside[name] = settings[name]
        settings.set(name, default, "spider")
    return set_aside
