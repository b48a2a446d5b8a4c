"""A request that must be sent once more is another start on its turn: a delay later, and counted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler


T = TypeVar("T")


def may_go_again(request: Request) -> bool:
    """Whether a request may be sent again when it was lost: it changes nothing (RFC 9110, 9.2.1)."""
    return request.method in ("GET", "HEAD", "OPTIONS", "TRACE")


async def next_start(request: Request, crawler: Crawler) -> None:
    """Waits until the request may be sent once more, and counts it as sent.

    Raises:
        SessionLostError: Its visit was abandoned or handed back meanwhile.
        PageTimeoutError: Likewise its time was up.
    """
    state = state_of(request)
    turns = [] if state is None else [turn for turn in (state.lane, state.address) if turn is not None]
    while pause_s := max((turn.pause_s() for turn in turns), default=0.0):
        await part_of(request, asyncio.sleep(pause_s))
    for turn in turns:
        turn.mark_start()
    if crawler.stats is not None:
        crawler.stats.inc_value("download/sent_again")


async def part_of(request: Request, part: Coroutine[Any, Any, T]) -> T:
    """Waits for a part of a download, which is cut off with its visit where it has one."""
    state = state_of(request)
    return await (part if state is None else state.visit.run(part))
