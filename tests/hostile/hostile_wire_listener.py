"""A server on a loopback port of its own, with a thread for each connection; what it says is up to subclasses."""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod


class Listener(ABC):
    """A server that listens from `listen` until `close`.

    Attributes:
        port: Where.
        connections: How many there were.
    """

    def listen(self, address="127.0.0.1"):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.create_server((address, 0), backlog=64, family=family)
        self._open = set()  # sockets that `close` ends; `serve` may add some
        self.port = self._socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """Ends it, whatever it is doing."""
        for one in (self._socket, *list(self._open)):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    @abstractmethod
    def serve(self, connection):
        """Serves a connection, which is closed afterwards; an OSError says that the client has gone."""

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        self._open.add(connection)
        with contextlib.suppress(OSError), connection:
            self.serve(connection)
        self._open.discard(connection)
