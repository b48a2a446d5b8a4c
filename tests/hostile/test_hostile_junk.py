"""Junk in Redis is refused or skipped, and never executed: workers live on, other seeds finish.

That in Kafka, tests/commands/test_items.py has.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import uuid

import pytest
import redis
from crawl import Crawl
from hostile.pages import page, serving
from samples import Bomb
from scrapy.settings import Settings
from waiting import until

from crawler.base.models import Seed
from crawler.frontier.keys import Keys
from crawler.plans.operator import Operator

pytestmark = pytest.mark.faults  # a crawl beside each kind of junk, and every command

PREFIX = "junk"
P = f"{PREFIX}:{{0}}"
SITE = """
name: hostile
content: {title: css:title, content: {select: css:article, required: true}}
politeness: {delay: 0, concurrency: 8, burst: 50}
"""
SESSION_SECONDS = 2
PATIENCE_SECONDS = 20.0  # for a seed that must finish: a session lapses in between
MARK = "junk-was-executed"


def values(mark):
    """Returns what may lie in a key instead of what should."""
    return {
        "pickle": pickle.dumps(Bomb(mark)),
        "old pickle": pickle.dumps(Bomb(mark), protocol=0),
        "nothing": b"",
        "bytes": b"\xff\xfe\x00\x80\r\n\x1b[2J",
        "null": b"null",
        "list": b"[]",
        "object": b"{}",
        "not a number": b"nan",
        "infinity": b"inf",
        "negative": b"-1",
        "huge number": b"9" * 400,
        "float": b"1.5",
        "deep": b"[" * 200_000,
        "huge": b"x" * 5_000_000,
        "expression": b"__import__('os').mkdir('%s')" % str(mark).encode(),
        "YAML": b"!!python/object/apply:os.mkdir ['%s']" % str(mark).encode(),
        "a seed's beginning": b"a.test manual hostile 0 ",
        "a seed with junk": b'a.test manual hostile 0 {"u":1,"k":"x"}',
        "a seed of another host": b'a.test manual hostile 0 {"u":"http://127.0.0.1:1/"}',
        "a seed with a scheme": b'a.test manual hostile 0 {"u":"file:///etc/passwd"}',
    }


def waiting_seed(client, junked, junk):
    """A seed that the next claim takes is junk; its fingerprint is sound."""
    fingerprint = os.urandom(16)
    client.hset(f"{P}:content:seed", fingerprint, junk)
    client.zadd(f"{P}:content:ready:{junked.host}", {fingerprint: 1})
    client.zadd(f"{P}:content:hosts", {junked.host: 1})


def held_seed(client, junked, junk):
    """A seed of a lapsed session is junk."""
    fingerprint, owner = os.urandom(16), f"gone:1:1:{uuid.uuid4().hex}"
    client.hset(f"{P}:content:seed", fingerprint, junk)
    client.zadd(f"{P}:content:execute", {fingerprint: 1})
    client.hset(f"{P}:content:claims", fingerprint, f"{owner}#1")
    client.sadd(f"{P}:content:held:{owner}", fingerprint)
    client.zadd(f"{P}:sessions", {owner: 1})


def held_by_junk(client, junked, junk):
    """A lapsed session's name, its claim and what it holds are junk."""
    client.zadd(f"{P}:sessions", {junk: 1})
    client.sadd(f"{P}:content:held:".encode() + junk[:1_000], junk)
    client.sadd(f"{P}:turns:".encode() + junk[:1_000], junk, b"12 " + junked.host.encode(), b"x y", b"12 ")


def suspect(client, junked, junk):
    fingerprint = os.urandom(16)
    client.hset(f"{P}:content:seed", fingerprint, junk)
    client.hset(f"{P}:content:crashes", fingerprint, junk)
    client.zadd(f"{P}:content:suspects", {fingerprint: 1})


def wake(client, junked, junk):
    for frontier in ("nav", "content"):
        for message in (junk, b"backoff " + junk, b"backoff 1 " + junk):
            assert client.publish(Keys(PREFIX).wake(frontier), message) == 1  # a worker of each frontier listens


