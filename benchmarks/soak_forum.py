"""The web that the soak crawls: an endless forum on several hosts, most of it well, some of it failing for a while.

What a page holds follows from its number alone, so the truth needs no record. How often a page fails before it answers
well follows from the soak's seed and its path: less often than MAX_ATTEMPTS, so every good page must come out.

    /search?q=WORD&page=N   links to LINKS threads, which belong to the word, and to a page that robots.txt disallows
    /thread/N               a page with title, author, date, text and an image
    /moved/N                where some threads redirect to
    /image/N                its image
    /private/N              disallowed

Run: python benchmarks/soak_forum.py LOG SEED FAULTY PORT ...
"""

from __future__ import annotations

import asyncio
import functools
import random
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import parse_qs, urlsplit

from testbed.servers.process import Server, free_port

if TYPE_CHECKING:
    from collections.abc import Callable

LINKS = 8  # on a search page
ANSWER_SECONDS = 0.02
SLOW_SECONDS = 1.5  # shorter than a session
FAULTS_MAX = 2  # of a page: with MAX_ATTEMPTS of 4 it is delivered all the same
FAULTY = 0.15  # of the pages fail once or twice, unless a benchmark says otherwise
FAULTS = ("500", "429", "503", "reset", "truncated", "slow")
REASONS = {200: "OK", 301: "Moved Permanently", 404: "Not Found", 429: "Too Many Requests", 500: "Error", 503: "Busy"}
CRAWL_DELAY_SECONDS = 1
SLOW_ONE_IN = 30  # threads is on the host with a Crawl-delay
HTML = {"Content-Type": "text/html"}
TEXT = "The river rose above the dam at night and people moved to the school on the hill. "
PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head><body><h1>{title}</h1>
<span class="author">{author}</span><time>{published}</time><div class="text">{content}</div>
<img src="/image/{number}"></body></html>"""


def thread_numbers(word: str, page: int) -> list[int]:
    """Returns the threads that a search page of a word shows."""
    start = random.Random(word).randrange(10**9) * 1_000 + page * LINKS
    return list(range(start, start + LINKS))


def fate(number: int) -> str:
    """Returns what becomes of a thread's page: `good`, `moved` (good, elsewhere), `gone` or `empty`."""
    return random.Random(number).choices(["good", "moved", "gone", "empty"], [93, 3, 3, 1])[0]


def truth(number: int) -> dict[str, str]:
    """Returns the fields of a good thread."""
    chance = random.Random(number + 1)
    return {
        "title": f"Thread {number}",
        "author": f"Author {chance.randrange(1_000)}",
        "published": f"2026-{chance.randrange(1, 11):02}-{chance.randrange(1, 28):02}T12:00:00+00:00",
        "content": f"Thread {number}. " + TEXT * chance.randrange(3, 12),
    }


class SoakForum(Server):
    """The process that serves it.

    Args:
        folder: The log goes to a folder `forum` in it.
        seed: Chooses the faults.
        hosts: How many; the last of them asks for a Crawl-delay.
        faulty: The share of the pages that fail, 0 to 1.
    """

    def __init__(self, folder: Path, seed: int, hosts: int, faulty: float = FAULTY) -> None:
        self.ports = [free_port() for _ in range(hosts)]
        self.log_file = folder / "forum" / "requests.tsv"
        command = [sys.executable, __file__, str(self.log_file), str(seed), str(faulty), *map(str, self.ports)]
        super().__init__("forum", command, folder / "forum")

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.ports[-1]), 1).close()
        except OSError:
            return False
        return True


class Host(asyncio.Protocol):
    """A client's connection to one host; requests are answered one after the other."""

    def __init__(self, port: int, forum: Forum) -> None:
        self.port, self.forum, self.buffer = port, forum, b""
        self.answering: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the connection."""
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        """Begins to answer as soon as a request's head is complete."""
        self.buffer += data
        if b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.answering = asyncio.ensure_future(self.forum.answer(self, head.decode("latin-1")))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the name is the protocol's
        """Gives up a response that nobody waits for."""
        if self.answering is not None:
            self.answering.cancel()


