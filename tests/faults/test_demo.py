"""`make demo` with named servers, with workers that die, and stopped at any moment."""

from __future__ import annotations

import contextlib
import json
import random
import re
import signal

import psutil
import pytest
import redis
from demo_run import DemoRun, broken_java, expected_items
from faults.rig import FULL
from kafka import KafkaAdminClient
from pymongo import MongoClient

pytestmark = pytest.mark.faults

STOPPED = "stopped: nothing of it is left running\n"


@pytest.fixture
def no_kafka(tmp_path):
    return broken_java(tmp_path / "bin")


@pytest.fixture
def named(redis_url, mongo_server):
    """An environment that names Redis and Mongo; both must be left as they were."""
    with MongoClient(mongo_server.url) as mongo, redis.Redis.from_url(redis_url) as client:
        before = mongo.list_database_names()
        client.set("letter", "dear")
        yield {"REDIS_URL": redis_url, "MONGO_URL": mongo_server.url}
        assert list(client.scan_iter()) == [b"letter"]
        assert mongo.list_database_names() == before


def test_named_servers_are_used_and_can_be_looked_into(tmp_path, named, no_kafka):
    with DemoRun(tmp_path, "--keep", environment=named | no_kafka) as run:
        run.read_until("The servers stay up")
        run.read_until("seeds list")
        total = sum(expected_items().values())
        assert run.row("sinks").startswith(f"files {total}, mongo {total}; the same by id")
        assert run.row("no kafka").endswith(("no memory", "no route"))
        with redis.Redis.from_url(named["REDIS_URL"]) as client:
            (scope,) = {key.partition(b":")[0].decode() for key in client.scan_iter()} - {"letter"}
        with MongoClient(named["MONGO_URL"]) as mongo:
            assert mongo[scope].items.count_documents({}) == total
        looks = run.commands("The servers stay up")
        assert [command.split()[1] for command in looks] == ["ledger", "plan", "seeds"]
        assert [run.shell("\n".join((*run.exports(), command))) for command in looks] == [0, 0, 0]
        assert run.interrupt(signal.SIGINT) == (0, "")
        assert run.leaves_nothing()


def test_all_servers_can_be_named(tmp_path, named, kafka_server):
    with DemoRun(tmp_path, "--json", environment=named | {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap}) as run:
        status, errors = run.end()
        assert status == 0, errors
        result, total = json.loads(run.output), sum(expected_items().values())
        assert result["items"] == expected_items()
        assert result["sinks"] == {"files": total, "mongo": total, "kafka": total}
        assert (result["problems"], result["difference"], result["left_out"]) == ([], 0, {})
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka_server.bootstrap)) as admin:
            assert not [topic for topic in admin.list_topics() if topic.startswith("demo-")]


@pytest.mark.parametrize("victim", ["consumer", "mongo"])
def test_what_dies_is_one_clear_line(victim, tmp_path, named, no_kafka):
    with DemoRun(tmp_path, environment={"REDIS_URL": named["REDIS_URL"]} | no_kafka) as run:
        run.read_until("first item: ")
        children = psutil.Process(run.process.pid).children()
        next(child for child in children if any(victim in word for word in child.cmdline())).kill()
        status, errors = run.end()
        assert status == 1
        assert re.fullmatch(rf"error: {victim}\S* ended with status -9; last of demo-output/\S*\.log: .*\n", errors)
        assert run.leaves_nothing()


@pytest.mark.parametrize("seed", range(20 if FULL else 3))
def test_it_can_be_stopped_at_any_moment(seed, tmp_path, named, no_kafka):
    chance = random.Random(seed)
    number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    with DemoRun(tmp_path, environment=named | no_kafka) as run:
        lines = chance.randrange(10)
        for _ in range(lines):
            run.read_until("")
        run.process.send_signal(number)
        with contextlib.suppress(ProcessLookupError):
            run.process.send_signal(number)  # an impatient user
        assert run.end() == (128 + number, STOPPED)
        assert run.leaves_nothing()
