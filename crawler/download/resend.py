"""Sending a request once more: it counts as another request, and waits for its turns of host and address."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.worker.claiming.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


def is_safe(request: Request) -> bool:
    """Returns whether the request changes nothing at the server, and so may be sent again (RFC 9110, 9.2.1)."""
    return request.method in ("GET", "HEAD", "OPTIONS", "TRACE")


async def wait_to_resend(request: Request, crawler: Crawler) -> float:
    """Waits until the request may be sent once more, and counts it as sent; returns the seconds that it waited.

    Raises:
        HeadroomError: The request's visit may fetch no more, its session was lost, or its host has a backoff by now.
    """
    began_s, state = time.monotonic(), state_of(request)
    if state is not None and state.start_again is not None:
        await state.start_again(request)
    if crawler.stats is not None:
        crawler.stats.inc_value("download/sent_again")
    return time.monotonic() - began_s
