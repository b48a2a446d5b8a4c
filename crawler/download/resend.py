"""Sending a request once more: it counts as another request of its host's turn, and waits for the host's delay."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler

T = TypeVar("T")


def is_safe(request: Request) -> bool:
    """Returns whether the request changes nothing at the server, and so may be sent again (RFC 9110, 9.2.1)."""
    return request.method in ("GET", "HEAD", "OPTIONS", "TRACE")


async def wait_to_resend(request: Request, crawler: Crawler) -> None:
    """Waits until the request may be sent once more, and counts it as sent.

    Raises:
        SessionLostError: The request's visit was abandoned or released meanwhile.
        PageTimeoutError: The time of the request's page was up meanwhile.
    """
    state = state_of(request)
    turns = [] if state is None else [turn for turn in (state.lane, state.address) if turn is not None]
    while pause_s := max((turn.pause_s() for turn in turns), default=0.0):
        await run_for_visit(request, asyncio.sleep(pause_s))
    for turn in turns:
        turn.mark_start()
    if crawler.stats is not None:
        crawler.stats.inc_value("download/sent_again")


async def run_for_visit(request: Request, part: Coroutine[Any, Any, T]) -> T:
    """Awaits a part of a download; it is cancelled when the request's visit ends, if the request has one.

    Raises:
        SessionLostError: As `wait_to_resend`.
        PageTimeoutError: As `wait_to_resend`.
        Exception: What the part raised.
    """
    state = state_of(request)
    return await (part if state is None else state.visit.run(part))
