"""Actions of commands are written down as those of the monitor are."""

from __future__ import annotations

import getpass
import socket
from typing import TYPE_CHECKING, TypeVar

from crawler.cluster import audit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.plans.operator import Operator

T = TypeVar("T")


async def audited(operator: Operator, action: str, target: str, work: Callable[[], Awaitable[T]]) -> T:
    """Carries out a command's action, and writes down who has typed it, and where; returns what it returns.

    Raises:
        HeadroomError: It was refused.
        redis.exceptions.RedisError: Redis is away.
    """
    return await audit.act(operator, user=_who(), action=action, target=target, work=work)


def _who() -> str:
    """Returns `USER@MACHINE (command)`, which no user of the monitor can be called."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have a number alone
        name = "?"
    return f"{name}@{socket.gethostname()} (command)"
