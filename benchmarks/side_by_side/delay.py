"""A proxy that delays what passes, each way: `delay.py PORT TARGET_PORT ONE_WAY_MS`. For a Redis that is far away.

What comes is read at once and sent on when its time has come, so the delay bounds no throughput. Threads, since they
sleep to some 0.1 ms; an event loop's timers are rounded up to the next millisecond.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from queue import SimpleQueue

CHUNK_BYTES = 1 << 18


def receive(source: socket.socket, waiting: SimpleQueue[tuple[float, bytes]], delay_s: float) -> None:
    """Reads one direction until it ends."""
    data = b"-"
    while data:
        try:
            data = source.recv(CHUNK_BYTES)
        except OSError:
            data = b""
        waiting.put((time.monotonic() + delay_s, data))


def send(target: socket.socket, waiting: SimpleQueue[tuple[float, bytes]]) -> None:
    """Sends what its time has come for; an end, too."""
    with contextlib.suppress(OSError):
        while True:
            due, data = waiting.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                break
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def connected(near: socket.socket, port: int, delay_s: float) -> None:
    """Passes a connection on until both directions have ended."""
    with near, socket.create_connection(("127.0.0.1", port)) as far:
        threads = []
        for source, target in ((near, far), (far, near)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            waiting: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
            threads.append(threading.Thread(target=receive, args=(source, waiting, delay_s), daemon=True))
            threads.append(threading.Thread(target=send, args=(target, waiting), daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def main() -> None:
    """Serves until it is killed."""
    port, target, delay_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000
    with socket.create_server(("127.0.0.1", port)) as server:
        print("ready", flush=True)
        while True:
            near, _ = server.accept()
            threading.Thread(target=connected, args=(near, target, delay_s), daemon=True).start()


if __name__ == "__main__":
    main()
