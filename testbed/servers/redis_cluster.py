"""A Redis Cluster of three primaries on this machine, each with a third of the slots."""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import redis
from redis.crc import key_slot

from crawler.base.errors import UnavailableError
from testbed.servers.process import free_port
from testbed.servers.redis import Redis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NODES = 3
SLOTS = 16_384
BOUNDS = [SLOTS * number // NODES for number in range(NODES + 1)]
AGREE_SECONDS = 30.0  # longest wait for the nodes to agree; it takes one to three on an idle machine
POLL_SECONDS = 0.02  # between two looks whether they have


class Node(Redis):
    """One Redis with the cluster mode on.

    Args:
        folder: Its data and log go to a folder `redis` in it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._command += ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
        self._command += ("--repl-diskless-sync-delay", "0")  # no second replica is worth waiting for
        self.bus_port = free_port()  # by itself it would take port + 10,000, which may be taken
        self._command += ("--cluster-port", str(self.bus_port))

    def call(self, *words: str | int) -> Any:
        """Runs a command on this node and returns the answer as the protocol has it, without redis-py's conversions."""
        with contextlib.closing(redis.Redis(port=self.port)) as client:
            client.response_callbacks.clear()
            return client.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py leaves it so

    def info(self, section: str) -> bytes:
        """Returns a section of what the node says about itself, as text."""
        text: bytes = self.call("INFO", section)
        return text

    @property
    def id(self) -> str:
        """The node's name within the cluster."""
        name: bytes = self.call("CLUSTER", "MYID")
        return name.decode()


class RedisCluster:
    """Three primaries, to which replicas can be added.

    Attributes:
        nodes: The primaries, then replicas in the order they were added.
        url: Of the first node; clients find the others through it.

    Args:
        folder: Each node's data and log go to a folder of its own in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.nodes = [Node(folder / f"node-{number}") for number in range(NODES)]
        self.url = self.nodes[0].url

    def start(self) -> None:
        """Starts the primaries and waits until they form a cluster.

        Raises:
            UnavailableError: A node didn't start, or they found no agreement; what was started runs on until `stop`.
        """
        for node, (first, end) in zip(self.nodes, pairwise(BOUNDS), strict=True):
            node.start()
            node.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            self._meet(node)
        self.until_whole()

    def stop(self) -> None:
        """Ends all nodes."""
        for node in self.nodes:
            node.stop()

    def empty(self) -> None:
        """Removes every key."""
        for node in self.nodes:
            node.call("FLUSHALL")

    def node_of(self, key: str) -> Node:
        """Returns the node that says that a key's slot is its own."""
        slot = key_slot(key.encode())
        for node in self.nodes:
            for first, last, (_address, port, *_names), *_replicas in node.call("CLUSTER", "SLOTS"):
                if first <= slot <= last and port == node.port:
                    return node
        raise AssertionError(f"slot {slot} is nobody's")

    def add_replica(self, primary: Node) -> Node:
        """Starts a replica, which takes its primary's place should that fail; returns it once it holds all keys."""
        replica = Node(self._folder / f"node-{len(self.nodes)}")
        replica.start()
        self.nodes.append(replica)
        self._meet(replica)
        self.until_whole()
        replica.call("CLUSTER", "REPLICATE", primary.id)
        self.until(lambda: b"master_link_status:up" in replica.info("replication"), "replica that is in step")
        return replica

    def begin_move(self, slot: int, source: Node, target: Node) -> None:
        """Begins to move a slot: until `end_move` its keys may be on either node."""
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)

    def move_keys(self, slot: int, source: Node, target: Node, max_keys: int = 1_000_000) -> None:
        """Moves up to `most` of a slot's keys."""
        while max_keys > 0 and (keys := source.call("CLUSTER", "GETKEYSINSLOT", slot, min(max_keys, 100))):
            max_keys -= len(keys)
            source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys)

    def end_move(self, slot: int, target: Node) -> None:
        """Tells every node, the new owner first, whose the slot is now."""
        for node in [target, *(node for node in self.nodes if node is not target)]:
            node.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def until_whole(self) -> None:
        """Waits until each running node knows all others and every slot has an owner.

        Raises:
            UnavailableError: That took longer than `AGREE_SECONDS`.
        """
        number = f"cluster_known_nodes:{len(self.nodes)}\r".encode()

        def is_whole(node: Node) -> bool:
            found: bytes = node.call("CLUSTER", "INFO")
            return number in found and b"cluster_state:ok" in found

        self.until(lambda: all(is_whole(node) for node in self.nodes if node.running), "a whole cluster")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits for a condition that the nodes bring about by themselves.

        Raises:
            UnavailableError: That took longer than `AGREE_SECONDS`; `what` names it.
        """
        deadline = time.monotonic() + AGREE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise UnavailableError(f"Redis Cluster: no {what} within {AGREE_SECONDS:g} s")
            time.sleep(POLL_SECONDS)

    def _meet(self, node: Node) -> None:
        self.nodes[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
