"""Gets the event loop out of a call of libcurl that a peer keeps busy.

A TLS server may send empty handshake messages (HelloRequest) for as long as it likes, and OpenSSL skips them within one
call for as long as more have come: some 4 MB/s are enough to hold the event loop for ever. No timeout of libcurl's ends
that. But libcurl runs without the interpreter's lock, so a thread can watch, and put a closed socket in place of the
busy one.
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

# Most CPU time of one call; the longest honest one reads the system's certificates once, in 50 ms.
MAX_CALL_CPU_SECONDS = 0.5
LOOK_SECONDS = 0.25  # how often the watchdog looks


class Watchdog:
    """Watches the calls of the thread that it is made in.

    Args:
        sockets: Returns the sockets that any call may be about.

    Attributes:
        calls: Odd during a call: whoever makes one adds 1 before it and 1 after it.
        socket: The socket that the call is about; None: any of them.
    """

    __slots__ = ("_clock", "_sockets", "_thread", "_wanted", "calls", "socket")

    def __init__(self, sockets: Callable[[], Collection[int]]) -> None:
        self.calls = 0
        self.socket: int | None = None
        self._sockets = sockets
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Begins to look."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._look, name="libcurl's watchdog", daemon=True)
            self._thread.start()
        self._wanted.set()

    def rest(self) -> None:
        """Stops looking until the next `watch`, while there are no transfers."""
        self._wanted.clear()

    def close(self) -> None:
        """Ends the thread."""
        self.calls = -1
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        call, since_s = 0, 0.0
        while self._wanted.wait() and self.calls >= 0:
            now_s = time.clock_gettime(self._clock)
            if call != self.calls:
                call, since_s = self.calls, now_s
            elif call % 2 and now_s - since_s > MAX_CALL_CPU_SECONDS:
                self._cut_off(call)
            time.sleep(LOOK_SECONDS)

    def _cut_off(self, call: int) -> None:
        ours, theirs = socket.socketpair()
        theirs.close()
        with ours:
            for busy in list(self._sockets()) if self.socket is None else [self.socket]:
                if self.calls == call:  # else the call has just returned, and the number may be another socket's by now
                    with suppress(OSError):
                        os.dup2(ours.fileno(), busy, inheritable=False)
