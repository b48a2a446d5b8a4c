"""Many hosts on a few addresses, served by one process, which logs when each request began and ended.

A host is an address with a port. A request says in its query what the response is to be:

    /page/N?image=URL&image=URL   a page that shows these images
    /page/N?kib=K                 a heavy page: K KiB of markup beside its text
    /list?onto=HOST&q=Q&page=N    a search page whose LINKS results are pages of that host
    /image/N                      an image
    /go?to=URL                    a redirect
    /slow?s=S                     a page, after S seconds
    /answer?status=N&retry=TEXT   a status, with Retry-After where `retry` is given
    /robots.txt                   404, or what `robots.json` says: {HOST: {"to": URL}}, {HOST: {"status": N, ...}}

Each response takes ANSWER_SECONDS, so that the log shows which requests were in progress at once.

Run: python -m testbed.servers.many_hosts FOLDER ADDRESSES PORTS
"""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import parse_qs, urlsplit

from testbed.servers.process import Server

ANSWER_SECONDS = 0.02  # unless the query says otherwise
LINKS = 4  # on a search page
REASONS = {200: "OK", 302: "Found", 404: "Not Found"}
Response = tuple[int, dict[str, str], bytes]  # status, headers, body
TEXT = "Some words of a page, one after the other. " * 5
MARKUP = f'<div class="box"><p>{TEXT * 4}</p></div>\n'


@dataclass(frozen=True, slots=True)
class Hit:
    """A request in the log; its times are in seconds by this machine's monotonic clock."""

    host: str
    target: str
    start: float
    end: float
    agent: str

    @property
    def path(self) -> str:
        """The path, without the query."""
        return self.target.partition("?")[0]


class ManyHosts(Server):
    """The process that serves all the hosts.

    Args:
        folder: The logs, and the files by which the two processes speak, go to a folder `many-hosts` in it.
        addresses: How many there are, from 127.0.0.1 on.
        ports: How many hosts each address has.
    """

    def __init__(self, folder: Path, addresses: int = 1, ports: int = 1) -> None:
        own = folder / "many-hosts"
        command = [sys.executable, "-m", __spec__.name, str(own), str(addresses), str(ports)]
        super().__init__("many-hosts", command, own)

    @property
    def hosts(self) -> list[str]:
        """`ADDRESS:PORT` of each host, address by address."""
        hosts: list[str] = json.loads((self.folder / "hosts.json").read_text())
        return hosts

    def start(self) -> None:
        """Starts it, on other ports each time, and waits until all hosts listen."""
        (self.folder / "hosts.json").unlink(missing_ok=True)
        super().start()

    def robots(self, answers: dict[str, dict[str, Any]]) -> None:
        """Sets what hosts answer for robots.txt: by host, `{"to": URL}` or `{"status": N, "retry": TEXT}`."""
        (self.folder / "robots.json").write_text(json.dumps(answers))

    def hits(self, host: str = "") -> list[Hit]:
        """Returns all requests, or those to one host, in the order they began."""
        lines = (self.folder / "hits.tsv").read_text().splitlines()
        hits = [
            Hit(asked, target, float(start), float(end), agent)
            for asked, target, start, end, agent in (line.split("\t") for line in lines)
            if asked == (host or asked)
        ]
        return sorted(hits, key=lambda hit: hit.start)

    def _answers(self) -> bool:
        return (self.folder / "hosts.json").exists()


class Host(asyncio.Protocol):
    """A client's connection to one host: HTTP/1.1, without bodies in requests and without pipelining.

    Args:
        name: The host's.
        log: Gets a line for each request.
        robots: The file that says what hosts answer for robots.txt.
    """

    transport: asyncio.Transport

    def __init__(self, name: str, log: TextIO, robots: Path) -> None:
        self.name = name
        self.log = log
        self.robots = robots
        self.buffer = b""
        self.answering: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the connection, which responses are written to."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Begins to answer as soon as a request's head is complete."""
        self.buffer += data
        if b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.answering = asyncio.ensure_future(self.answer(head.decode("latin-1"), time.monotonic()))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the name is the protocol's
        """Gives up a response that nobody waits for; the log has its request all the same."""
        if self.answering is not None:
            self.answering.cancel()

    async def answer(self, head: str, start: float) -> None:
        """Answers a request and logs it."""
        target = head.split(" ", 2)[1]
        agent = next((line[12:] for line in head.split("\r\n") if line.lower().startswith("user-agent: ")), "")
        split = urlsplit(target)
        query: dict[str, Any] = {
            name: values if name == "image" else values[0] for name, values in parse_qs(split.query).items()
        }
        try:
            await asyncio.sleep(float(query.get("s", ANSWER_SECONDS)))
            status, headers, body = self._response(split.path, query)
            headers |= {"Content-Length": str(len(body))}
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self.transport.write(f"HTTP/1.1 {status} {REASONS.get(status, 'No')}\r\n{lines}\r\n".encode() + body)
        finally:  # also when the client has gone
            self.log.write(f"{self.name}\t{target}\t{start:.6f}\t{time.monotonic():.6f}\t{agent}\n")

    def _response(self, path: str, query: dict[str, Any]) -> Response:
        if path == "/robots.txt":
            answers = json.loads(self.robots.read_text()) if self.robots.exists() else {}
            query = answers.get(self.name, {"status": 404})
        if "to" in query:
            return 302, {"Location": query["to"]}, b""
        if "status" in query:
            retry = {"Retry-After": query["retry"]} if "retry" in query else {}
            return int(query["status"]), retry, b""
        if path.startswith("/image/"):
            return 200, {"Content-Type": "image/png"}, b"\x89PNG" + path.encode() + self.name.encode()
        images = "".join(f'<img src="{url}">' for url in query.get("image", ()))
        heavy = MARKUP * (int(query.get("kib", 0)) * 1024 // len(MARKUP))
        addresses = [
            f"http://{query['onto']}/page/{query['q']}-{query['page']}-{n}" for n in range(LINKS * ("onto" in query))
        ]
        links = "".join(f'<a class="result" href="{url}">result</a>' for url in addresses)
        html = f"<html><title>{path}</title><article>{TEXT}</article>{images}{links}{heavy}</html>"
        return 200, {"Content-Type": "text/html"}, html.encode()


async def serve(folder: Path, addresses: int, ports: int) -> None:
    """Listens for all hosts, writes their names to `hosts.json`, and answers until the process is killed."""
    loop, robots = asyncio.get_running_loop(), folder / "robots.json"
    log = (folder / "hits.tsv").open("a", buffering=1)  # line by line, because it is read meanwhile
    hosts: list[str] = []
    for number in range(1, addresses + 1):
        for _ in range(ports):
            listening = socket.create_server((f"127.0.0.{number}", 0))
            name = "{}:{}".format(*listening.getsockname())
            await loop.create_server(functools.partial(Host, name, log, robots), sock=listening)
            hosts.append(name)
    half = folder / "hosts.half"
    half.write_text(json.dumps(hosts))
    half.rename(folder / "hosts.json")  # whole at once, because the other process waits for the file
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
