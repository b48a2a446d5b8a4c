"""A network of one's own, in which every address there is leads to one web server.

Run, in a new network namespace: python own_network.py FOLDER COMMAND... [-- COMMAND...]...

The commands run at the same time, in a network where the whole of IPv4 and IPv6 is routed to this process: a private
address really listens and would log a connection, a public one is a site, and nothing leaves the machine.
`FOLDER/dns.json` says what the name server answers: for each name and record type, the answers to the first, second ...
question; the last one stays. `FOLDER/log.jsonl` gets a line for each connection, request and question. The exit status
is the first of the commands' that isn't 0.
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PORT = 80
ARTICLE = "<article><p>" + "Some words of a page that is long enough. " * 30 + "</p></article>"
TYPES = {1: "A", 28: "AAAA"}
NO_SUCH_NAME = 3


class Log:
    """Lines of JSON, from many threads."""

    def __init__(self, path):
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, **fields):
        with self._lock:
            self._file.write(json.dumps(fields) + "\n")
            self._file.flush()


class Site(BaseHTTPRequestHandler):
    """Answers for every host. `pages.json` maps paths to HTML; `/to?u=URL` redirects, `/robots.txt` by its host."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server, url = self.server, urlsplit(self.path)
        host = url.netloc or self.headers.get("Host", "")
        server.log.write(request=self.path, host=host, at=address_of(self.connection))
        if url.path == "/robots.txt":
            target = server.robots.get(host)
            self.answer(302, location=target) if target else self.answer(404)
        elif url.path == "/to":
            self.answer(302, location=parse_qs(url.query)["u"][0])
        elif url.path == "/image.png":
            self.answer(200, b"\x89PNG" + b"x" * 100, kind="image/png")
        else:
            html = server.pages.get(url.path, f"<title>T</title>{ARTICLE}")
            self.answer(
                200, f"<!doctype html><html><body>{html}</body></html>".encode(), kind="text/html; charset=utf-8"
            )

    def answer(self, status, body=b"", kind="text/plain", location=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # so that every request needs an address
        if location is not None:
            self.send_header("Location", location.encode().decode("latin-1"))  # UTF-8 on the wire
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        """Says nothing."""


class Web(ThreadingHTTPServer):
    """Listens on every address."""

    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, log, folder):
        super().__init__(("::", PORT), Site)
        self.log = log
        self.pages = read(folder / "pages.json")
        self.robots = read(folder / "robots.json")

    def get_request(self):
        connection, client = super().get_request()
        self.log.write(connection=address_of(connection))
        return connection, client

    def handle_error(self, *_):
        """Says nothing: clients that go away are part of the tests."""


def address_of(connection):
    """Returns the address that the client dialled."""
    address = ipaddress.IPv6Address(connection.getsockname()[0])
    return str(address.ipv4_mapped or address)


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def serve_dns(address, zone, log, asked):
    """Answers questions for addresses, on the address that this machine's resolv.conf names."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family, socket.SOCK_DGRAM)
    server.bind((address, 53))

    def run():
        while True:
            query, client = server.recvfrom(4_096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
                at += 1 + query[at]
            name, kind = ".".join(labels).lower(), TYPES.get(struct.unpack("!H", query[at + 1 : at + 3])[0], "")
            answers = zone.get(name, {}).get(kind, [[]])
            found = answers[min(asked[name, kind], len(answers) - 1)]
            asked[name, kind] += 1
            log.write(question=name, kind=kind, answer=found)
            records = b""
            for one in found:
                packed = ipaddress.ip_address(one).packed
                records += b"\xc0\x0c" + query[at + 1 : at + 5] + struct.pack("!IH", 0, len(packed)) + packed
            flags = 0x8180 | (0 if name in zone else NO_SUCH_NAME)
            header = query[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0)
            server.sendto(header + query[12 : at + 5] + records, client)

    threading.Thread(target=run, daemon=True).start()


def main():
    folder = Path(sys.argv[1])
    commands = [list(words) for begins, words in groupby(sys.argv[2:], "--".__eq__) if not begins]
    for words in (
        ["link", "set", "lo", "up"],
        ["route", "add", "local", "0.0.0.0/0", "dev", "lo"],
        ["-6", "route", "add", "local", "::/0", "dev", "lo"],
    ):
        subprocess.run(["ip", *words], check=True)
    log = Log(folder / "log.jsonl")
    zone, asked = read(folder / "dns.json"), Counter()
    resolvers = re.findall(r"^nameserver\s+([0-9a-fA-F.:]+)", Path("/etc/resolv.conf").read_text(), re.MULTILINE)
    for address in set(resolvers) or {"127.0.0.1"}:
        serve_dns(address, zone, log, asked)
    threading.Thread(target=Web(log, folder).serve_forever, daemon=True).start()
    running = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for command in commands]
    sys.exit(max((abs(one.wait()) for one in running), default=0))


if __name__ == "__main__":
    main()
