"""Who did what to the crawl, by the monitor or a command: a line in the log, and the last `KEPT` of them in Redis."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson
from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.text import one_line
from crawler.frontier.scripts import run_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.base.log_events import EventLogger
    from crawler.plans.operator import Operator

T = TypeVar("T")

KEPT = 5_000  # most entries that are kept, in about a megabyte
SHOWN = 200
MAX_CHARACTERS = 200  # the most that is kept of the name of what an action was done to
# Adds an entry, also when Redis is full: who acts on a full Redis must be seen to. ARGV: the time, the entry, how many
# are kept.
ADD = """#!lua flags=allow-oom
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
"""
logger: EventLogger = logging.getLogger(__name__)


class Entry(NamedTuple):
    """One action.

    Attributes:
        at_ms: When, by Redis's clock.
        user: Who.
        action: Such as `node-drain`.
        target: To what, such as a node's name.
        outcome: `done`, or why it wasn't.
    """

    at_ms: int
    user: str
    action: str
    target: str
    outcome: str


def say(*, user: str, action: str, target: str, outcome: str) -> None:
    """Writes an action down in the log alone, for when Redis can't take it."""
    target, outcome = (one_line(text)[:MAX_CHARACTERS] for text in (target, outcome))
    logger.info(log_events.MONITOR_ACTION, user, action, target, outcome)


async def act(operator: Operator, *, user: str, action: str, target: str, work: Callable[[], Awaitable[T]]) -> T:
    """Carries out an action, and writes down who did it and how it ended; returns what it returns.

    Raises:
        HeadroomError: It was refused.
        redis.exceptions.RedisError: Redis is away; the log has the line. The action may have been carried out, or half
            of it.
    """
    try:
        result = await work()
    except HeadroomError as error:
        await record(operator, user=user, action=action, target=target, outcome=str(error))
        raise
    except RedisError as error:
        say(user=user, action=action, target=target, outcome=f"unknown, since Redis is away: {error}")
        raise
    await record(operator, user=user, action=action, target=target, outcome="done")
    return result


async def record(operator: Operator, *, user: str, action: str, target: str, outcome: str) -> None:
    """Writes an action down.

    Raises:
        redis.exceptions.RedisError: Redis is away; the log has the line.
    """
    say(user=user, action=action, target=target, outcome=outcome)
    target, outcome = (one_line(text)[:MAX_CHARACTERS] for text in (target, outcome))
    entry = Entry(await operator.registry.now_ms(), user, action, target, outcome)
    await run_text(operator.redis, ADD, [operator.keys.audit], entry.at_ms, orjson.dumps(list(entry)), KEPT)


async def read(operator: Operator) -> list[Entry]:
    """Returns the newest actions, the newest first."""
    redis: Any = operator.redis
    entries = []
    for raw in await redis.zrevrange(operator.keys.audit, 0, SHOWN - 1):
        try:
            at_ms, *texts = orjson.loads(raw)
            entries.append(Entry(int(at_ms), *map(str, texts)))
        except (ValueError, TypeError):
            continue  # the entry is damaged, or another version's
    return entries