def site_of_seed(client, junked, junk):
    """A seed's site has a definition that is junk."""
    name = f"site-{uuid.uuid4().hex}"
    client.hset(f"{PREFIX}:{{plans}}:sites", name, junk)
    junked.offer_one(
        junked.url().replace("127.0.0.1", "localhost"), site=name
    )  # on a host of its own: it is asked slowly


# Where junk may lie. `{owner}` is the worker, `{host}` the host of the good seeds.
PLANTS = {
    "seed": waiting_seed,
    "seed of the dead": held_seed,
    "seed that is a suspect": suspect,
    "session": held_by_junk,
    "wake channel": wake,
    "site": site_of_seed,
}
# A member, or a new field, of what is there: by type.
ADDED = {
    "zset": "content:ready:{host} content:hosts content:execute content:suspects content:fail content:lapsed",
    "set": "content:scheduled turns:{owner} content:held:{owner} ledgers",
    "hash": "content:claims content:tries content:reasons content:crashes",
}
# In place of what is there: strings, and fields of hashes. It is put back, since the next junk takes its place.
STRINGS = "content:lock content:alone fence:{owner} content:followed:{host} robots:http://{host}"
FIELDS = {
    "content:finished": "0 1 x",
    "content:counts": "ready executing finished failed offered finished_buckets x",
    "turn:{host}": "h1 n1 n2 x r l e u wnav wcontent wseedless j s",
    "politeness": "hostile x",
    "plan_states": "manual x",
    "ledger:manual:hostile": "content:ready content:finished content:executing x",
}
OF_ALL = {
    "hash": f"{PREFIX}:{{plans}}:plans {PREFIX}:{{plans}}:sites {PREFIX}:schema {PREFIX}:{{plans}}:node:{{node}}",
    "zset": f"{PREFIX}:{{plans}}:nodes",
}
ADD = {
    "zset": lambda client, name, junk: client.zadd(name, {junk: 0}),
    "set": lambda client, name, junk: client.sadd(name, junk),
    "hash": lambda client, name, junk: client.hset(name, os.urandom(16), junk),
}
KEYS = [(kind, f"{P}:{key}") for kind, keys in ADDED.items() for key in keys.split()]
KEYS += [(kind, key) for kind, keys in OF_ALL.items() for key in keys.split()]
# Keys that are of another type than they should be.
WRONG = (
    "content:ready:{host} content:hosts content:execute content:claims content:held:{owner} content:finish "
    "content:seed content:tries content:suspects content:counts content:lapsed turn:{host} turns:{owner} "
    "plan_states ledger:manual:hostile ledgers politeness"
)


class Junked(Crawl):
    """A consumer and a producer at work, one good host, and the keys that junk is put into."""

    def begin(self, web):
        """Starts the workers; returns when the first page of the host has been crawled."""
        self.web, self.mark = web, self.folder / MARK
        self.host = web.url.removeprefix("http://")
        self.write_site("hostile", SITE)
        self.redis.flushall()
        self.offer([f"{web.url}/page?first"], "hostile")
        self.consumer, self.producer = self.worker("consumer"), self.worker("producer")
        until(lambda: self.has(f"{web.url}/page?first"), "the first page")
        self._number = 0

    @property
    def owner(self):
        for owner, raw in self.redis.hgetall(f"{PREFIX}:{{plans}}:node:{os.uname().nodename}").items():
            if b'"content"' in raw and owner.count(b":") == 3:
                return owner.decode()
        return "nobody"

    def named(self, key):
        if "{" not in key.replace("{0}", "").replace("{plans}", ""):
            return key
        return key.replace("{host}", self.host).replace("{node}", os.uname().nodename).replace("{owner}", self.owner)

    def url(self):
        """Returns the URL of a page that nobody has asked for."""
        self._number += 1
        return f"{self.web.url}/page?{self._number}"

    def has(self, url):
        return any(item["url"] == url for item in self.items())

    def offer_one(self, url, site="hostile"):
        async def run():
            settings = Settings({"REDIS_URL": self.redis_url, "KEY_PREFIX": PREFIX}, "cmdline")
            settings.setmodule("crawler.settings")
            async with Operator.connect(settings) as operator:
                await operator.queues["content"].offer([Seed(url, "manual", site)])

        asyncio.run(run())

    def finishes_one(self, *, settled=False):
        """Offers a page and waits until its item is there, and where asked for, its seed is settled, too."""
        url = self.url()
        self.offer_one(url)
        until(lambda: self.has(url), f"{url} to finish", PATIENCE_SECONDS)
        if settled:
            seed = Seed(url, "manual", "hostile").fingerprint
            until(lambda: not self.redis.hexists(f"{P}:content:seed", seed), f"{url} to be settled")


