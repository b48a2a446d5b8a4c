"""WebSockets by the crawl's own client, against aiohttp's server."""

import asyncio

import pytest
from waiting import PATIENCE_SECONDS
from web_socket_site import served

from crawler.base.errors import AnswerError
from crawler.download import web_sockets
from crawler.download.web_sockets import WebSocketRequest, WebSocketResponse


@pytest.fixture
async def origin():
    async with served() as url:
        yield url


@pytest.fixture
async def connect(handler, origin):
    """Opens sockets that are closed behind the test."""
    opened = []
    usual = handler()

    async def connect(path="/talk"):
        headers = {"Origin": "http://page.test", "Sec-WebSocket-Protocol": "odd, chat"}
        request = WebSocketRequest(origin + path, headers=headers, meta={"download_timeout": PATIENCE_SECONDS})
        response = await usual.download_request(request)
        if isinstance(response, WebSocketResponse):
            opened.append(response.socket)
        return response

    yield connect
    for one in opened:
        one.close()


async def test_messages_go_both_ways_and_pings_are_answered(connect):
    response = await connect()
    socket = response.socket
    assert (response.status, response.headers["Sec-WebSocket-Protocol"]) == (101, b"chat")
    assert await socket.receive() == "hello http://page.test chat None"
    for message in ("a", "漢字" * 50_000, b"\0\xff" * 100_000):
        receiving = asyncio.create_task(socket.receive())
        await socket.send(message)
        assert await receiving == message
    await socket.send("end")
    assert await socket.receive() is None


async def test_a_connection_that_is_lost_ends_the_socket(connect):
    socket = (await connect()).socket
    await socket.receive()
    await socket.send("lost")
    assert await socket.receive() is None
    await socket.send("into the void")
    socket.close()
    assert await socket.receive() is None
    await socket.send("after its end")


async def test_a_server_that_does_not_agree_says_why(connect):
    response = await connect("/nowhere")
    assert (type(response) is WebSocketResponse, response.status) == (False, 404)


@pytest.mark.parametrize(("asked", "reason"), [("large", "too-large"), ("broken", "bad-response")])
async def test_a_message_that_is_too_large_or_no_text_is_an_error(connect, monkeypatch, asked, reason):
    monkeypatch.setattr(web_sockets, "MAX_MESSAGE_BYTES", 100_000)
    socket = (await connect()).socket
    await socket.receive()
    await socket.send(asked)
    with pytest.raises(AnswerError, match=reason):
        await socket.receive()
