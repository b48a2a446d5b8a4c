"""A Redis Cluster of three primaries on this machine, each with a third of the slots."""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise

import redis
from redis.crc import key_slot

from crawler.errors import UnavailableError
from testbed.servers import Redis
from testbed.servers.process import free_port

NODES = 3
SLOTS = 16_384
BOUNDS = [SLOTS * number // NODES for number in range(NODES + 1)]
PATIENCE_SECONDS = 30.0  # nodes get to know each other in one to three


class Node(Redis):
    """A Redis that can be a cluster's, or is one with all slots to itself."""

    def __init__(self, folder):
        super().__init__(folder)
        self._command += ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
        self._command += ("--repl-diskless-sync-delay", "0")  # no second replica is worth waiting for
        self.bus_port = free_port()  # by itself it would take port + 10,000, which may be taken
        self._command += ("--cluster-port", str(self.bus_port))

    def call(self, *words):
        """Runs a command here; the answer is as the wire has it."""
        with contextlib.closing(redis.Redis(port=self.port)) as client:
            client.response_callbacks.clear()
            return client.execute_command(*words)

    def info(self, section):
        return self.call("INFO", section)

    @property
    def id(self):
        return self.call("CLUSTER", "MYID").decode()


class RedisCluster:
    """Three nodes; `url` names the first, any of them would do."""

    def __init__(self, folder):
        self._folder = folder
        self.nodes = [Node(folder / f"node-{number}") for number in range(NODES)]
        self.url = self.nodes[0].url

    def start(self):
        for node, (first, end) in zip(self.nodes, pairwise(BOUNDS), strict=True):
            node.start()
            node.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            self._meet(node)
        self.until_whole()

    def stop(self):
        for node in self.nodes:
            node.stop()

    def empty(self):
        for node in self.nodes:
            node.call("FLUSHALL")

    def node_of(self, key):
        """Returns the node that says a key's slot is its own."""
        slot = key_slot(key.encode())
        for node in self.nodes:
            for first, last, (_address, port, *_names), *_replicas in node.call("CLUSTER", "SLOTS"):
                if first <= slot <= last and port == node.port:
                    return node
        raise AssertionError(f"slot {slot} is nobody's")

    def add_replica(self, primary):
        """Starts a node that takes a primary's place should it fail; returns it when it is in step."""
        replica = Node(self._folder / f"node-{len(self.nodes)}")
        replica.start()
        self.nodes.append(replica)
        self._meet(replica)
        self.until_whole()
        replica.call("CLUSTER", "REPLICATE", primary.id)
        self.until(lambda: b"master_link_status:up" in replica.info("replication"), "replica in step")
        return replica

    def begin_move(self, slot, source, target):
        """Begins to move a slot: from now on its keys may be on either node."""
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)

    def move_keys(self, slot, source, target, most=1_000_000):
        while most > 0 and (keys := source.call("CLUSTER", "GETKEYSINSLOT", slot, min(most, 100))):
            most -= len(keys)
            source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys)

    def end_move(self, slot, target):
        for node in [target, *(node for node in self.nodes if node is not target)]:
            node.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def until_whole(self):
        """Waits until each running node knows all others, and all slots are somebody's."""
        number = f"cluster_known_nodes:{len(self.nodes)}\r".encode()

        def is_whole(node):
            found = node.call("CLUSTER", "INFO")
            return number in found and b"cluster_state:ok" in found

        self.until(lambda: all(is_whole(node) for node in self.nodes if node.running), "a whole cluster")

    def until(self, condition, what):
        """Waits for what the nodes come to by themselves."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise UnavailableError(f"Redis Cluster: no {what} within {PATIENCE_SECONDS:g} s")
            time.sleep(0.02)

    def _meet(self, node):
        self.nodes[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
