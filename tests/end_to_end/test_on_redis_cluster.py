"""A plan becomes items on a Redis Cluster of three nodes, for a user with the least rights that the docs name."""

from __future__ import annotations

import pytest
from least_rights import acl_rule

from testbed.servers.many_hosts import LINKS

PARTITIONS = 6
WORDS = ["flood", "rescue"]


@pytest.fixture
def redis_url(redis_cluster):
    """Stands in for the one Redis of the other tests."""
    redis_cluster.empty()
    return redis_cluster.url


@pytest.fixture
def least_rights_url(redis_cluster):
    """With a user who has the rights that the docs name, and no others."""
    for node in redis_cluster.nodes:
        node.call("ACL", "LOG", "RESET")
        node.call("ACL", "SETUSER", "headroom", "reset", "on", ">hunter22", *acl_rule("hr", cluster=True).split())
    yield redis_cluster.url.replace("://", "://headroom:hunter22@")
    for node in redis_cluster.nodes:
        node.call("ACL", "DELUSER", "headroom")


def test_a_plan_becomes_items_on_three_nodes(crawl, many_hosts, redis_cluster, least_rights_url):
    crawl.environment["REDIS_URL"] = least_rights_url
    hosts = many_hosts(2, 15).hosts
    crawl.settings |= {"REDIS_CLUSTER": 1, "FRONTIER_PARTITIONS": PARTITIONS}
    for number, host in enumerate(hosts):
        crawl.site(f"s{number}", search=f"http://{host}/list?onto={host}&q={{query}}&page={{page}}")
    crawl.scrapy("doctor")
    crawl.submit([f"s{number}" for number in range(len(hosts))], WORDS)
    crawl.finish(consumers=2, producers=1)
    total = crawl.total()
    assert total["finished"] == len(hosts) * len(WORDS) * (1 + LINKS)
    assert total["difference"] == total["failed"] == 0
    used = [node.call("DBSIZE") for node in redis_cluster.nodes]
    assert all(used), used
    assert [node.call("ACL", "LOG") for node in redis_cluster.nodes] == [[], [], []]