class Forum:
    """All hosts, and how often each of their pages has failed."""

    def __init__(self, seed: int, faulty: float, ports: list[int], log: TextIO) -> None:
        self.seed, self.faulty, self.ports, self.log = seed, faulty, ports, log
        self.failed: dict[tuple[int, str], int] = {}

    async def answer(self, host: Host, head: str) -> None:
        """Answers a request and logs it: host, path, start, end, worker, and what fault was injected."""
        start, target = time.time(), head.split(" ", 2)[1]
        agent = next((line[12:] for line in head.split("\r\n") if line.lower().startswith("user-agent: ")), "")
        fault = self._fault(host.port, target)
        try:
            await asyncio.sleep(SLOW_SECONDS if fault == "slow" else ANSWER_SECONDS)
            if not host.transport.is_closing():
                self._send(host, target, fault)
        finally:
            self.log.write(f"{host.port}\t{target}\t{start:.4f}\t{time.time():.4f}\t{agent}\t{fault}\n")

    def _fault(self, port: int, target: str) -> str:
        """Returns how this request fails; empty when it doesn't."""
        target = target.replace("/moved/", "/thread/")  # both are asked in one try of the page
        chance = random.Random(f"{self.seed} {port} {target}")
        number = self.failed.get((port, target), 0)
        if target == "/robots.txt" or chance.random() > self.faulty or number >= chance.randint(1, FAULTS_MAX):
            return ""
        self.failed[port, target] = number + 1
        return random.Random(f"{self.seed} {port} {target} {number}").choice(FAULTS)

    def _send(self, host: Host, target: str, fault: str) -> None:
        if fault == "reset":
            host.transport.abort()
            return
        status, headers, body = self._response(host.port, target)
        if fault in ("500", "429", "503"):
            status, body = int(fault), b""
            headers = {} if fault == "500" else {"Retry-After": "1"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode()
        if fault == "truncated":
            host.transport.write(head + body[: len(body) // 2])
            host.transport.close()
            return
        host.transport.write(head + body)

    def _response(self, port: int, target: str) -> tuple[int, dict[str, str], bytes]:
        split = urlsplit(target)
        kind, _, rest = split.path.removeprefix("/").partition("/")
        if kind == "robots.txt":
            delay = f"Crawl-delay: {CRAWL_DELAY_SECONDS}\n" if port == self.ports[-1] else ""
            return 200, {"Content-Type": "text/plain"}, f"User-agent: *\n{delay}Disallow: /private/\n".encode()
        if kind == "search":
            query = parse_qs(split.query)
            return 200, HTML, self._search(query["q"][0], int(query["page"][0])).encode()
        if kind == "image":
            return 200, {"Content-Type": "image/png"}, b"\x89PNG" + rest.encode() * 20
        return self._thread(kind, int(rest)) if kind in ("thread", "moved") else (404, HTML, b"")

    @staticmethod
    def _thread(kind: str, number: int) -> tuple[int, dict[str, str], bytes]:
        become = fate(number)
        if kind == "thread" and become == "moved":
            return 301, {"Location": f"/moved/{number}"}, b""
        if become == "gone":
            return 404, HTML, b"nothing here"
        if become == "empty":
            return 200, HTML, b"<html><h1>Please wait</h1></html>"
        return 200, HTML, PAGE.format(number=number, **truth(number)).encode()

    def _search(self, word: str, page: int) -> str:
        links = [thread_url(self.ports, number) for number in thread_numbers(word, page)]
        links.append(f"http://127.0.0.1:{self.ports[0]}/private/{page}")
        return "<html>" + "".join(f'<a class="result" href="{link}">result</a>' for link in links) + "</html>"


def thread_url(ports: list[int], number: int) -> str:
    """Returns a thread's address. The first host is for searches; the last one, with a Crawl-delay, has few threads."""
    port = ports[-1] if number % SLOW_ONE_IN == 0 else ports[1 + number % (len(ports) - 2)]
    return f"http://127.0.0.1:{port}/thread/{number}"


async def serve(log_file: Path, seed: int, faulty: float, ports: list[int]) -> None:
    """Listens on all hosts until the process is killed."""
    with log_file.open("a", buffering=1, encoding="utf-8") as log:
        forum = Forum(seed, faulty, ports, log)
        for port in ports:
            await asyncio.get_running_loop().create_server(
                functools.partial(Host, port, forum), "127.0.0.1", port, backlog=512
            )
        await asyncio.Event().wait()


def read_requests(log_file: Path) -> list[dict[str, Any]]:
    """Returns the requests of a log, in the order in which they began."""
    names = ("host", "path", "start", "end", "worker", "fault")
    kinds: tuple[Callable[[str], Any], ...] = (int, str, float, float, str, str)
    lines = log_file.read_text(encoding="utf-8").split("\n")[:-1]
    rows = [
        {name: kind(word) for name, kind, word in zip(names, kinds, line.split("\t"), strict=True)} for line in lines
    ]
    return sorted(rows, key=lambda row: row["start"])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), [int(word) for word in sys.argv[4:]]))
