"""What a rendered page asks for: a request that is cut off on its way leaves nothing in use."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from crawler.download.page_requests import PageRequests
from crawler.worker.turns.lanes import Lane
from crawler.worker.claiming.request_state import RequestState


async def test_a_request_that_is_cut_off_on_its_way_frees_its_turns():
    lane, address, released = Lane("a.test", 1, 0, 0.0), Lane("@127.0.0.1", 2, 0, 0.0), []
    await lane.start()
    state = RequestState(visit=None, lane=lane, address=address, in_flight=True)
    requests = SimpleNamespace(_worker=SimpleNamespace(turns=SimpleNamespace(release=released.append)))
    PageRequests._free_turns(requests, state)
    assert (lane.idle, state.in_flight, state.address, released) == (True, False, None, [address])
    PageRequests._free_turns(requests, state)  # what a middleware has ended is left
    assert released == [address]


@pytest.mark.parametrize("is_on_its_way", [True, False])
async def test_a_cancelled_request_has_its_turns_freed(monkeypatch, is_on_its_way):
    lane = Lane("a.test", 1, 0, 0.0)
    asked = asyncio.Event()

    async def download_async(request):
        state = request.meta["headroom"]
        if is_on_its_way:
            await state.lane.start()
            state.in_flight = True
        asked.set()
        await asyncio.Event().wait()

    requests = object.__new__(PageRequests)
    requests._crawler = SimpleNamespace(engine=SimpleNamespace(download_async=download_async))
    requests._visit, requests._worker = None, None
    page_request = SimpleNamespace(
        url="http://a.test/data", kind="XHR", method="GET", headers=(), body=b"", fragment=""
    )
    monkeypatch.setattr("crawler.download.page_requests.sent_headers", lambda _asked: {})
    sending = asyncio.ensure_future(requests._download_on(page_request, lane))
    await asked.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert lane.idle
