"""What people do to many seeds, beside the requests that ask for it: with millions of them it takes minutes."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from crawler.base import log_events, tasks
from crawler.base.errors import HeadroomError, PlanError
from crawler.cluster import audit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.base.log_events import EventLogger
    from crawler.base.tasks import TaskDied
    from crawler.frontier.seed_admin import Progress
    from crawler.monitor.connection import Connection
    from crawler.plans.operator import Operator

    Work = Callable[[Operator, Progress], Awaitable[object]]  # it moves seeds in steps of some 3 ms of Redis's time

WAIT_SECONDS = 0.1  # how long a page waits for an action: most are done by then, and the page that follows shows it
MAX_FAILURES = 100  # most failures that are remembered for the pages of what they were done to
logger: EventLogger = logging.getLogger(__name__)


@dataclass(slots=True)
class SlowAction:
    """One action, under way or failed.

    Attributes:
        name: Its name in the audit, such as `plan-pause`.
        moved: How many seeds it has moved so far.
        error: Why it failed; None: it didn't, so far.
    """

    name: str
    user: str
    moved: int = 0
    error: HeadroomError | None = None

    def add(self, moved: int) -> None:
        """Counts seeds that were moved."""
        self.moved += moved


class SlowActions:
    """The actions under way, one for a target; should the monitor end, the same action completes what it has left.

    A target is a name that is unique among all: that of a plan, or one that no plan can have.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._actions: dict[str, SlowAction] = {}  # by target: the action under way, or the last one that failed

    def of(self, target: str) -> SlowAction | None:
        """Returns a target's action that is under way, or its last one if that failed; None: all is done."""
        return self._actions.get(target)

    async def begin(self, target: str, name: str, user: str, work: Work, *, label: str = "") -> bool:
        """Begins an action; returns whether it is done already. It goes on by itself.

        Args:
            name: Its name in the audit.
            work: Does it.
            label: What the audit says that it is done to; empty: the target.

        Raises:
            PlanError: Another one is under way.
            HeadroomError: It has failed already.
        """
        if target in self._tasks:
            raise PlanError(f"{target}: its {self._actions[target].name} is under way")
        self._actions.pop(target, None)
        while len(self._actions) - len(self._tasks) >= MAX_FAILURES:
            self._actions.pop(next(failed for failed in self._actions if failed not in self._tasks))
        action = self._actions[target] = SlowAction(name, user)
        running = self._run(target, action, work, label or target)
        task = self._tasks[target] = tasks.start(running, name=f"{name} of {target}", died=_log_death)
        task.add_done_callback(lambda _task: self._tasks.pop(target, None))
        done, _ = await asyncio.wait([task], timeout=WAIT_SECONDS)
        if not done:
            async with self._connection.operator() as operator:
                await audit.record(operator, user=user, action=name, target=label or target, outcome="under way")
            return False
        if action.error:
            raise action.error
        return True

    async def close(self) -> None:
        """Breaks off what is under way."""
        await tasks.cancel(*self._tasks.values())

    async def _run(self, target: str, action: SlowAction, work: Work, label: str) -> None:
        try:
            async with self._connection.operator() as operator:
                doing = partial(work, operator, action.add)
                await audit.act(operator, user=action.user, action=action.name, target=label, work=doing)
            self._actions.pop(target, None)
        except HeadroomError as error:
            action.error = error


def _log_death(died: TaskDied) -> None:
    logger.error(log_events.MONITOR_ACTION_DIED, died.name, exc_info=died.error)
