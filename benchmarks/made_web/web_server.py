"""Serves a made web, all of its hosts by one process, and logs when each page was asked for.

python -m benchmarks.made_web.web_server FOLDER NETWORK PORT PAGES
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from benchmarks.made_web.web import MadeWeb
from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

NETWORK = "127.0.4"  # of loopback, all of which answers one socket
HEAD = "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\r\n"


class WebServer(Server):
    """The process.

    Args:
        pages: How many each host has.
    """

    def __init__(self, folder: Path, pages: int) -> None:
        self.web = MadeWeb(NETWORK, free_port(), pages)
        own = folder / "web"
        command = [sys.executable, "-m", __spec__.name, str(own), NETWORK, str(self.web.port), str(pages)]
        super().__init__("web", command, own)

    def asked(self) -> Iterator[tuple[float, str]]:
        """Yields, for each page that was asked for, the seconds of this machine's clock and the host, in order."""
        for line in (self.folder / "asked.log").read_text().splitlines():
            at_s, host = line.split(" ")
            yield float(at_s), host

    def count(self) -> int:
        """Returns how many pages were asked for."""
        return (self.folder / "asked.log").read_bytes().count(b"\n")

    def _answers(self) -> bool:
        return answers_http(self.web.port, "/")


class Connection(asyncio.Protocol):
    """Answers the requests that come over a connection, one after the other."""

    def __init__(self, web: MadeWeb, log: TextIO) -> None:
        self._web, self._log, self._received = web, log, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remembers the way back, and which host is asked."""
        self._transport = cast("asyncio.Transport", transport)
        self._host: str = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        """Answers what has come as a whole."""
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._answer(head.split(b" ", 2)[1].decode())

    def _answer(self, path: str) -> None:
        name = path.strip("/").removesuffix(".html")
        content = b""
        if name.isdecimal():
            self._log.write(f"{time.monotonic():.4f} {self._host}\n")
            content = self._web.content(int(self._host.rpartition(".")[2]) - 1, int(name))
        status = "200 OK" if content else "404 Not Found"
        self._transport.write(HEAD.format(status=status, length=len(content)).encode() + content)


async def serve(folder: Path, web: MadeWeb) -> None:
    """Serves a web until the process is ended."""
    with (folder / "asked.log").open("w", buffering=1) as log:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(web, log), "0.0.0.0", web.port)  # noqa: S104 -- all of loopback
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), MadeWeb(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
