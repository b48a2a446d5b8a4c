"""HTTP/2 on the wire: pages, connections that are shared, and servers that refuse a stream."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hostile import hostile_wire_http2 as http2
from hostile.hostile_wire_bodies import PAGE

from crawler.base.errors import AnswerError

REFUSALS = {
    "refused": lambda stream: http2.reset(stream, http2.REFUSED_STREAM),
    "HTTP/1.1 required": lambda stream: http2.reset(stream, http2.HTTP_1_1_REQUIRED),
    "going away": lambda _stream: http2.goaway(0),
}


@pytest.fixture
def serve(authority):
    """Opens hosts that end with the test."""
    with contextlib.ExitStack() as hosts:
        certificate = authority.certificate("host")
        yield lambda script: hosts.enter_context(contextlib.closing(http2.Http2Host(script, certificate)))


async def test_pages_come_over_one_connection(serve, get):
    host = serve(lambda number, stream: http2.page(stream, PAGE + b"%d" % number, ((b"x-custom", b"1"),)))
    responses = [await get(host.page) for _ in range(3)]
    responses += await asyncio.gather(*(get(host.page) for _ in range(5)))
    assert sorted(response.body for response in responses) == [PAGE + b"%d" % number for number in range(8)]
    assert {(response.status, response.protocol) for response in responses} == {(200, "HTTP/2")}
    assert responses[0].headers == {b"X-Custom": [b"1"]}
    assert (host.protocols, host.connections) == (["HTTP/2"] * 8, 1)


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_refused_request_is_sent_once_more_in_http_1_1(serve, get, refusal):
    host = serve(lambda _number, stream: refusal(stream))
    response = await get(host.page)
    assert (response.body, response.protocol) == (PAGE, "HTTP/1.1")
    assert host.protocols == ["HTTP/2", "HTTP/1.1"]
    assert get.handler.crawler.stats.get_value("download/sent_again") == 1
    assert (await get(host.page)).body == PAGE
    assert host.protocols[2:] == ["HTTP/1.1"]  # the host is remembered


async def test_a_stream_that_is_refused_now_and_then_costs_the_host_no_http2(serve, get):
    host = serve(lambda number, stream: http2.page(stream) if number != 1 else REFUSALS["refused"](stream))
    for _ in range(4):
        assert (await get(host.page)).body == PAGE
    assert host.protocols == ["HTTP/2", "HTTP/2", "HTTP/1.1", "HTTP/2", "HTTP/2"]


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_what_is_refused_again_fails_as_a_connection(serve, get, method, monkeypatch):
    host = serve(lambda _number, stream: REFUSALS["refused"](stream))
    host._serve_http1 = lambda *_: None  # it ends the connection
    with pytest.raises(AnswerError) as caught:
        await get(host.page, method=method)
    assert caught.value.reason == "connection"
    assert len(host.asked) == 1
