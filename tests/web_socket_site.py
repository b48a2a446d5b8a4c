"""A site with WebSockets, by aiohttp's server: at `/talk` one that greets and does what it is told."""

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web


@asynccontextmanager
async def served(answers=None):
    """Gives the site's origin.

    Args:
        answers: Its other answers by path: Content-Type and text.
    """
    app = web.Application()
    app.router.add_get("/talk", _talk)
    app.router.add_get("/kept", _talk)
    for path, (kind, text) in (answers or {}).items():
        app.router.add_get(path, _answering(kind, text))
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def served_in_a_thread(answers):
    """Gives the origin of the same site, for tests without an event loop."""
    known, ends = threading.Event(), []

    async def serve():
        ended = asyncio.Event()
        async with served(answers) as origin:
            ends.extend([origin, asyncio.get_running_loop(), ended])
            known.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert known.wait(10)
        origin, loop, ended = ends
        yield origin
        loop.call_soon_threadsafe(ended.set)
    finally:
        thread.join(10)


def _answering(kind, text):
    async def answer(_request):
        return web.Response(text=text, content_type=kind)

    return answer


async def _talk(request):
    socket = web.WebSocketResponse(protocols=["chat"])
    await socket.prepare(request)
    await socket.send_str(f"hello {request.headers['Origin']} {socket.ws_protocol} {request.headers.get('Cookie')}")
    await socket.ping()
    async for message in socket:
        if message.data == "end":
            await socket.close()
        elif message.data == "large":
            await socket.send_str("é" * 200_000)
        elif message.data == "broken":
            await socket._writer.send_frame(b"\xff\xfe", 1)
        elif message.data == "lost":
            request.transport.abort()
        elif message.type == web.WSMsgType.TEXT:
            await socket.send_str(message.data)
        else:
            await socket.send_bytes(message.data)
    return socket