@pytest.fixture(scope="module")
def junked(fork_server, redis_server, tmp_path_factory):
    settings = {
        "KEY_PREFIX": PREFIX,
        "ALLOW_PRIVATE_ADDRESSES": 1,
        "SESSION_SECONDS": SESSION_SECONDS,
        "IDLE_WAIT_SECONDS": 1,
        "MAX_ATTEMPTS": 2,
        "RETRY_BASE_SECONDS": 0,
        "ROBOTS_RETRY_SECONDS": 0,
        "FILES_STORE": "",
    }
    folder = tmp_path_factory.mktemp("junk")
    with serving({"/page": page()}) as web, Junked(fork_server, folder, redis_server.url, settings) as junked:
        junked.begin(web)
        yield junked
        assert all(worker.running for worker in junked.started)


FEW = ("pickle", "nothing", "not a number", "infinity", "negative", "huge number", "float")


@pytest.fixture
def junk(junked):
    """What may lie in a key, by name. Keys that a case has made go with it, so that they spoil no other."""
    before = set(junked.redis.scan_iter(match=f"{PREFIX}*"))
    yield values(junked.mark)
    for key in set(junked.redis.scan_iter(match=f"{PREFIX}*")) - before:
        junked.redis.delete(key)
    assert all(worker.running for worker in junked.started)
    assert not junked.mark.exists()


@pytest.mark.parametrize("kind", PLANTS)
def test_other_seeds_finish_beside_seeds_sessions_messages_and_sites_that_are_junk(junked, junk, kind):
    for value in junk.values():
        PLANTS[kind](junked.redis, junked, value)
    # Else the keys of the seed would be deleted while it is settled.
    junked.finishes_one(settled=kind.startswith("seed"))


@pytest.mark.parametrize(("kind", "key"), KEYS)
def test_other_seeds_finish_beside_junk_in_a_key(junked, junk, kind, key):
    for value in junk.values():
        ADD[kind](junked.redis, junked.named(key), value)
    junked.finishes_one()


@pytest.mark.parametrize("key", STRINGS.split())
def test_other_seeds_finish_where_a_string_is_junk(junked, junk, key):
    for name in FEW:
        junked.redis.set(junked.named(f"{P}:{key}"), junk[name])
        junked.finishes_one()
    junked.redis.delete(junked.named(f"{P}:{key}"))


@pytest.mark.parametrize("key", FIELDS)
def test_other_seeds_finish_where_fields_are_junk(junked, junk, key):
    name, fields, client = junked.named(f"{P}:{key}"), FIELDS[key].split(), junked.redis
    before = dict(zip(fields, client.hmget(name, fields), strict=True))
    for kind in FEW:
        client.hset(name, mapping=dict.fromkeys(fields, junk[kind]))
        junked.finishes_one()
    client.hdel(name, *fields)
    sound = {field: value for field, value in before.items() if value is not None}
    if sound and not key.startswith("turn:"):  # a turn that was given back since must not be held again
        client.hset(name, mapping=sound)


def test_keys_of_wrong_types_stop_claims_only_until_they_are_gone(junked, junk):
    names, client = [junked.named(f"{P}:{name}") for name in WRONG.split()], junked.redis
    moved = [name for name in names if client.exists(name)]
    for name in moved:
        client.rename(name, f"aside:{name}")
    for name in names:
        client.set(name, junk["pickle"])
    log = junked.consumer.log
    until(lambda: b"WRONGTYPE" in log.read_bytes(), "the worker to say what is wrong")
    for name in names:
        client.delete(name)
    for name in moved:
        client.rename(f"aside:{name}", name)
    junked.finishes_one()


