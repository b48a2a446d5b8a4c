"""A wire between workers and a server that can be watched, cut, and made to kill a worker at a chosen byte."""

from __future__ import annotations

import asyncio
import contextlib
import threading

CHUNK_BYTES = 65_536
ACCEPTING_TURNS = (
    5  # of the event loop, within which a connection that was just accepted is known, and an aborted one closed
)


class Wire:
    """Forwards TCP connections from a port of its own to another one on loopback, in a thread.

    Attributes:
        port: Where workers find the server.
        url: The same, where the server is Redis.
        on_call: Called with (data, connection number) before data of a worker goes on; returns what goes on, or None
            to swallow it.
        on_answer: Likewise for data that goes back.
    """

    def __init__(self, target_port):
        self._target_port = target_port
        self._loop = asyncio.new_event_loop()
        self._whole = asyncio.Event()
        self._numbers = 0
        self._writers = set()  # of all connections, on both sides
        self.on_call = self.on_answer = lambda data, _number: data
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()

    def cut(self):
        """Lets nothing through from now on; connections stay open, as when a cable is pulled."""
        self._loop.call_soon_threadsafe(self._whole.clear)

    def refuse(self):
        """Ends all connections and refuses new ones from now on, as when the server's process is gone."""
        asyncio.run_coroutine_threadsafe(self._refuse(), self._loop).result()

    def mend(self):
        """Lets everything through again, what has waited first."""
        asyncio.run_coroutine_threadsafe(self._mend(), self._loop).result()

    def close(self):
        """Ends the thread and all connections."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def _run(self, started):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(started))
        self._loop.close()

    async def _serve(self, started):
        self._whole.set()
        self._ended = asyncio.Event()
        self._tasks = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        started.set()
        await self._ended.wait()
        await self._refuse()

    async def _refuse(self):
        self._server.close()
        for _ in range(ACCEPTING_TURNS):
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for writer in self._writers:
                writer.transport.abort()  # what waits to be sent keeps a closed one open
            self._writers.clear()
            await asyncio.sleep(0)

    async def _mend(self):
        self._whole.set()
        if not self._server.is_serving():
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    async def _connected(self, reader, writer):
        self._numbers += 1
        number = self._numbers
        self._tasks.add(asyncio.current_task())
        self._writers.add(writer)
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.CancelledError):
            await self._whole.wait()
            there, back = await asyncio.open_connection("127.0.0.1", self._target_port)
            self._writers.add(back)
            with contextlib.closing(back):
                calls = asyncio.create_task(self._pass_on(reader, back, lambda data: self.on_call(data, number)))
                answers = asyncio.create_task(self._pass_on(there, writer, lambda data: self.on_answer(data, number)))
                try:
                    await asyncio.wait({calls, answers}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in (calls, answers):
                        task.cancel()
                    await asyncio.gather(calls, answers, return_exceptions=True)
        self._writers = {one for one in self._writers if one.transport.get_write_buffer_size() or not one.is_closing()}
        self._tasks.discard(asyncio.current_task())

    async def _pass_on(self, reader, writer, look):
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._whole.wait()
                data = look(data)
                if data:
                    writer.write(data)
                    await writer.drain()
