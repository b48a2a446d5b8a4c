"""The web that the fault tests crawl: many small pages on several hosts (ports), and a log of every request.

Run as a program: `python origin.py LOG PORT [PORT ...]`. It needs nothing but the standard library.

Paths: `/page/N` is a page about N; `/slow/N` answers after SLOW_SECONDS, `/hang/N` never; `/kill/N` and `/crash/N` kill
a worker whose parser minds them; `/album/N` shows `/image/N`; `/robots.txt` is missing. Any host answers for all of
them when it is asked as a proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from pathlib import Path

SLOW_SECONDS = 0.2
FLUSH_SECONDS = 0.05
IMAGE_BYTES = 4_000
PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Page {name}</title></head><body>
<h1>Page {name}</h1><div class="text">{words}</div>{more}</body></html>"""
WORDS = "The river rose above the dam at night and people moved to the school on the hill. " * 12


class Origin(asyncio.Protocol):
    """One connection, kept alive; requests are answered one after the other."""

    def __init__(self, log):
        self._log = log
        self._rest = b""

    def connection_made(self, transport):
        self._transport = transport
        self._port = transport.get_extra_info("sockname")[1]

    def data_received(self, data):
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, _, self._rest = self._rest.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            path = self._path_of(lines[0].split(" ")[1])
            agent = next((line[12:] for line in lines if line.lower().startswith("user-agent: ")), "")
            self._log.write(f"{time.monotonic():.6f}\t{self._port}\t{agent}\t{path}\n")
            if path.startswith("/slow/"):
                asyncio.get_running_loop().call_later(SLOW_SECONDS, self._answer, path)
            elif not path.startswith("/hang/"):
                self._answer(path)

    def _path_of(self, target):
        """Returns a target's path. One in absolute form is a proxy's: then the host is the one that it names."""
        if target.startswith("http://"):
            authority, _, path = target.removeprefix("http://").partition("/")
            self._port = int(authority.rpartition(":")[2])
            return f"/{path}"
        return target

    def _answer(self, path):
        _, kind, *rest = path.split("/")
        status, headers, body = "200 OK", "Content-Type: text/html\r\n", b""
        if kind in ("page", "slow", "kill", "crash", "album"):
            more = f'<img src="/image/{rest[0]}">' if kind == "album" else ""
            body = PAGE.format(name=f"{kind}-{rest[0]}", words=WORDS, more=more).encode()
        elif kind == "image":
            headers, body = "Content-Type: image/png\r\n", f"image {rest[0]} ".encode() * (IMAGE_BYTES // 10)
        else:
            status, body = "404 Not Found", b"nothing here"
        if not self._transport.is_closing():
            self._transport.write(f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def _main(log, ports):
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    for port in ports:
        await loop.create_server(lambda: Origin(log), "127.0.0.1", port, backlog=512)
    while not ended.is_set():
        log.flush()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), FLUSH_SECONDS)


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log_file:
        asyncio.run(_main(log_file, [int(word) for word in sys.argv[2:]]))
