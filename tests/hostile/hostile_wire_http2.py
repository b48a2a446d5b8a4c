"""A web server that speaks HTTP/2 frame by frame (RFC 9113), and HTTP/1.1 to clients that want no more.

A script is called with the number of a request, from 0, and its stream; it returns the frames to be sent, after which
the connection stays open. Requests' headers aren't read: HPACK's compression would take a library.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostile.hostile_wire_bodies import PAGE, answer
from hostile.hostile_wire_listener import Listener

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
ACK, END_STREAM, END_HEADERS = 1, 1, 4
REFUSED_STREAM, HTTP_1_1_REQUIRED = 7, 13
STATUS_200 = b"\x88"  # HPACK's static table, RFC 7541, appendix A


def frame(kind, stream=0, payload=b"", flags=0):
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def page(stream, body=PAGE, headers=((b"content-type", b"text/html"),)):
    """Returns the frames of a page; headers are literals without an index, and names are in lower case."""
    block = STATUS_200 + b"".join(
        b"\x00" + bytes((len(name),)) + name + bytes((len(value),)) + value for name, value in headers
    )
    return frame(HEADERS, stream, block, END_HEADERS) + frame(DATA, stream, body, END_STREAM)


def reset(stream, error):
    return frame(RST_STREAM, stream, error.to_bytes(4, "big"))


def goaway(last_stream, error=0):
    """Returns the frame that says which stream is the last that the server has looked at."""
    return frame(GOAWAY, 0, last_stream.to_bytes(4, "big") + error.to_bytes(4, "big"))


@dataclass
class Http2Host(Listener):
    """One host.

    Args:
        script: Returns the frames that answer a request in HTTP/2. In HTTP/1.1, PAGE is the answer to all.

    Attributes:
        asked: The protocol of each request, with when it came, by this machine's monotonic clock.
    """

    script: Callable[[int, int], bytes]
    tls: ssl.SSLContext
    asked: list[tuple[str, float]] = field(default_factory=list)

    def __post_init__(self):
        self.tls.set_alpn_protocols(["h2", "http/1.1"])
        self.listen()
        self.page = f"https://127.0.0.1:{self.port}/page"

    @property
    def protocols(self):
        return [protocol for protocol, _at in self.asked]

    def serve(self, plain):
        with self.tls.wrap_socket(plain, server_side=True) as connection:
            reader = connection.makefile("rb")
            serve = self._serve_http2 if connection.selected_alpn_protocol() == "h2" else self._serve_http1
            serve(connection, reader)

    def _serve_http1(self, connection, reader):
        while line := reader.readline():
            if line == b"\r\n":
                self.asked.append(("HTTP/1.1", time.monotonic()))
                connection.sendall(answer())
                return

    def _serve_http2(self, connection, reader):
        if reader.read(len(PREFACE)) != PREFACE:  # the client didn't like the certificate, say
            return
        connection.sendall(frame(SETTINGS))
        while len(head := reader.read(9)) == 9:
            payload, kind, flags = reader.read(int.from_bytes(head[:3], "big")), head[3], head[4]
            if kind == HEADERS:
                number = len(self.asked)
                self.asked.append(("HTTP/2", time.monotonic()))
                connection.sendall(self.script(number, int.from_bytes(head[5:], "big")))
            elif kind in (SETTINGS, PING) and not flags & ACK:
                connection.sendall(frame(kind, payload=payload if kind == PING else b"", flags=ACK))
