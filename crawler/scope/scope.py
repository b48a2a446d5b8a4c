"""The scope of a plan: a chain of filters, of which the cheapest is asked first."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any, Self

from scrapy.utils.misc import load_object

from crawler import config
from crawler.base import log_events
from crawler.base.errors import ConfigError, PlanError, shown
from crawler.base.seldom import Seldom
from crawler.config.components import joined
from crawler.scope.region_db import shared_region_db
from crawler.scope.scope_file import ScopeRules
from crawler.scope.url_filter import UrlFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.base.log_events import EventLogger
    from crawler.scope.candidate import Candidate
    from crawler.scope.scope_file import ScopeFile
    from crawler.scope.url_filter import Step

logger: EventLogger = logging.getLogger(__name__)
# The filters that ship, each with its place: in the order of what they cost (benchmarks/scope.py).
SHIPPED = {
    "crawler.scope.filters.urls.DepthFilter": 100,
    "crawler.scope.filters.urls.HostFilter": 200,
    "crawler.scope.filters.urls.DomainFilter": 300,
    "crawler.scope.filters.urls.SuffixFilter": 400,
    "crawler.scope.filters.addresses.AddressFilter": 500,
    "crawler.scope.filters.urls.DenyFilter": 600,
    "crawler.scope.filters.urls.AllowFilter": 700,
    "crawler.scope.filters.addresses.RegionFilter": 800,
    "crawler.scope.filters.answers.SizeFilter": 900,
    "crawler.scope.filters.answers.ContentTypeFilter": 910,
    "crawler.scope.filters.answers.LanguageFilter": 920,
}
_NAME = re.compile(r"[a-z0-9-]{1,30}")


class Scope:
    """Judges addresses for one plan.

    Args:
        pages: Filters of pages and redirects, in the order in which they are asked.
        media: Likewise, of images and videos.
    """

    def __init__(self, pages: Sequence[UrlFilter], media: Sequence[UrlFilter] = ()) -> None:
        self._pages = [(each.name, each.refuses) for each in pages]
        self._media = [(each.name, each.refuses) for each in media]
        self._steps = {each.step for each in (*pages, *media)}
        self._warn = Seldom(logger.error)

    @classmethod
    def of(cls, file: ScopeFile, settings: Mapping[str, Any]) -> Self:
        """Returns the scope that a plan asks for.

        Raises:
            ConfigError: URL_FILTERS names what is no filter, or a filter needs what isn't there.
            PlanError: The scope has something for a filter that isn't there.
        """
        classes = filter_classes(settings)
        media = file.media or ScopeRules()
        names = {each.name for each in classes} - {name.replace("_", "-") for name in type(file).model_fields}
        for key, own in (("scope.own", file.own), ("scope.media.own", media.own)):
            for name in own.keys() - names:
                known = ", ".join(sorted(names)) or "there is none"
                raise PlanError(f"{key}.{shown(name)}: expected the name of a filter of URL_FILTERS: {known}")
        return cls(
            [made for each in classes if (made := each.of(file, settings)) is not None],
            [made for each in classes if (made := each.of(media, settings)) is not None],
        )

    def __bool__(self) -> bool:
        """Returns whether it bounds anything."""
        return bool(self._pages or self._media)

    def asks(self, step: Step) -> bool:
        """Returns whether a filter can't judge before a step."""
        return step in self._steps

    @property
    def asks_later(self) -> bool:
        """Whether more must be known of an address than its URL."""
        return bool(self._steps - {"url"})

    def refusal(self, candidate: Candidate) -> str:
        """Returns the name of the filter that refuses a candidate; empty: it is in scope.

        A filter that raises refuses: what it would keep out may be what must not be asked for.
        """
        name = ""
        try:
            for name, refuses in self._media if candidate.kind == "media" else self._pages:
                if refuses(candidate):
                    return name
        except Exception as error:  # noqa: BLE001 -- whatever somebody's filter raises
            self._warn(log_events.URL_FILTER_FAILED, name, candidate.url, error)
            return name
        return ""


def check_settings(settings: Mapping[str, Any]) -> None:
    """Checks what the settings say of filters, before a plan asks for one.

    Raises:
        ConfigError: URL_FILTERS names what is no filter; or REGION_DB is no database, or an old one.
    """
    filter_classes(settings)
    if path := config.REGION_DB.of(settings):
        shared_region_db(path, config.REGION_DB_MAX_AGE_DAYS.of(settings))


def filter_classes(settings: Mapping[str, Any]) -> list[type[UrlFilter]]:
    """Returns the classes of filters that ship and those that URL_FILTERS adds, by their order.

    Raises:
        ConfigError: It names what is no filter.
    """
    added, classes = config.URL_FILTERS.of(settings), []
    try:
        places = {path: place for path, place in joined(SHIPPED, added).items() if place is not None}
        for path in sorted(places, key=places.__getitem__):
            loaded = load_object(path)
            if not (isinstance(loaded, type) and issubclass(loaded, UrlFilter) and _NAME.fullmatch(loaded.name)):
                raise TypeError  # noqa: TRY301 -- as what can't be loaded
            classes.append(loaded)
    except (ImportError, NameError, ValueError, TypeError, AttributeError):
        expected = "paths of classes that are filters (crawler.scope.url_filter.UrlFilter), each with a number or null"
        raise ConfigError("URL_FILTERS", added, expected) from None
    return classes
