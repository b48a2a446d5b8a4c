"""A Redis Cluster of three primaries on this machine, each with a third of the slots."""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise

import redis

from crawler.demo.servers import Redis
from crawler.demo.servers.process import free_port
from crawler.errors import UnavailableError

NODES = 3
SLOTS = 16_384
BOUNDS = [SLOTS * number // NODES for number in range(NODES + 1)]
PATIENCE_SECONDS = 30.0  # nodes get to know each other in one to three


class Node(Redis):
    """A Redis that can be a cluster's, or is one with all slots to itself."""

    def __init__(self, folder):
        super().__init__(folder)
        self._command += ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
        self.bus_port = free_port()  # by itself it would take port + 10,000, which may be taken
        self._command += ("--cluster-port", str(self.bus_port))

    def call(self, *words):
        with contextlib.closing(redis.Redis(port=self.port)) as client:
            return client.execute_command(*words)


class RedisCluster:
    """Three nodes; `url` names the first, any of them would do."""

    def __init__(self, folder):
        self.nodes = [Node(folder / f"node-{number}") for number in range(NODES)]
        self.url = self.nodes[0].url

    def start(self):
        for node in self.nodes:
            node.start()
        for node, (first, end) in zip(self.nodes, pairwise(BOUNDS), strict=True):
            node.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            self.nodes[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
        self.until(lambda: all(self._knows_all(node) for node in self.nodes), "a whole cluster")

    def stop(self):
        for node in self.nodes:
            node.stop()

    def empty(self):
        for node in self.nodes:
            node.call("FLUSHALL")

    def until(self, condition, what):
        """Waits for what the nodes come to by themselves."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise UnavailableError(f"Redis Cluster: no {what} within {PATIENCE_SECONDS:g} s")
            time.sleep(0.02)

    def _knows_all(self, node):
        info = node.call("CLUSTER", "INFO")
        return f"cluster_known_nodes:{NODES}\r".encode() in info and b"cluster_state:ok" in info
