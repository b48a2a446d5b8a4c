"""A way out for libcurl when a peer keeps it busy within one call.

A TLS server may send empty handshake messages (HelloRequest) for as long as it likes, and OpenSSL skips them for as
long as more have come: some 4 MB/s are enough to hold the event loop for ever. No timeout of libcurl's can end that,
but the interpreter runs on meanwhile: a thread looks, and puts a closed socket in the place of the busy one.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MOST_CPU_SECONDS = 0.5  # of one call; reading the system's certificates, once, takes some 50 ms
LOOK_SECONDS = 0.25


class Watchdog:
    """Watches the calls of the thread that it is made in.

    Args:
        sockets: Says which sockets any call may be about.

    Attributes:
        call: Counts calls: whoever makes one adds one before, and one after. It is odd during a call.
        socket: What the call is about; None: any of them.
    """

    __slots__ = ("_clock", "_sockets", "_thread", "_wanted", "call", "socket")

    def __init__(self, sockets: Callable[[], Collection[int]]) -> None:
        self.call = 0
        self.socket: int | None = None
        self._sockets = sockets
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Begins to look."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="libcurl's watchdog", daemon=True)
            self._thread.start()
        self._wanted.set()

    def rest(self) -> None:
        """Stops looking until the next `watch`: there are no calls."""
        self._wanted.clear()

    def close(self) -> None:
        """Ends it."""
        self.call = -1
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        call, since_s = 0, 0.0
        while self._wanted.wait() and self.call >= 0:
            now_s = time.clock_gettime(self._clock)
            if call != self.call:
                call, since_s = self.call, now_s
            elif call % 2 and now_s - since_s > MOST_CPU_SECONDS:
                self._cut_off(call)
            time.sleep(LOOK_SECONDS)

    def _cut_off(self, call: int) -> None:
        ours, theirs = socket.socketpair()
        theirs.close()
        with ours:
            for busy in list(self._sockets()) if self.socket is None else [self.socket]:
                if self.call == call:  # else it has just come back, and the number may be another socket's
                    with suppress(OSError):
                        os.dup2(ours.fileno(), busy, inheritable=False)
