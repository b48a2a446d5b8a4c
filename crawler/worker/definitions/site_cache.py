"""The site definitions that a worker needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.sites import Site
from crawler.worker.definitions.definition_cache import DefinitionCache
from crawler.worker.life.wakeups import SitesChanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.base.events import Events
    from crawler.plans.registry import Registry

UNREAD_SITE_SECONDS = 5.0  # how long a seed waits whose site couldn't be read: a fail-over ends within seconds


class SiteCache(DefinitionCache[Site]):
    """Site definitions, with their selectors compiled. What was loaded once is there as long as the worker lives.

    Args:
        sites: Those that are loaded from the beginning.
    """

    noun = "site"
    damaged = log_events.SITE_DAMAGED
    unknown = log_events.SITE_UNKNOWN

    def __init__(self, registry: Registry, events: Events, sites: Iterable[Site] = ()) -> None:
        known = {site.name: site for site in sites}
        super().__init__(registry.sites, known, events)
        self._current.update(known)
        events.subscribe(SitesChanged, lambda _event: self.expire())
