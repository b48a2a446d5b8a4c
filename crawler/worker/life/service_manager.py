"""What a worker tells the service manager that started it, such as systemd: it has joined, it lives, it stops.

A unit of `Type=notify` has a Unix socket, whose address the environment variable NOTIFY_SOCKET names; each word is one
datagram. Without the variable nobody is told. With `WatchdogSec=`, a worker that has said nothing for so long is
killed and started again.

Source: sd_notify(3).
"""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING, Self

from crawler.base import log_events
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
VARIABLE = "NOTIFY_SOCKET"
READY, ALIVE, STOPPING = b"READY=1\n", b"WATCHDOG=1\n", b"STOPPING=1\n"


class ServiceManager:
    """Whoever listens at NOTIFY_SOCKET.

    Args:
        address: The socket's path, or `@` and its name in Linux's abstract namespace.
    """

    def __init__(self, address: str) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(0)  # a word that isn't taken at once is lost, and the next one follows
        self._warn = Seldom(logger.warning)

    @classmethod
    def from_environment(cls) -> Self | None:
        """Returns it; None: nobody asked to be told."""
        address = os.environ.get(VARIABLE)
        return cls(address) if address else None

    def beat(self, *, is_ready: bool) -> None:
        """Says that the worker lives, and whether it has joined: to say so once more changes nothing."""
        self._send(ALIVE + READY if is_ready else ALIVE)

    def stopping(self) -> None:
        """Says that the worker ends by itself or because it was told to."""
        self._send(STOPPING)

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    def _send(self, words: bytes) -> None:
        try:
            self._socket.sendto(words, self._address)
        except OSError as error:
            self._warn(log_events.SERVICE_MANAGER_AWAY, VARIABLE, error)
