"""The site definitions that a worker needs: each is read from Redis for its first seed, and again after a change.

Definitions are read in the background, until Redis answers, so that a Redis that is away holds up no seed of a site
that is known.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawler.base import tasks
from crawler.base.errors import HeadroomError
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.life.wakeups import SitesChanged

if TYPE_CHECKING:
    from crawler.base.events import Events
    from crawler.plans.registry import Registry
    from crawler.sites import Site

logger = logging.getLogger(__name__)
UNREAD_SITE = "unread-site"  # the ledger's word for seeds put off since Redis doesn't say what their site is
UNREAD_SITE_SECONDS = 5.0  # until such a seed is due again: a fail-over ends within seconds
WAIT_SECONDS = 1.0  # longest wait for a definition, which takes ms: what takes longer is a Redis that is away


class _Reading(NamedTuple):
    """A definition that is being read.

    Attributes:
        late_at: From when on nobody waits for it, by the event loop's clock.
    """

    task: asyncio.Task[None]
    late_at: float


class SiteCache:
    """Site definitions by name, with their selectors compiled.

    After `SitesChanged`, a definition stays in use until a `load` has had the one read that takes its place. So what
    was loaded once is there for as long as the worker lives.
    """

    def __init__(self, registry: Registry, events: Events) -> None:
        self._registry = registry
        self._events = events
        self._sites: dict[str, Site] = {}
        self._current: set[str] = set()  # names whose definition hasn't changed since it was last asked for
        self._readings: dict[str, _Reading] = {}
        events.subscribe(SitesChanged, lambda _event: self._current.clear())

    async def load(self, names: set[str]) -> None:
        """Has the definitions read that are missing, and those that may have changed.

        Returns when all are read, or have been waited for in vain for WAIT_SECONDS: all lie under one key, so a call
        that meets a late one waits for none. For a name that Redis doesn't have, or has a damaged definition of, an
        error is logged; a definition that is there stays in use.
        """
        now = asyncio.get_running_loop().time()
        for name in names - self._current - self._readings.keys():
            reading = tasks.start(self._read(name), name=f"site {name}", died=self._events.publish)
            self._readings[name] = _Reading(reading, now + WAIT_SECONDS)
        wait_s = min((reading.late_at for reading in self._readings.values()), default=now) - now
        if wanted := [reading.task for name, reading in self._readings.items() if name in names]:
            await asyncio.wait(wanted, timeout=max(0.0, wait_s))

    def get(self, name: str) -> Site | None:
        """Returns a loaded definition; None when Redis hasn't answered yet, had none, or a damaged one."""
        return self._sites.get(name)

    def is_being_read(self, name: str) -> bool:
        """Returns whether Redis hasn't answered yet what a site's definition is."""
        return name in self._readings

    async def close(self) -> None:
        """Stops reading."""
        await tasks.cancel(*(reading.task for reading in self._readings.values()))

    async def _read(self, name: str) -> None:
        """Reads a definition, and once more if it may have changed meanwhile."""
        try:
            while name not in self._current:
                self._current.add(name)  # before it is read: a change from now on takes it out again
                self._sites[name] = await until_redis_answers(f"site {name}", partial(self._registry.site, name))
        except HeadroomError as error:
            if name in self._sites:
                logger.error("%s; the earlier definition stays in use", error)  # noqa: TRY400 -- the error's text says all that a traceback could
            else:
                logger.error("%s", error)  # noqa: TRY400 -- likewise
                self._current.discard(name)  # each seed asks for it: somebody may have submitted it
        finally:
            del self._readings[name]
