"""The event stream by which a browser hears that there are other figures: one for all of its windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from crawler.monitor.guard import RefusedRequestError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from crawler.monitor.web import WebRequest

RETRY_MILLISECONDS = 2_000  # when a browser asks again for a stream that ended


async def show(web: WebRequest) -> Response:
    """Sends an event with each reading: `figures`, or `away` where Redis gave none."""
    if not web.monitor.streams.are_free(web.sign_in.user.name):
        raise RefusedRequestError(503, "error.streams")
    return StreamingResponse(_events(web), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def _events(web: WebRequest) -> AsyncIterator[str]:
    monitor = web.monitor
    with monitor.streams.held(web.sign_in.user.name):
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        async for figures in monitor.gatherer.watch():
            if monitor.sign_ins.of(web.token) is None:
                return
            yield f"event: {'away' if figures.away else 'figures'}\ndata: {figures.number}\n\n"
