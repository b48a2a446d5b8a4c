"""A sentinel of Redis on this machine, who replaces a primary that is gone by its replica."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import redis

from testbed.servers.process import PROBE_SECONDS, Server, free_port
from testbed.servers.redis import server_program

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "hunter22"  # noqa: S105 -- of a server on loopback that lives as long as its test


class RedisSentinel(Server):
    """One sentinel with a password, who watches a primary under the name `main`.

    Args:
        folder: Its configuration, which it rewrites itself, and log go to a folder `sentinel` in it.
        primary: The primary's port.
    """

    def __init__(self, folder: Path, primary: int) -> None:
        self.port = free_port()
        own = folder / "sentinel"
        own.mkdir(parents=True)
        (own / "sentinel.conf").write_text(
            f"port {self.port}\nbind 127.0.0.1\nrequirepass {PASSWORD}\nsentinel monitor main 127.0.0.1 {primary} 1\n"
            "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
        )
        super().__init__("sentinel", [server_program(), str(own / "sentinel.conf"), "--sentinel"], own)

    def knows_a_replica(self) -> bool:
        """Returns whether it has heard of a replica, which could take the primary's place."""
        with contextlib.closing(redis.Redis(port=self.port, password=PASSWORD)) as client:
            return bool(client.sentinel_slaves("main"))

    def _answers(self) -> bool:
        client = redis.Redis(port=self.port, password=PASSWORD, socket_timeout=PROBE_SECONDS)
        with contextlib.closing(client):
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False