@pytest.fixture(scope="module")
def junkyard(fork_server, redis_server, tmp_path_factory):
    """A frontier with all that junk in it at once, and nobody at work."""
    folder = tmp_path_factory.mktemp("junkyard")
    with Crawl(fork_server, folder, redis_server.url, {"KEY_PREFIX": "yard"}) as crawl:
        crawl.write_site("hostile", SITE)
        crawl.scrapy("seeds", "offer", "--site", "hostile", "--plan", "sound", "http://a.example/sound")
        mark = folder / MARK
        with redis.Redis.from_url(redis_server.url) as client:
            for value in values(mark).values():
                for key in ("seed", "claims", "tries", "reasons", "crashes"):
                    client.hset(f"yard:{{0}}:content:{key}", os.urandom(16), value)
                for key in ("fail", "execute", "suspects", "hosts", "lapsed", "ready:a.example"):
                    client.zadd(f"yard:{{0}}:content:{key}", {value: 1})
                client.zadd("yard:{0}:sessions", {value: 1})
                client.zadd("yard:{plans}:nodes", {value: 1})
                client.hset(f"yard:{{plans}}:node:{os.uname().nodename}", os.urandom(8), value)
                client.hset("yard:{plans}:sites", os.urandom(8), value)
                client.sadd("yard:{0}:ledgers", value, b"sound " + value)
                client.hset("yard:{0}:plan_states", os.urandom(8), value)
                client.hset("yard:{0}:ledger:sound:hostile", os.urandom(8), value)
                client.hset("yard:{0}:ledger:sound:hostile", b"content:" + os.urandom(8), value)
                client.hset("yard:{0}:content:counts", os.urandom(8), value)
            client.zadd("yard:{plans}:nodes", {os.uname().nodename: 1})
            for field, value in zip("hnxrseulw", values(mark).values(), strict=False):
                client.hset("yard:{0}:turn:a.example", f"{field}1", value)
        crawl.mark = mark
        yield crawl


COMMANDS = [
    ["seeds", "list", "--limit", "1000"],
    ["seeds", "show", "http://a.example/sound"],
    ["seeds", "retry", "--all"],
    ["seeds", "offer", "--site", "hostile", "http://a.example/another"],
    ["ledger"],
    ["ledger", "--verify"],
    ["nodes"],
    ["plan", "list"],
    ["plan", "cancel", "sound"],
    ["plan", "delete", "sound"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_answer_beside_junk_or_say_what_it_is(junkyard, words):
    done = junkyard.run(*words)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0 or done.stderr.splitlines()[-1].startswith("error: ")  # behind how far it has come
    assert done.stdout.replace("\n", "").isprintable()
    assert not junkyard.mark.exists()


def spoiled(junkyard, key, field, junk, *commands):
    """Returns how commands end while a field is junk."""
    with redis.Redis.from_url(junkyard.redis_url) as client:
        sound = client.hget(key, field)
        client.hset(key, field, junk)
        try:
            return [junkyard.run(*words, settings={"CONNECT_SECONDS": 0}) for words in commands]
        finally:
            client.hset(key, field, sound) if sound else client.hdel(key, field)


@pytest.mark.parametrize("name", FEW)
def test_a_plan_that_is_junk_is_refused_by_name(junkyard, name):
    commands = [("plan", "list"), ("plan", "show", "junk"), ("ledger", "junk")]
    for done in spoiled(junkyard, "yard:{plans}:plans", "junk", values(junkyard.mark)[name], *commands):
        assert done.returncode == 1
        assert re.match(r"error: plan 'junk' in Redis is damaged, HDEL yard:{plans}:plans removes it: ", done.stderr)
    assert not junkyard.mark.exists()


@pytest.mark.parametrize("field", ["version", "partitions"])
def test_a_format_that_is_junk_is_refused(junkyard, field):
    junk = values(junkyard.mark)["pickle"]
    for done in spoiled(junkyard, "yard:schema", field, junk, ("ledger",), ("crawl", "consumer")):
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith("error: ")
    assert not junkyard.mark.exists()


def test_the_bomb_would_go_off(tmp_path):
    pickle.loads(pickle.dumps(Bomb(tmp_path / MARK)))
    assert (tmp_path / MARK).exists()
