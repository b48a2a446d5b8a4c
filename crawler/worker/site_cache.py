"""The site definitions that a worker needs: read from Redis when a seed asks for one, dropped when one changes."""

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
    """Definitions with their selectors compiled."""

    def __init__(self, registry: Registry, events: Events) -> None:
        self._registry = registry
        self._sites: dict[str, Site] = {}
        events.subscribe(SitesChanged, lambda _event: self._sites.clear())

    async def load(self, names: set[str]) -> None:
        """Makes sure that `get` knows these; waits as long as Redis is away. What Redis doesn't have stays unknown."""
        for name in names - self._sites.keys():
            try:
                self._sites[name] = await until_redis_answers(f"site {name}", partial(self._registry.site, name))
            except HeadroomError as error:
                logger.error("%s", error)  # noqa: TRY400 -- its text says all that a traceback could

    def get(self, name: str) -> Site | None:
        """Returns a loaded definition; None when Redis has none, or a damaged one."""
        return self._sites.get(name)
