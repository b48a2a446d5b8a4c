"""What docs/sentinel-and-cluster.md has an operator write into configuration files: real servers start with it."""

from __future__ import annotations

import contextlib
import re

import pytest
import redis as sync_redis
from needs import started
from releases import ROOT

from testbed.servers import Redis
from testbed.servers.process import free_port
from testbed.servers.redis import server_program

pytestmark = pytest.mark.process
PAGE = (ROOT / "docs" / "sentinel-and-cluster.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SERVERS = [block for block in BLOCKS if block.startswith("appendonly")]
SENTINELS = [block for block in BLOCKS if block.startswith("sentinel")]


class Configured(Redis):
    """A server that reads these lines; its port and folder are the test's."""

    def __init__(self, folder, lines, *mode):
        super().__init__(folder)
        self._file = folder / "redis.conf"
        self._lines = f"bind 127.0.0.1\nport {self.port}\ndir {self.folder}\n{lines}"
        self._command = (server_program(), str(self._file), *mode)

    def start(self):
        self._file.write_text(self._lines)
        super().start()


@pytest.mark.parametrize("lines", SERVERS, ids=["sentinels", "cluster"])
def test_a_server_takes_the_lines_that_the_page_shows(tmp_path, lines):
    bus = f"cluster-port {free_port()}\n" if "cluster-enabled" in lines else ""  # its own would be port + 10,000
    with started(Configured, tmp_path, lines + bus) as server, contextlib.closing(client_of(server)) as client:
        for name, value in (line.split() for line in lines.splitlines()):
            assert client.config_get(name) == {name: value}


@pytest.mark.parametrize("lines", SENTINELS, ids=["main"])
def test_a_sentinel_takes_the_lines_that_the_page_shows(tmp_path, redis_server, lines):
    own = lines.replace("REDIS-HOST 6379", f"127.0.0.1 {redis_server.port}")
    assert own != lines
    with started(Configured, tmp_path, own, "--sentinel") as server, contextlib.closing(client_of(server)) as client:
        known = client.sentinel_master("main")
    assert (known["port"], known["quorum"]) == (redis_server.port, 2)
    assert (known["down-after-milliseconds"], known["failover-timeout"]) == (5_000, 30_000)


def client_of(server):
    return sync_redis.Redis(port=server.port, decode_responses=True)
