"""The site definitions that a worker needs, read from Redis when a seed asks for one, dropped when one changes."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.errors import HeadroomError

if TYPE_CHECKING:
    from crawler.plans.registry import Registry
    from crawler.sites import Site

logger = logging.getLogger(__name__)
RETRY_SECONDS = 1.0  # between two tries while Redis is away


class SiteCache:
    """Definitions with their selectors compiled."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._sites: dict[str, Site] = {}

    async def load(self, names: set[str]) -> None:
        """Makes sure that `get` knows these; waits as long as Redis is away. What Redis doesn't have stays unknown."""
        for name in names - self._sites.keys():
            while name not in self._sites:
                try:
                    self._sites[name] = await self._registry.site(name)
                except RedisError as error:
                    logger.warning("site %s waits for Redis: %s", name, error)
                    await asyncio.sleep(RETRY_SECONDS)
                except HeadroomError as error:
                    logger.error("%s", error)  # noqa: TRY400 -- the text says it all
                    break

    def get(self, name: str) -> Site | None:
        """Returns a loaded definition; None when Redis has none, or a damaged one."""
        return self._sites.get(name)

    def clear(self) -> None:
        """Forgets all: something has changed."""
        self._sites.clear()
