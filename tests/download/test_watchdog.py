"""Nobody holds the event loop for long."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from hostile.hostile_wire_bodies import forever

from crawler.base.errors import AnswerError


async def test_a_handshake_without_end_holds_nobody_up_for_long(get, serve):
    hello = b"\x16\x03\x03\x40\x00" + bytes(16_384)  # 4,096 empty HelloRequests
    endless = serve(lambda _path: forever(hello), raw=True)
    longest, last, over = 0.0, time.thread_time(), threading.Event()

    async def beat():
        nonlocal longest, last
        while not over.is_set():
            await asyncio.sleep(0.01)
            longest, last = max(longest, time.thread_time() - last), time.thread_time()

    beating = asyncio.create_task(beat())
    with pytest.raises(AnswerError, match="connection"):
        await get(endless.page, meta={"download_timeout": 30.0})
    over.set()
    await beating
    assert longest < 3  # seconds of CPU, of which a call may take half a one
