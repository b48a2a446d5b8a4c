"""Transfers over real sockets: each comes to its end, whatever happens to the others."""

from __future__ import annotations

import asyncio

import pycurl
import pytest
from download.conftest import all_ended
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import HOLD
from waiting import eventually

from crawler.download.curl_loop import MULTI_FAILED, SUCCESS, CurlLoop


def handle_of(url, **options):
    """Returns a libcurl handle that throws away what it receives."""
    curl = pycurl.Curl()
    for option, value in {"URL": url, "WRITEFUNCTION": lambda _data: None, "NOSIGNAL": 1, **options}.items():
        curl.setopt(getattr(pycurl, option), value)
    return curl


@pytest.fixture
async def curl_loop():
    made = CurlLoop()
    yield made
    made.close()


async def test_a_transfer_that_is_stopped_ends_its_connection(curl_loop, serve):
    host = serve(lambda _path: [b"HTTP/1.1 200 OK\r\n\r\n", HOLD])
    other, handle = handle_of(serve(lambda _path: [0.2, answer(b"x")]).page), handle_of(host.page)
    going_on, running = curl_loop.start(other), curl_loop.start(handle)
    await eventually(lambda: host.asked, "the request")
    curl_loop.stop(handle)
    curl_loop.stop(handle)  # nothing happens
    await all_ended(host)
    assert not running.done()
    assert await going_on == SUCCESS
    handle.setopt(pycurl.URL, other.getinfo(pycurl.EFFECTIVE_URL))
    assert await curl_loop.start(handle) == SUCCESS  # the handle is free


async def test_closing_ends_all_transfers_and_cancels_their_waiters(serve):
    curl_loop, host = CurlLoop(), serve(HOLD)
    handles = [handle_of(host.page, TIMEOUT_MS=60_000) for _ in range(5)]
    waiting = [asyncio.ensure_future(curl_loop.start(handle)) for handle in handles]
    await eventually(lambda: len(host.asked) == 5, "the requests")
    curl_loop.close()
    assert all(
        isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*waiting, return_exceptions=True)
    )
    await all_ended(host)
    for handle in handles:
        curl_loop.stop(handle)  # as their owners will
        handle.close()


async def test_when_libcurl_itself_fails_nobody_waits_for_ever(curl_loop, serve, monkeypatch):
    class Failing:
        def __init__(self, multi):
            self._multi = multi

        def __getattr__(self, name):
            return getattr(self._multi, name)

        def socket_action(self, *_):
            raise pycurl.error(1, "failed")

    handles = [handle_of(serve(answer(b"x")).page) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(curl_loop, "_multi", Failing(curl_loop._multi))
        ends = await asyncio.gather(*(curl_loop.start(handle) for handle in handles))
    assert ends == [MULTI_FAILED] * 3
    assert await curl_loop.start(handles[0]) == SUCCESS
