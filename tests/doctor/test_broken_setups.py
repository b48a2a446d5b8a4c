"""Set-ups that are broken, each in one way, on real servers: the doctor names the check, and says what to do."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
import redis as sync_redis
from command_line import ROOT
from kafka import KafkaAdminClient
from needs import need, started
from pymongo import MongoClient
from waiting import until

from crawler.doctor.finding import State
from crawler.doctor.redis_copies import MAX_LAG_SECONDS
from crawler.frontier.keys import SCHEMA_VERSION, Keys
from crawler.pipelines.mongo import COLLECTION, INDEXES
from testbed.servers import Redis

pytestmark = pytest.mark.process
HARMLESS = {State.OK, State.BETTER, State.NOT_TRIED}
SECONDS_MAX = 12.0  # whatever doesn't answer; with 2 to 3 s to start Python on an idle machine, that is less than 15


def only_bad(found, name, state, text):
    """Holds that one check found something bad, what it is called, and what it says."""
    bad = {check: finding for check, finding in found.items() if finding.state not in HARMLESS}
    assert list(bad) == [name], bad
    assert bad[name].state is state
    assert text in bad[name].text


async def test_a_set_up_as_it_should_be(redis, examined):
    found = await examined()
    assert {name for name, finding in found.items() if finding.state not in HARMLESS} == set()
    assert found["redis-durability"].text == "it has an append-only file: a crash loses a second at most"
    assert found["redis-memory"].state is State.OK
    assert redis.dbsize() == 0  # looking changes nothing


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_1_a_redis_that_evicts_keys(redis, examined, policy):
    redis.config_set("maxmemory-policy", policy)
    only_bad(
        await examined(), "redis-eviction", State.LOSS, f"(maxmemory-policy {policy}), expected noeviction: CONFIG"
    )


async def test_2_a_redis_that_keeps_nothing_on_disk(redis, examined):
    redis.config_set("appendonly", "no")
    only_bad(await examined(), "redis-durability", State.LOSS, "set appendonly yes")
    redis.config_set("save", "3600 1")
    found = (await examined())["redis-durability"]
    assert (found.state, "the last 60 minutes" in found.text) == (State.BETTER, True)


async def test_3_a_redis_that_is_full(redis, examined):
    used = redis.info("memory")["used_memory"]
    redis.config_set("maxmemory", 10 * used // 9)
    nearly = (await examined())["redis-memory"]
    assert (nearly.state, nearly.text.startswith("it is nearly full (")) == (State.BETTER, True)
    redis.config_set("maxmemory", used // 2)
    only_bad(await examined(), "redis-memory", State.STOPS, "claims and offers wait; raise its maxmemory")
    redis.config_set("maxmemory", 0)
    endless = (await examined())["redis-memory"]
    assert (endless.state, "the system kills it" in endless.text) == (State.BETTER, True)


async def test_4_a_frontier_of_another_version_or_number_of_partitions(redis, examined):
    schema = Keys("hr").schema
    redis.hset(schema, mapping={"version": 1, "partitions": 1})
    only_bad(await examined(), "frontier", State.STOPS, f"format 1, older than this version's {SCHEMA_VERSION}: ")
    redis.hset(schema, mapping={"version": SCHEMA_VERSION, "partitions": 4})
    only_bad(await examined(), "frontier", State.STOPS, "expected 4, which the frontier in Redis was begun with")
    assert (await examined(FRONTIER_PARTITIONS=4))["frontier"].text.startswith(f"format {SCHEMA_VERSION}, ")


async def test_5_a_user_who_lacks_rights(redis, own_redis, examined):
    url = own_redis.url.replace("://", "://limited:hunter22@")
    redis.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">hunter22", "~hr:*", "&hr:*", "+@all", "-zadd")
    only_bad(
        await examined(REDIS_URL=url),
        "redis-rights",
        State.STOPS,
        "ACL SETUSER with the user's name and ~hr:* &hr:* +zadd",
    )
    redis.execute_command("ACL", "SETUSER", "limited", "-ping", "-info", "-hgetall", "-config", "-time")
    found = await examined(REDIS_URL=url)
    assert "+hgetall" in found["redis-rights"].text
    assert found["redis-eviction"].state is State.NOT_TRIED
    assert found["redis-eviction"].text.startswith("its user lacks a right; docs/servers.md has")
    wrong = await examined(REDIS_URL=url.replace("hunter22", "wrong-word"))
    assert (wrong["redis"].state, "it refuses the user or the password" in wrong["redis"].text) == (State.STOPS, True)
    assert "wrong-word" not in str(wrong)


@pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")  # as a client is closed while it connects
async def test_6_no_server_at_all(examined):
    found = await examined(
        REDIS_URL="redis://crawler:hunter22@127.0.0.1:1/0",
        KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1",
        MONGO_URL="mongodb://crawler:hunter22@127.0.0.1:1/?serverSelectionTimeoutMS=300",
        ITEM_SINKS="files,kafka,mongo",
    )
    assert [name for name, finding in found.items() if finding.state is State.STOPS] == ["redis", "kafka", "mongo"]
    assert found["redis-eviction"].text == "redis must answer first"
    assert found["dns"].text == "the sites stand in Redis, which can't be read"
    assert (found["versions"].state, found["disk"].state) == (State.OK, State.OK)
    assert "hunter22" not in str(found)


@pytest.mark.parametrize(
    ("timeout_ms", "session_s", "said"),
    [
        (15_000, 15, "sessions lapse before a replica takes its place; set cluster-node-timeout below SESSION_SECONDS"),
        (300, 15, "after 0.3 s: a pause as short begins a failover, which loses what no replica has yet"),
    ],
)
async def test_7_a_cluster_that_waits_too_long_or_too_short(redis_cluster, examined, timeout_ms, session_s, said):
    for node in redis_cluster.nodes:
        node.call("CONFIG", "SET", "cluster-node-timeout", timeout_ms)
    try:
        found = await examined(REDIS_URL=redis_cluster.url, REDIS_CLUSTER=1, SESSION_SECONDS=session_s)
    finally:
        for node in redis_cluster.nodes:
            node.call("CONFIG", "SET", "cluster-node-timeout", 1_000)
    assert (found["redis-cluster"].state, said in found["redis-cluster"].text) == (State.BETTER, True)
    assert "cluster-require-full-coverage no" in found["redis-cluster"].text
    assert (found["redis-replicas"].state, "has no replica" in found["redis-replicas"].text) == (State.BETTER, True)
    assert found["redis"].state is State.OK


async def test_8_a_kafka_that_refuses_large_items_and_one_with_too_few_copies(
    redis, kafka_server, topic_prefix, examined
):
    redis.hset(Keys("hr").sites, "city", json.dumps({"version": 1, "definition": {"name": "city"}}))
    settings = {"ITEM_SINKS": "kafka", "KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap, "TOPIC_PREFIX": topic_prefix}
    new = await examined(**settings)
    assert new["kafka-topics"].text == "each of 1 stored sites has its topic, or gets it with its first item"
    assert new["kafka-message-size"].state is State.OK
    assert new["kafka-replication"].state is State.BETTER
    assert new["kafka-replication"].text.startswith("a topic that is made by the brokers' defaults has one copy: ")
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka_server.bootstrap)) as admin:
        assert not [name for name in admin.list_topics() if name.startswith(topic_prefix)]  # looking makes none
        admin.create_topics(
            {f"{topic_prefix}city": {"configs": {"max.message.bytes": "50000"}}}, wait_for_metadata=True
        )
        found = await examined(**settings)
        only_bad(found, "kafka-message-size", State.LOSS, f"topic {topic_prefix}city refuses items of more than 50,000")
        admin.delete_topics([f"{topic_prefix}city"])
        admin.create_topics({f"{topic_prefix}also": {"configs": {"min.insync.replicas": "2"}}}, wait_for_metadata=True)
    redis.hset(Keys("hr").sites, "also", json.dumps({"version": 1, "definition": {"name": "also"}}))
    only_bad(await examined(**settings), "kafka-replication", State.STOPS, "wants 2 copies in sync")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?w=0", "w=0: nobody says whether an item was written"),
        ("?w=1", "w=1: a crash of the server loses items whose pages are finished; take w= out of MONGO_URL"),
        ("?journal=false", "j=false: a crash of the server loses items"),
    ],
)
async def test_9_a_mongo_that_acknowledges_what_it_may_lose(redis, mongo_server, mongo_database, examined, query, said):
    url = f"{mongo_server.url}/{query}"
    found = await examined(ITEM_SINKS="mongo", MONGO_URL=url, MONGO_DATABASE=mongo_database)
    only_bad(found, "mongo-write-concern", State.LOSS, said)


async def test_9_a_mongo_without_an_index(redis, mongo_server, mongo_database, examined):
    settings = {"ITEM_SINKS": "mongo", "MONGO_URL": mongo_server.url, "MONGO_DATABASE": mongo_database}
    new = await examined(**settings)
    assert (new["mongo-indexes"].state, "the first worker makes it" in new["mongo-indexes"].text) == (State.OK, True)
    assert (new["mongo"].state, new["mongo-write-concern"].text) == (State.OK, "w=majority")
    with MongoClient(mongo_server.url) as client:
        items = client[mongo_database][COLLECTION]
        items.create_index("fingerprint")
        found = (await examined(**settings))["mongo-indexes"]
        assert (found.state, "db.items.createIndex({resource: 1, time: 1})" in found.text) == (State.BETTER, True)
        for fields in INDEXES:
            items.create_index([*fields])
    assert (await examined(**settings))["mongo-indexes"].state is State.OK


def run(command, environment, own_redis):
    """Runs a command line that ends with `scrapy doctor --json`; returns what it found, and its status."""
    environment = os.environ | {"REDIS_URL": own_redis.url} | environment
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return {row["check"]: row for row in json.loads(done.stdout)["checks"]}, done.returncode


SCRAPY_DOCTOR = [sys.executable, "-m", "scrapy", "doctor", "--json"]


@pytest.mark.faults
def test_10_too_few_open_files_and_another_package_of_the_same_name(redis, own_redis, tmp_path):
    shadow = tmp_path / "team" / "crawler"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text("raise SystemExit('nothing of this package may be executed')\n")
    path = os.pathsep.join((str(ROOT), str(shadow.parent)))
    command = ["bash", "-c", 'ulimit -n 200; exec "$@"', "bash", *SCRAPY_DOCTOR]
    found, status = run(command, {"PYTHONPATH": path}, own_redis)
    assert status == 0
    assert found["open-files"]["state"] == "better"
    assert found["open-files"]["text"].startswith("at most 200, and a worker with CONCURRENT_REQUESTS 64 has up to 484")
    assert found["package-name"]["state"] == "better"
    assert f"hides another one at {shadow}: " in found["package-name"]["text"]


@pytest.mark.faults
@pytest.mark.parametrize(("wrong", "state", "status"), [("+5m", "loss", 1), ("-5s", "better", 0)])
def test_11_a_clock_that_is_wrong(redis, own_redis, wrong, state, status):
    if shutil.which("faketime") is None:
        need("faketime isn't installed (Debian: faketime)")
    found, ended = run(["faketime", "-f", wrong, *SCRAPY_DOCTOR], {}, own_redis)
    assert (found["clock"]["state"], ended) == (state, status)
    assert f"{'ahead of' if wrong[0] == '+' else 'behind'} Redis's" in found["clock"]["text"]


def start_seconds():
    """Returns how long the command takes to start here and now."""
    began = time.monotonic()
    subprocess.run([*SCRAPY_DOCTOR, "--help"], cwd=ROOT, check=True, capture_output=True)
    return time.monotonic() - began


@pytest.mark.faults
@pytest.mark.alone
def test_12_servers_that_are_silent_cost_15_seconds_at_the_longest(tmp_path):
    """A frozen Redis, and listeners that never answer in the place of Kafka and MongoDB."""
    with contextlib.ExitStack() as stack:
        frozen = stack.enter_context(started(Redis, tmp_path))
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(2)]
        os.kill(frozen.pid, signal.SIGSTOP)
        stack.callback(os.kill, frozen.pid, signal.SIGCONT)
        sinks = {"KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{silent[0]}", "MONGO_URL": f"mongodb://127.0.0.1:{silent[1]}"}
        start_s = start_seconds()
        began = time.monotonic()
        found, status = run(SCRAPY_DOCTOR, sinks | {"ITEM_SINKS": "files,kafka,mongo"}, frozen)
        taken_s = time.monotonic() - began
        start_s = max(start_s, start_seconds())  # other work on the machine may have begun meanwhile
    assert [name for name, row in found.items() if row["state"] == "stops"] == ["redis", "kafka", "mongo"]
    assert found["disk"]["state"] == "ok"
    assert status == 1
    assert taken_s - start_s <= SECONDS_MAX


@pytest.fixture
def replica(redis, own_redis, tmp_path):
    """A replica of `own_redis` that is in step."""
    with started(Redis, tmp_path) as server, contextlib.closing(sync_redis.Redis(port=server.port)) as client:
        redis.config_set("repl-diskless-sync-delay", 0)
        client.replicaof("127.0.0.1", own_redis.port)
        until(lambda: redis.info("replication").get("slave0", {}).get("state") == "online", "a replica in step")
        yield server


async def test_13_a_replica_in_the_place_of_its_primary(replica, examined):
    assert (await examined())["redis-replicas"].text == "1 in step"
    found = await examined(REDIS_URL=replica.url)
    bad = {name: finding for name, finding in found.items() if finding.state not in HARMLESS}
    assert {name: finding.state for name, finding in bad.items()} == {
        "redis-writes": State.STOPS,
        "redis-replicas": State.STOPS,
    }
    assert "is a replica and refuses writes" in bad["redis-replicas"].text


@pytest.mark.faults
async def test_13_a_replica_that_falls_behind(redis, replica, examined):
    os.kill(replica.pid, signal.SIGSTOP)
    try:
        until(lambda: redis.info("replication")["slave0"]["lag"] > MAX_LAG_SECONDS, "a replica that falls behind")
        found = (await examined())["redis-replicas"]
    finally:
        os.kill(replica.pid, signal.SIGCONT)
    assert (found.state, "bytes behind: what it lacks is lost by a failover" in found.text) == (State.BETTER, True)


async def test_14_a_redis_that_can_not_write_to_its_disk(tmp_path, examined):
    with started(Redis, tmp_path) as server, contextlib.closing(sync_redis.Redis(port=server.port)) as client:
        shutil.rmtree(tmp_path / "redis")
        client.bgsave()
        until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", "a snapshot that fails")
        found = (await examined(REDIS_URL=server.url))["redis-durability"]
        client.config_set("save", "3600 1")  # from now on it refuses writes, and PING
        refused = await examined(REDIS_URL=server.url)
        client.config_set("save", "")  # or it wouldn't end when it is told to, for it can't save
    assert (found.state, "fails to write to its disk" in found.text) == (State.LOSS, True)
    assert refused["redis"].state is State.OK
    assert refused["redis-durability"] == found
    assert refused["redis-writes"].state is State.STOPS
    assert refused["redis-writes"].text.startswith("it refuses writes, so claims and offers wait: MISCONF ")


async def test_15_a_redis_that_waits_for_replicas_which_it_does_not_have(redis, examined):
    redis.config_set("min-replicas-to-write", 1)
    try:
        only_bad(await examined(), "redis-writes", State.STOPS, "claims and offers wait: NOREPLICAS Not enough good")
    finally:
        redis.config_set("min-replicas-to-write", 0)


@pytest.mark.parametrize(
    ("fill", "text"),
    [
        (lambda redis, key: redis.set(key, "x"), "something else than a frontier's at hr:schema: see what it is"),
        (
            lambda redis, key: redis.hset(key, mapping={"version": SCHEMA_VERSION, "partitions": "\x1b[31m\n2"}),
            "a frontier of '\\x1b[31m\\n2' partitions, expected a number",
        ),
    ],
)
async def test_16_junk_in_the_place_of_the_frontier(redis, examined, fill, text):
    fill(redis, Keys("hr").schema)
    only_bad(await examined(), "frontier", State.STOPS, text)
