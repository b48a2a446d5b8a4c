"""A proxy that delays what passes, each way: `delay.py PORT TARGET_PORT ONE_WAY_MS`. For a Redis that is far away.

What comes is read at once and sent on when its time has come, so the delay bounds no throughput.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

CHUNK_BYTES = 1 << 18


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Passes one direction on until it ends, then closes the other side's."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def send() -> None:
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                return
            writer.write(data)
            await writer.drain()

    sender = asyncio.create_task(send())
    with contextlib.suppress(OSError):
        data = b"-"
        while data:
            data = await reader.read(CHUNK_BYTES)
            waiting.put_nowait((loop.time() + delay_s, data))
        await sender
    sender.cancel()
    writer.close()


async def serve(port: int, target: int, delay_s: float) -> None:
    """Serves until it is killed."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pass_on(reader, far_writer, delay_s), pass_on(far_reader, writer, delay_s))

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000))
