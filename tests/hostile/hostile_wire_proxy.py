"""A proxy that remembers who asked: HTTP with CONNECT, and SOCKS 5. Every connection leads to one host's port."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from dataclasses import dataclass, field

from hostile.hostile_wire_listener import Listener

SOCKS_VERSION, BY_PASSWORD, NO_AUTHENTICATION, NAME = 5, 2, 0, 3


@dataclass
class Proxy(Listener):
    """A proxy on a free port.

    Args:
        leads_to: The port where every connection is led to, on 127.0.0.1.

    Attributes:
        accounts: The credentials of each connection, as `user:password`, or as sent if they aren't Basic; None: none.
        targets: What each connection asked for: the first line of its head, or the host that SOCKS was told.
    """

    leads_to: int
    accounts: list[str | None] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.listen()
        self.address = f"127.0.0.1:{self.port}"

    def serve(self, client):
        reader = client.makefile("rb", buffering=0)
        first = reader.read(1)
        if not first:
            return
        passed = self._greet(client, reader) if first[0] == SOCKS_VERSION else self._read_head(client, reader, first)
        with socket.create_connection(("127.0.0.1", self.leads_to)) as host:
            self._open.add(host)
            host.sendall(passed)
            back = threading.Thread(target=_copy, args=(host, client), daemon=True)
            back.start()
            _copy(client, host)
            back.join()

    def _read_head(self, client, reader, first):
        """Reads a request's head; returns it if the host is to have it."""
        head = bytearray(first)
        while not head.endswith(b"\r\n\r\n"):
            head += reader.read(1)
        line, *lines = bytes(head).split(b"\r\n")
        values = dict(one.split(b": ", 1) for one in lines if one)
        self.targets.append(line.decode())
        self.accounts.append(_account(values.get(b"Proxy-Authorization")))
        if not head.startswith(b"CONNECT "):
            return head
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return b""

    def _greet(self, client, reader):
        """Speaks SOCKS 5 up to where bytes are passed on (RFC 1928, RFC 1929)."""

        def read_counted():
            return reader.read(reader.read(1)[0])

        account = None
        if BY_PASSWORD in read_counted():
            client.sendall(bytes((SOCKS_VERSION, BY_PASSWORD)))
            reader.read(1)
            account = f"{read_counted().decode()}:{read_counted().decode()}"
            client.sendall(b"\x01\x00")
        else:
            client.sendall(bytes((SOCKS_VERSION, NO_AUTHENTICATION)))
        is_name = reader.read(4)[3] == NAME
        self.targets.append(read_counted().decode() if is_name else socket.inet_ntoa(reader.read(4)))
        self.accounts.append(account)
        reader.read(2)
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        return b""


def _account(value):
    if value is None or not value.startswith(b"Basic "):
        return value and value.decode()
    return base64.b64decode(value[6:]).decode()


def _copy(from_socket, to_socket):
    with contextlib.suppress(OSError):
        while data := from_socket.recv(65_536):
            to_socket.sendall(data)
        to_socket.shutdown(socket.SHUT_WR)
