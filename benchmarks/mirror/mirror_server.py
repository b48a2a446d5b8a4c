"""nginx, which serves each manual as a host of its own, and logs each request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.side_by_side.servers import Nginx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.mirror.manuals import Manual

NETWORK = "127.0.3"  # the hosts are addresses of loopback, from 1 on
STATUS_OK = 200


NO_PATH = "-"  # of a request that a killed worker has sent in part


class Asked(NamedTuple):
    """A request, from nginx's log.

    Attributes:
        at_s: When it was answered, since the epoch.
    """

    at_s: float
    host: str
    path: str
    status: int


class MirrorServer(Nginx):
    """One nginx for all hosts; what it was asked, since it was made or since `forget`, is in its log.

    Attributes:
        hosts: By the manual's name.
    """

    def __init__(self, folder: Path, manuals: Sequence[Manual]) -> None:
        addresses = {manual.name: f"{NETWORK}.{number}" for number, manual in enumerate(manuals, 1)}
        super().__init__(folder, folder, hosts={addresses[manual.name]: manual.root for manual in manuals})
        self.hosts = {name: f"{address}:{self.port}" for name, address in addresses.items()}

    def asked(self) -> Iterator[Asked]:
        """Yields the requests, in order."""
        for line in self.log_of_hosts.read_text().splitlines():
            at_s, host, path, status = line.split(" ")
            if path != NO_PATH:
                yield Asked(float(at_s), host, path, int(status))

    def count(self) -> int:
        """Returns how many there were."""
        return self.log_of_hosts.read_bytes().count(b"\n")

    def forget(self) -> None:
        """Empties the log; nginx goes on at its beginning."""
        os.truncate(self.log_of_hosts, 0)
