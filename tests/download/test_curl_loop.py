"""Transfers over real sockets: each comes to its end, whatever happens to the others."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial

import pycurl
import pytest
from download.conftest import all_ended
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import HOLD, RESET
from waiting import eventually

from crawler.download.curl_loop import MULTI_FAILED, SUCCESS, CurlLoop

NOBODY_LISTENS = "http://127.0.0.1:1/"


class Handle:
    """A libcurl handle, and what it received."""

    def __init__(self, url, **options):
        self.curl = pycurl.Curl()
        self.received = []
        for option, value in {"URL": url, "WRITEFUNCTION": self.received.append, "NOSIGNAL": 1, **options}.items():
            self.curl.setopt(getattr(pycurl, option), value)


@pytest.fixture
async def curl_loop():
    made = CurlLoop()
    yield made
    made.close()


async def test_many_at_once_each_get_their_own_answer(curl_loop, serve):
    hosts = [serve(lambda path: [0.05, answer(path.encode())]) for _ in range(5)]
    handles = {f"/{n}": Handle(f"{host.url}/{n}") for n, host in zip(range(60), itertools.cycle(hosts), strict=False)}
    ends = await asyncio.gather(*(curl_loop.start(handle.curl) for handle in handles.values()))
    assert set(ends) == {SUCCESS}
    assert {path: b"".join(handle.received).decode() for path, handle in handles.items()} == {p: p for p in handles}


async def test_a_handle_may_be_used_again_and_its_connection_is():
    connections, curl_loop = [], CurlLoop()

    async def serve(reader, writer):
        connections.append(asyncio.current_task())
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        handle = Handle(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        for _ in range(3):
            assert await curl_loop.start(handle.curl) == SUCCESS
        assert handle.received == [b"x"] * 3
        curl_loop.close()
        await asyncio.gather(*connections)
    assert len(connections) == 1


async def test_errors_have_libcurls_number_and_words_and_leave_others_alone(curl_loop, serve):
    well = Handle(serve(lambda _path: [0.1, answer(b"x")]).page)
    ill = [
        (Handle(NOBODY_LISTENS), pycurl.E_COULDNT_CONNECT, "connect"),
        (Handle(serve(RESET).page), pycurl.E_RECV_ERROR, "reset"),
        (Handle(serve(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n").page), 8, "Header without colon"),
        (Handle(serve(HOLD).page, TIMEOUT_MS=100), pycurl.E_OPERATION_TIMEDOUT, "timed out"),
    ]
    first, *others = await asyncio.gather(*(curl_loop.start(one.curl) for one in [well, *(one for one, *_ in ill)]))
    assert first == SUCCESS
    for end, (_handle, code, message) in zip(others, ill, strict=True):
        assert end.code == code
        assert message in end.message


async def test_a_transfer_that_is_stopped_ends_its_connection(curl_loop, serve):
    host = serve(lambda _path: [b"HTTP/1.1 200 OK\r\n\r\n", HOLD])
    other, handle = Handle(serve(lambda _path: [0.2, answer(b"x")]).page), Handle(host.page)
    going_on, running = curl_loop.start(other.curl), curl_loop.start(handle.curl)
    await eventually(lambda: host.asked, "the request")
    curl_loop.stop(handle.curl)
    curl_loop.stop(handle.curl)  # nothing happens
    await all_ended(host)
    assert not running.done()
    assert await going_on == SUCCESS
    handle.curl.setopt(pycurl.URL, other.curl.getinfo(pycurl.EFFECTIVE_URL))
    assert await curl_loop.start(handle.curl) == SUCCESS  # the handle is free


async def test_a_transfer_may_end_after_its_waiter_was_cancelled(curl_loop, serve):
    handle = Handle(serve(answer(b"x")).page)
    running = curl_loop.start(handle.curl)
    waiting = asyncio.create_task(asyncio.wait([running]))
    running.cancel()
    await waiting
    await eventually(lambda: not curl_loop._running, "the transfer to end all the same")
    curl_loop.stop(handle.curl)
    assert await curl_loop.start(handle.curl) == SUCCESS


async def test_closing_ends_all_transfers_and_cancels_their_waiters(serve):
    curl_loop, host = CurlLoop(), serve(HOLD)
    handles = [Handle(host.page, TIMEOUT_MS=60_000) for _ in range(5)]
    waiting = [asyncio.ensure_future(curl_loop.start(handle.curl)) for handle in handles]
    await eventually(lambda: len(host.asked) == 5, "the requests")
    curl_loop.close()
    assert all(
        isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*waiting, return_exceptions=True)
    )
    await all_ended(host)
    for handle in handles:
        curl_loop.stop(handle.curl)  # as their owners will
        handle.curl.close()


async def test_when_libcurl_itself_fails_nobody_waits_for_ever(curl_loop, serve, monkeypatch):
    class Failing:
        def __init__(self, multi):
            self._multi = multi

        def __getattr__(self, name):
            return getattr(self._multi, name)

        def socket_action(self, *_):
            raise pycurl.error(1, "failed")

    handles = [Handle(serve(answer(b"x")).page) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(curl_loop, "_multi", Failing(curl_loop._multi))
        ends = await asyncio.gather(*(curl_loop.start(handle.curl) for handle in handles))
    assert ends == [MULTI_FAILED] * 3
    assert await curl_loop.start(handles[0].curl) == SUCCESS


async def test_connect_only_leaves_a_connection_open_until_it_is_stopped(curl_loop):
    async def serve(reader, writer):
        sent.append(await reader.readexactly(3))
        writer.write(b"back")
        sent.append(await reader.read())
        writer.close()
        ended.set()

    sent, ended, ready = [], asyncio.Event(), asyncio.Event()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        handle = Handle(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", CONNECT_ONLY=1)
        assert await curl_loop.start(handle.curl, connect_only=True) == SUCCESS
        connected = handle.curl.getinfo(pycurl.ACTIVESOCKET)
        assert curl_loop.guarded(connected, partial(handle.curl.send, b"out")) == 3
        asyncio.get_running_loop().add_reader(connected, ready.set)
        await ready.wait()
        asyncio.get_running_loop().remove_reader(connected)
        assert curl_loop.guarded(connected, partial(handle.curl.recv, 100)) == b"back"
        curl_loop.stop(handle.curl)
        await ended.wait()
    assert sent == [b"out", b""]


async def test_connect_only_may_fail(curl_loop):
    handle = Handle(NOBODY_LISTENS, CONNECT_ONLY=1)
    assert (await curl_loop.start(handle.curl, connect_only=True)).code == pycurl.E_COULDNT_CONNECT
    curl_loop.stop(handle.curl)
