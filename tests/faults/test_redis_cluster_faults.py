"""One primary of a Redis Cluster is away: what lies on the others goes on, and when it is back nothing is missing."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import Counter
from contextlib import closing
from itertools import pairwise

import pytest
from faults.rig import FULL, ClusterRig, Origin, in_time
from needs import started
from waiting import until

from crawler.frontier.keys import partition_of
from testbed.servers import Redis
from testbed.servers.redis_cluster import RedisCluster

pytestmark = pytest.mark.faults

PAGES = 6_000 if FULL else 1_200
HOSTS = 24
TRIES = 50  # 7 % of such hosts leave a partition without any
LONGEST_PAUSE_SECONDS = 1.0  # a call to a node that doesn't answer is given up after 5 s, but others go on meanwhile


@pytest.fixture
def cluster(tmp_path):
    with started(RedisCluster, tmp_path) as cluster:
        for node in cluster.nodes:
            node.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        yield cluster


def spread_origin(folder):
    """A web with hosts in each partition, and so on each node. Ports are free ones, which lie where chance has it."""
    for _ in range(TRIES):
        origin = Origin(folder, HOSTS)
        places = {partition_of(f"127.0.0.1:{port}", ClusterRig.PARTITIONS) for port in origin.ports}
        if len(places) == ClusterRig.PARTITIONS:
            return origin
    raise AssertionError(f"no {HOSTS} ports of {TRIES} times as many lie in all partitions")


@pytest.fixture
def cluster_rig(fork_server, tmp_path, cluster):
    with started(spread_origin, tmp_path) as origin, closing(ClusterRig(fork_server, tmp_path, origin, cluster)) as rig:
        yield rig


def freeze(node):
    os.kill(node.pid, signal.SIGSTOP)


def thaw(node):
    os.kill(node.pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("fault", "take_away", "give_back"),
    [("frozen", freeze, thaw), ("killed", Redis.kill, Redis.start)],
    ids=["frozen", "killed"],
)
@pytest.mark.parametrize("key", ["sites", "plans"])
def test_one_primary_of_three_is_away(cluster_rig, cluster, row, key, fault, take_away, give_back):
    """The pages of the others are claimed and settled to the last one before it is back."""
    rig = cluster_rig
    rig.offer(rig.origin.urls(PAGES, "slow"), site="paced")
    node = cluster.node_of(getattr(rig.keys, key))
    others = rig.counts(away=node)["offered"]
    assert 0 < others < PAGES
    workers = rig.joined(2)
    until(lambda: rig.ended() >= PAGES // 20, "pages")
    log, taken = rig.origin.size(), time.monotonic()
    take_away(node)
    until(lambda: rig.counts(away=node)["finished"] == others, "the pages of the other nodes", 300)
    others_s = time.monotonic() - taken
    asked = [at for at, port, *_ in rig.origin.requests(log) if rig.home_of(port) is not node]
    pause_s = max((later - earlier for earlier, later in pairwise([taken, *asked])), default=0.0)
    assert all(worker.running for worker in workers)
    give_back(node)
    cluster.until_whole()
    rig.until_done(300)
    figures = {"all_ended_after_s": f"{others_s:.0f}", "longest_pause_s": f"{pause_s:.1f}"}
    row(f"a primary of three {fault}, that of the {key}", rig.audit(), pages_of_the_others=others, **figures)
    assert all(worker.running for worker in workers)
    assert in_time(pause_s, LONGEST_PAUSE_SECONDS)


def test_a_cluster_is_lost_with_its_disks_and_restored_from_older_backups(cluster_rig, cluster, row, tmp_path):
    """As docs/backup.md says it of a cluster: each node's snapshot and its nodes.conf, of different moments."""
    rig = cluster_rig
    rig.offer(rig.origin.urls(PAGES, "slow"), site="paced")
    begin = rig.origin.size()
    workers = rig.joined(2)
    for number, node in enumerate(cluster.nodes, 1):
        until(lambda number=number: rig.ended() >= number * PAGES // 8, "pages")
        node.call("BGSAVE")
        until(lambda node=node: b"rdb_bgsave_in_progress:0" in node.info("persistence"), "a snapshot")
        backup = tmp_path / f"backup-{number}"
        backup.mkdir()
        for name in ("dump.rdb", "nodes.conf"):
            shutil.copy(node.folder / name, backup)
    until(lambda: rig.ended() >= PAGES // 2, "more pages")
    for node in cluster.nodes:
        node.kill()
        shutil.rmtree(node.folder)
    for number, node in enumerate(cluster.nodes, 1):
        shutil.copytree(tmp_path / f"backup-{number}", node.folder)
        node._command += ("--appendonly", "no")  # else it would look into that file alone, and begin empty
        node.start()
        node.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        node.call("CONFIG", "SET", "appendonly", "yes")
    cluster.until_whole()
    rig.until_done(300)
    assert all(worker.running for worker in workers)
    asked = Counter((port, path) for _, port, _, path in rig.origin.requests(begin))
    again = sum(number > 1 for number in asked.values())
    row("a cluster lost with its disks, restored", rig.audit(), fetched_again=again)
    assert again > 0
