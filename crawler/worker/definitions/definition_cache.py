"""Definitions that a worker needs, of sites or plans: each is read from Redis for its first seed, and after a change.

They are read in the background, until Redis answers, so that a Redis that is away holds up no seed of what is known.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from crawler.base import tasks
from crawler.base.errors import HeadroomError
from crawler.servers.redis_retry import until_redis_answers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger, LogEvent

T = TypeVar("T")
logger: EventLogger = logging.getLogger(__name__)
WAIT_SECONDS = 1.0  # longest wait for definitions, which take ms: what takes longer is a Redis that is away


class _Reading(NamedTuple):
    """Definitions that are being read.

    Attributes:
        late_at: From when on nobody waits for them, by the event loop's clock.
    """

    task: asyncio.Task[None]
    late_at: float


class DefinitionCache(Generic[T]):
    """Definitions of one kind, by name.

    After a change, a definition stays in use until a `load` has had the one read that takes its place.

    Attributes:
        noun: What they define, for messages.
        damaged: Logged for one that can't be read anew, while the earlier one stays in use.
        unknown: Logged for one that can't be read, and of which there is no earlier one.

    Args:
        read: Reads several at once: each, or why there is none.
        definitions: Where they are kept; it may forget some, which are then read again.
    """

    noun: ClassVar[str]
    damaged: ClassVar[LogEvent]
    unknown: ClassVar[LogEvent]

    def __init__(
        self,
        read: Callable[[set[str]], Awaitable[Mapping[str, T | HeadroomError]]],
        definitions: MutableMapping[str, T],
        events: Events,
    ) -> None:
        self._ask_redis = read
        self._definitions = definitions
        self._events = events
        self._current: set[str] = set()  # names whose definition hasn't changed since it was last asked for
        self._readings: dict[str, _Reading] = {}

    def expire(self) -> None:
        """Has each definition read again by the next `load` that names it: any may have changed."""
        self._current.clear()

    async def load(self, names: set[str]) -> None:
        """Has the definitions read that are missing, and those that may have changed, in one call.

        Returns when all are read, or have been waited for in vain for WAIT_SECONDS: all lie under one key, so a call
        that meets a late one waits for none. For a name that Redis doesn't have, or has a damaged definition of, an
        error is logged; a definition that is there stays in use.
        """
        now = asyncio.get_running_loop().time()
        if missing := {name for name in names if name not in self._current or name not in self._definitions}:
            missing -= self._readings.keys()
        if missing:
            reading = tasks.start(self._read(missing), name=f"{self.noun} definitions", died=self._events.publish)
            self._readings.update(dict.fromkeys(missing, _Reading(reading, now + WAIT_SECONDS)))
        if not self._readings:
            return
        wait_s = min(reading.late_at for reading in self._readings.values()) - now
        if awaited := {reading.task for name, reading in self._readings.items() if name in names}:
            await asyncio.wait(awaited, timeout=max(0.0, wait_s))

    def get(self, name: str) -> T | None:
        """Returns a loaded definition; None when Redis hasn't answered yet, had none, or a damaged one."""
        return self._definitions.get(name)

    def is_being_read(self, name: str) -> bool:
        """Returns whether Redis hasn't answered yet what a definition is."""
        return name in self._readings

    async def close(self) -> None:
        """Stops reading."""
        await tasks.cancel(*{reading.task for reading in self._readings.values()})

    async def _read(self, names: set[str]) -> None:
        """Reads definitions, and those once more that may have changed meanwhile."""
        try:
            to_read = names
            while to_read:
                self._current |= to_read  # before they are read: a change from now on takes them out again
                asking = partial(self._ask_redis, to_read)
                answers = await until_redis_answers(f"{self.noun} {', '.join(sorted(to_read))}", asking)
                read_names = {name for name, answer in answers.items() if self._take(name, answer)}
                to_read = read_names - self._current
        finally:
            for name in names:
                del self._readings[name]

    def _take(self, name: str, answer: T | HeadroomError) -> bool:
        """Takes what was read into use; returns whether it was a definition."""
        if not isinstance(answer, HeadroomError):
            self._definitions[name] = answer
            return True
        if name in self._definitions:
            logger.error(self.damaged, answer)
        else:
            logger.error(self.unknown, answer)
            self._current.discard(name)  # each seed asks for it: somebody may have submitted it
        return False
