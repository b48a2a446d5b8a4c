"""Every key of a partition lies in one Redis Cluster slot, or no script could be atomic over it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from redis.crc import key_slot

from crawler.frontier import keys
from crawler.frontier.keys import Keys, TurnField, partition_of

HOSTS = ("a.test", "b.test:8080", "[2001:db8::1]:81", "xn--fiq228c.test", "{curly}.test")


def test_partitions_are_even_and_never_change():
    hosts = [f"host{number}.test" for number in range(4_000)]
    sizes = [sum(partition_of(host, 4) == number for host in hosts) for number in range(4)]
    assert min(sizes) > 900
    assert {partition_of(host, 1) for host in hosts} == {0}
    assert [partition_of(host, 1_000) for host in HOSTS[:4]] == [239, 356, 820, 289]


@pytest.mark.parametrize(
    ("raw", "count"), [(b"7", 7), (b"-7", -7), (b"%d" % (2**63 - 1), 2**63 - 1), (b"%d" % 2**63, None), (b"x", None)]
)
def test_a_count_is_one_that_redis_can_hold(raw, count):
    assert keys.as_count(raw) == count


def test_no_two_keys_share_a_name():
    for frontier in ("nav", "content"):
        names = Keys("t").partition(0).script_keys(frontier)
        assert len(names) == len(set(names)) == len(keys.FRONTIER_KEYS) + len(keys.SHARED_KEYS) + len(keys.OTHER_KEYS)


def test_every_key_but_the_format_lies_with_a_partition_or_with_the_plans():
    names = Keys("t")
    shared = {
        names.plans,
        names.sites,
        names.node_names,
        names.node("n"),
        names.node_orders,
        names.history(60, 0),
        names.host_history(60, 0),
        names.failed_answers,
        names.failed_answer_sizes,
        names.failed_answer_order("news timeout"),
        names.newest_items,
        names.newest_item_sizes,
        names.newest_item_order("news"),
        names.totals,
        names.audit,
        names.reached,
    }
    assert {key_slot(name.encode()) for name in shared} == {key_slot(b"plans")}
    part = names.partition(7)
    own = {
        part.robots("a"),
        part.robots_asked("a"),
        part.robots_moved("a"),
        part.search("x"),
        part.complaints("refused", "a"),
        part.turns("A"),
    }
    assert {key_slot(name.encode()) for name in own | set(part.script_keys("nav"))} == {key_slot(b"7")}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_can_t_leave_its_slot(host):
    part = Keys("t").partition(3)
    names = (part.turn(host), part.of("nav", "ready:") + host, part.sessions)
    assert len({key_slot(name.encode()) for name in names}) == 1


def test_fields_of_turns_are_named_as_scripts_name_them():
    script = (Path(keys.__file__).parent / "lua" / "lib" / "turns.lua").read_text("utf-8")
    in_lua = dict(re.findall(r"^ +(\w+) = '(\w)'", script, re.MULTILINE))
    assert len(in_lua) > len(TurnField)
    assert {field.name.lower(): field.value for field in TurnField}.items() <= in_lua.items()
