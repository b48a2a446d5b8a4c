"""Runs a table of checks, within seconds: first those of Redis, whose answers are timed, then all others at once."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pymongo.errors import ConnectionFailure
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from crawler.base.errors import HeadroomError, UnavailableError, short
from crawler.base.text import one_line
from crawler.config.check import redaction_of
from crawler.doctor.finding import Finding, no_answer, not_tried, stop
from crawler.servers.redis_refusal import refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

T = TypeVar("T")
# What is raised where a server that had answered does so no more.
SILENCE = (
    ConnectionError,
    TimeoutError,
    UnavailableError,
    RedisConnectionError,
    RedisTimeoutError,
    ConnectionFailure,
)
MAX_TEXT_CHARACTERS = 600  # the longest finding: two sentences, with what a server said and some names


@dataclass(frozen=True, slots=True)
class HealthCheck(Generic[T]):
    """One row of the table.

    Attributes:
        name: As answers and the docs call it.
        looks_at: What it looks at, in words for the help text and the docs.
        examine: Looks at it. Whatever it raises becomes a line, too: the check couldn't be tried.
    """

    name: str
    looks_at: str
    examine: Callable[[T], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class CheckGroup(Generic[T]):
    """Checks of one server, or of this node.

    Attributes:
        open: Connects, and gives what the checks examine. What it raises is what the first check finds.
        checks: In the order in which they are made and shown.
        seconds: For all of them. What answers, answers within milliseconds.
        is_wanted: Whether these settings use the server.
    """

    open: Callable[[Mapping[str, Any]], AbstractAsyncContextManager[T]]
    checks: tuple[HealthCheck[T], ...]
    seconds: float
    is_wanted: Callable[[Mapping[str, Any]], bool] = lambda _settings: True

    async def run(self, settings: Mapping[str, Any]) -> list[tuple[str, Finding]]:
        """Returns what each check found, by name."""
        findings: list[Finding] = []
        unknown = no_answer(f"no answer within {self.seconds:g} s")
        try:
            async with asyncio.timeout(self.seconds), self.open(settings) as examined:
                for check in self.checks:
                    findings.append(await _try(check, examined))  # noqa: PERF401 -- what was found before a timeout counts
        except TimeoutError:
            pass
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is told, and the other servers are asked
            unknown = no_answer(_error_text(error))
        if not findings:
            findings = [stop(unknown.text)]
            unknown = not_tried(f"{self.checks[0].name} must answer first")
        findings += [unknown] * (len(self.checks) - len(findings))
        return [(check.name, finding) for check, finding in zip(self.checks, findings, strict=True)]


async def examine(groups: Sequence[CheckGroup[Any]], settings: Mapping[str, Any]) -> list[tuple[str, Finding]]:
    """Returns what each check of a table found, by name and in its order, without secrets and each on one line."""
    asyncio.get_running_loop().set_default_executor(_DaemonThreads())
    first, *others = (group for group in groups if group.is_wanted(settings))
    rows = [await first.run(settings), *await asyncio.gather(*(group.run(settings) for group in others))]
    redact = redaction_of(settings)

    def shown(text: str) -> str:
        return short(one_line(redact(text)), MAX_TEXT_CHARACTERS)

    return [(name, Finding(finding.state, shown(finding.text))) for group in rows for name, finding in group]


async def _try(check: HealthCheck[T], examined: T) -> Finding:
    try:
        return await check.examine(examined)
    except SILENCE as error:
        return no_answer(_error_text(error))
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is told, and the other checks are made
        return not_tried(_error_text(error))


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, HeadroomError) else refusal(error) or f"{type(error).__name__}: {error}"


class _DaemonThreads(ThreadPoolExecutor):
    """Makes each call in a thread of its own, for which nobody waits when the process ends.

    To look up a name takes 20 s where the name server is silent, and can't be broken off.
    """

    def submit(self, call: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        """Starts a call; returns what it will answer."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # from here on nobody can cancel it, and the thread may always answer

        def run() -> None:
            try:
                future.set_result(call(*args, **options))
            except BaseException as error:  # noqa: BLE001 -- it is for whoever asked
                future.set_exception(error)

        Thread(target=run, name="doctor", daemon=True).start()
        return future
