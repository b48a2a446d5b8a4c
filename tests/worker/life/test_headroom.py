"""The patent's rule, and its refinements: bounds, several workers on a node, smoothed samples."""

from __future__ import annotations

import math
import subprocess
import sys
from types import SimpleNamespace

import pytest

from crawler import config
from crawler.base.errors import ConfigError
from crawler.worker.config import Limits
from crawler.worker.life.headroom import (
    LACK_SECONDS,
    MIN_COST_PERCENT,
    MIN_WEIGHT,
    UNLIMITED_SEEDS,
    NodeHeadroom,
    batch_size,
    short_of,
)
from crawler.worker.life.load import Load, Sampler

LIMITS = Limits(memory_percent=80, cpu_percent=90, first_batch=5)


@pytest.mark.parametrize(
    ("load", "carried", "expected"),
    [
        (Load(memory=79.9, cpu=89.9), 0, 5),  # the first batch
        (Load(memory=80, cpu=0), 0, 0),
        (Load(memory=0, cpu=90), 0, 0),
        (Load(memory=50, cpu=50), 10, math.floor(30 / MIN_COST_PERCENT)),  # each seed has a least cost
        (Load(memory=50, cpu=50, own_memory=10, own_cpu=20), 10, 20),  # min(30 * 10 / 10, 40 * 10 / 20)
        (Load(memory=70, cpu=10, own_memory=20, own_cpu=5), 10, 5),  # memory binds
        (Load(memory=20, cpu=85, own_memory=1, own_cpu=40), 16, 2),  # CPU binds
        (Load(memory=79, cpu=50, own_memory=10, own_cpu=10), 2, 0),  # less than one fits
        (Load(memory=80, cpu=10, own_memory=1, own_cpu=1), 10, 0),
        (Load(memory=95, cpu=10, own_memory=1, own_cpu=1), 10, 0),
        (Load(memory=10, cpu=91, own_memory=1, own_cpu=1), 10, 0),
    ],
)
def test_the_batch_size_follows_the_patent_s_rule(load, carried, expected):
    assert batch_size(LIMITS, load, carried) == expected


def test_workers_share_the_headroom_and_a_limit_of_100_percent_never_holds():
    assert batch_size(LIMITS, Load(memory=50, cpu=50, own_memory=10, own_cpu=20), 10, workers=3) == 6
    free = Limits(memory_percent=100, cpu_percent=100, first_batch=5)
    assert batch_size(free, Load(100, 100, 50, 50), 10) == UNLIMITED_SEEDS
    only_memory = Limits(memory_percent=80, cpu_percent=100, first_batch=5)
    assert batch_size(only_memory, Load(50, 100, 10, 99), 10) == 30
    unlimited = headroom(used_percent=99, limit_percent=100)
    unlimited.answered(1_000_000)
    assert unlimited.may_send(1_000)


@pytest.mark.parametrize(
    ("key", "value"),
    [("NODE_MEMORY_LIMIT_PERCENT", 0), ("NODE_CPU_LIMIT_PERCENT", 101), ("FIRST_BATCH", 0), ("FIRST_BATCH", 1.5)],
)
def test_settings_out_of_range_are_refused_by_name(key, value):
    settings = {"NODE_MEMORY_LIMIT_PERCENT": 90, "NODE_CPU_LIMIT_PERCENT": 90, "FIRST_BATCH": 5}
    assert Limits.from_settings(settings) == Limits(90, 90, 5)
    with pytest.raises(ConfigError, match=key):
        Limits.from_settings(settings | {key: value})


def test_a_spike_counts_little_and_a_step_counts_soon():
    load = Load(cpu=10)
    assert load.smoothed(Load(cpu=100)).cpu == pytest.approx(37)
    for _ in range(10):
        load = load.smoothed(Load(cpu=100))
    assert load.cpu > 95


def test_samples_are_of_this_tree_and_survive_its_processes():
    sampler = Sampler()
    before = sampler.sample()
    assert 0 < before.own_memory <= before.memory <= 100
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        sampler.sample()
        assert child.pid in sampler._known
        child.communicate(b"\n")
    sampler.sample()
    assert child.pid not in sampler._known


@pytest.mark.parametrize(
    ("load", "what"),
    [
        (Load(memory=79, cpu=89, own_memory=50), ""),  # it may carry as much as fits: that is no lack
        (Load(memory=80, cpu=95), "memory"),
        (Load(memory=10, cpu=90), "CPU"),
    ],
)
def test_what_a_node_has_no_more_of_is_named(load, what):
    assert short_of(LIMITS, load) == what
    assert short_of(Limits(memory_percent=100, cpu_percent=100, first_batch=5), Load(memory=100, cpu=100)) == ""


def headroom(*, used_percent, limit_percent=80):
    headroom = NodeHeadroom(Limits(limit_percent, 90, 5), batch_max=500, claim_ahead_s=60)
    headroom.sampler.newest = Load(memory=used_percent)
    headroom.sampler.memory_bytes = 1_000_000
    return headroom


def most_at_once(headroom, workers=1):
    headroom.workers_here = workers
    return next(running for running in range(1_000) if not headroom.may_send(running))


def test_no_more_requests_run_than_answers_as_large_as_lately_have_room():
    found = headroom(used_percent=20)
    assert found.may_send(500)  # nobody knows yet how large answers are
    found.answered(10_000)
    assert most_at_once(found) == 30  # of 600,000 bytes, each may take twice its size
    assert most_at_once(found, workers=3) == 10
    found.answered(100_000)
    assert most_at_once(found) == 3


def test_a_large_answer_is_forgotten_after_many_small_ones():
    found = headroom(used_percent=20)
    found.answered(100_000)
    found.answered(1_000)
    assert most_at_once(found) == 3
    for _ in range(300):
        found.answered(1_000)
    assert most_at_once(found) == 300


def test_without_any_room_large_answers_come_one_by_one_and_small_ones_as_ever():
    found = headroom(used_percent=95)
    found.answered(10)
    assert most_at_once(found) == 500
    found.answered(100_000)
    assert most_at_once(found) == 1


def test_for_a_while_nothing_is_claimed_after_something_else_was_missing(monkeypatch):
    now_s = [1_000.0]
    monkeypatch.setattr("crawler.worker.life.headroom.time.monotonic", lambda: now_s[0])
    node = headroom(used_percent=10)
    assert (node.short_of(), node.room(0)) == ("", 5)
    node.lacks("file descriptors")
    assert (node.short_of(), node.room(0)) == ("file descriptors", 0)
    now_s[0] += LACK_SECONDS
    assert (node.short_of(), node.room(0)) == ("", 5)


@pytest.mark.parametrize(
    ("cores", "gibibytes", "factor", "expected"),
    [(4, 64, 1, 3.6), (4, 2, 1, 1.6), (4, 64, 0.5, 1.8), (0.001, 64, 0.01, MIN_WEIGHT)],
)
def test_a_node_s_weight_is_what_may_be_used_of_its_cores_or_its_memory_where_that_is_less(
    cores, gibibytes, factor, expected
):
    node = NodeHeadroom(LIMITS, batch_max=100, claim_ahead_s=60)
    node.sampler = SimpleNamespace(cores=cores, memory_bytes=gibibytes * 2**30)
    assert node.weight(factor) == expected


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "heavy"])
def test_a_weight_that_is_none_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"NODE_WEIGHT.*expected a number from 0.01 to 1000"):
        config.NODE_WEIGHT.of({"NODE_WEIGHT": wrong})
