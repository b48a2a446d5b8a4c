"""What a rendered page asks for: a request that is cut off on its way leaves nothing in use."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from crawler.download.page_requests import PageRequests
from crawler.render.exchange import PageRequest
from crawler.worker.turns.turns import Turns
from crawler.worker.visits.request_state import TurnUse
from crawler.worker.visits.visit import Lane


@pytest.mark.parametrize("is_on_its_way", [True, False])
async def test_a_cancelled_request_has_its_turns_freed(is_on_its_way):
    lane = Lane("a.test", 1, 0, 0.0)
    asked = asyncio.Event()

    async def download_async(request):
        state = request.meta["headroom"]
        if is_on_its_way:
            await lane.start()
            state.turn_use = TurnUse(lane, is_acquired=False, address=None, start_again=None, may_send=lambda: True)
        asked.set()
        await asyncio.Event().wait()

    requests = object.__new__(PageRequests)
    requests._crawler = SimpleNamespace(engine=SimpleNamespace(download_async=download_async))
    requests._visit, requests._worker = None, SimpleNamespace(turns=object.__new__(Turns))
    page_request = PageRequest("http://a.test/data", "GET", (), b"", "XHR", is_page=False)
    sending = asyncio.ensure_future(requests._download_on(page_request, lane))
    await asked.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert lane.idle
