"""Weighted rendezvous: shares by weight, and what changes when a node joins, leaves or gets another weight."""

from __future__ import annotations

from collections import Counter

import pytest

from crawler.cluster.node_shares import Members, members_of

HOSTS = [f"www{number}.example.org" for number in range(40_000)]
WEIGHTS = {f"node-{number}": float((1, 2, 4)[number % 3]) for number in range(16)}


def members(weights):
    return Members(dict(weights), {node: [node] for node in weights})


def first_nodes(weights):
    of_these = members(weights)
    return {host: of_these.first_node(host) for host in HOSTS}


def test_each_node_has_a_tenth_more_or_less_than_its_share_of_the_hosts_at_most():
    counts = Counter(first_nodes(WEIGHTS).values())
    for node, weight in WEIGHTS.items():
        ideal = len(HOSTS) * weight / sum(WEIGHTS.values())
        assert 0.9 * ideal < counts[node] < 1.1 * ideal, node
        assert members(WEIGHTS).share(node) == pytest.approx(ideal / len(HOSTS))


@pytest.mark.parametrize("joining", [1.0, 4.0])
def test_a_node_that_joins_or_leaves_changes_its_own_share_alone(joining):
    before, after = first_nodes(WEIGHTS), first_nodes(WEIGHTS | {"new": joining})
    changed = [host for host in HOSTS if before[host] != after[host]]
    assert {after[host] for host in changed} == {"new"}  # the other way round, what it leaves goes to others
    ideal = joining / (sum(WEIGHTS.values()) + joining)
    assert 0.9 * ideal < len(changed) / len(HOSTS) < 1.1 * ideal


def test_a_node_that_becomes_heavier_loses_nothing_and_others_gain_nothing():
    before, after = first_nodes(WEIGHTS), first_nodes(WEIGHTS | {"node-0": 3.0})
    assert {after[host] for host in HOSTS if before[host] != after[host]} == {"node-0"}


def test_workers_of_a_node_share_its_hosts_evenly_and_change_nothing_for_others():
    alone = Members({"a": 1.0, "b": 1.0}, {"a": ["a:1"], "b": ["b:1"]})
    together = Members({"a": 1.0, "b": 1.0}, {"a": ["a:1", "a:2"], "b": ["b:1"]})
    assert all((alone.first_worker(host) == "b:1") == (together.first_worker(host) == "b:1") for host in HOSTS)
    counts = Counter(map(together.first_worker, HOSTS))
    assert counts["a:1"] == pytest.approx(len(HOSTS) / 4, rel=0.1)
    assert counts["a:2"] == pytest.approx(len(HOSTS) / 4, rel=0.1)


def test_members_are_those_who_claim_with_the_largest_weight_of_their_node():
    living = {"frontier": "content", "weight": 2.0, "time": 990, "next_s": 3, "session_length_s": 15}
    reports = {
        "a:1:1:x": living,
        "a:2:1:x": living | {"weight": 3},
        "b:1:1:x": living | {"frontier": "nav"},
        "gone:1:1:x": living | {"time": 981},
        "drained:1:1:x": living | {"drained": True},
        "older:1:1:x": {**living, "weight": None},
        "junk:1:1:x": living | {"weight": float("nan")},
        "void:1:1:x": {},
    }
    assert members_of(reports.items(), 1_000) == {
        "content": Members({"a": 3}, {"a": ["a:1:1", "a:2:1"]}),
        "nav": Members({"b": 2.0}, {"b": ["b:1:1"]}),
    }
