"""Web servers that say what they like, byte by byte: each host is a port of its own with one script.

A script is a function that yields what happens on a connection after the request's head was read: bytes are sent, a
number is a pause in seconds, HOLD waits until the client is gone, RESET ends the connection at once. When it is over
the connection is closed in good order.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostile.hostile_wire_listener import Listener

if TYPE_CHECKING:
    import ssl

HOLD, RESET = object(), object()
MOST_REQUEST_BYTES = 64 * 1024
NO_RULES = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
Script = Callable[[str], Iterable]  # of the request's path


@dataclass
class Asked:
    """One request, by this machine's monotonic clock.

    Attributes:
        head: The request as it came.
        ended: When its connection was over; None: it still isn't.
    """

    path: str
    head: bytes
    begun: float
    ended: float | None = None


@dataclass
class Host(Listener):
    """One host.

    Args:
        script: Answers for every page.
        robots: Answers for robots.txt.
        tls: Whether and with what certificate it speaks TLS.
        raw: The script is for a TLS port: it runs as it is, and nothing is read before.
        address: Which loopback address it is on: cookies know no ports.
    """

    script: Script
    robots: Script = lambda _path: [NO_RULES]
    tls: ssl.SSLContext | None = None
    raw: bool = False
    address: str = "127.0.0.1"
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self):
        self._ending = threading.Event()
        self.listen(self.address)
        self.url = f"{'https' if self.tls or self.raw else 'http'}://{self.address}:{self.port}"
        self.page = f"{self.url}/page"

    def close(self):
        """Ends it, whatever it is doing."""
        self._ending.set()
        super().close()

    def pages(self):
        """Returns the requests for anything but robots.txt."""
        return [one for one in self.asked if one.path != "/robots.txt"]

    def serve(self, plain):
        asked = None
        with plain if self.tls is None else self.tls.wrap_socket(plain, server_side=True) as connection:
            try:
                head = b"GET / HTTP/1.1" if self.raw else _head_of(connection)
                if not head:
                    return
                path = head.split(b" ", 2)[1].decode("latin-1")
                asked = Asked(path, head, time.monotonic())
                self.asked.append(asked)
                script = self.robots if path == "/robots.txt" else self.script
                for step in script(path):
                    if not self._do(step, connection):
                        break
            finally:
                if asked is not None:
                    asked.ended = time.monotonic()

    def _do(self, step, connection):
        if step is RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if step is HOLD:
            while connection.recv(65_536):
                pass
        elif isinstance(step, bytes):
            connection.sendall(step)
        else:
            return not self._ending.wait(step)
        return True


def _head_of(connection):
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MOST_REQUEST_BYTES:
        data = connection.recv(4_096)
        if not data:
            return b""
        head += data
    return head
