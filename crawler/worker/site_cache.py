"""The site definitions that a worker needs: each is read from Redis for its first seed; all are dropped on a change."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from crawler.errors import HeadroomError
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.wakeups import SitesChanged

if TYPE_CHECKING:
    from crawler.events import Events
    from crawler.plans.registry import Registry
    from crawler.sites import Site

logger = logging.getLogger(__name__)


class SiteCache:
    """Site definitions by name, with their selectors compiled. Emptied by `SitesChanged`."""

    def __init__(self, registry: Registry, events: Events) -> None:
        self._registry = registry
        self._sites: dict[str, Site] = {}
        events.subscribe(SitesChanged, lambda _event: self._sites.clear())

    async def load(self, names: set[str]) -> None:
        """Loads the definitions that are missing; waits as long as Redis is away.

        For a name that Redis doesn't have, or has a damaged definition of, an error is logged.
        """
        for name in names - self._sites.keys():
            try:
                self._sites[name] = await until_redis_answers(f"site {name}", partial(self._registry.site, name))
            except HeadroomError as error:
                logger.error("%s", error)  # noqa: TRY400 -- the error's text says all that a traceback could

    def get(self, name: str) -> Site | None:
        """Returns a loaded definition; None when Redis has none, or a damaged one."""
        return self._sites.get(name)
