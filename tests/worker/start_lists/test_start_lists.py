"""Start lists are read into the frontier: nothing is lost, whenever a reader dies, and junk is kept with the reason."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from least_rights import acl_rule
from samples import Stats
from waiting import PATIENCE_SECONDS

from crawler.base.events import Events
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.queue import queues_of
from crawler.plans.plan_record import PlanRecord
from crawler.plans.registry import Registry
from crawler.servers.redis import redis_async
from crawler.servers.redis_full import RedisFull
from crawler.worker.definitions.site_cache import SiteCache
from crawler.worker.offers.known_pages import KnownPages
from crawler.worker.offers.offers import Offers
from crawler.worker.start_list import MAX_ENTRY_BYTES, StartList
from crawler.worker.start_lists import start_lists, stored_list
from crawler.worker.start_lists.start_lists import StartLists
from crawler.worker.start_lists.stored_list import StoredList, field_of

KINDS = ("list", "set", "zset")
SERVERS = Path(__file__).parents[3] / "docs" / "servers.md"
LONG = b"a" * (MAX_ENTRY_BYTES + 1)
LIST = StartList("myspider:start_urls", "books")


class Killed(BaseException):
    """Ends a reader as `kill -9` does: nothing of it runs any more."""


class Mortal:
    """A client of Redis whose process is killed before or after a call of a given number.

    Args:
        dies_at: The number of the call, from 0.
        arrives: Whether Redis gets that call.
    """

    def __init__(self, redis, dies_at, *, arrives):
        self._redis = redis
        self._left = dies_at
        self._arrives = arrives
        self.is_dead = False

    def __getattr__(self, name):
        real = getattr(self._redis, name)
        return self._mortal(real) if name not in {"pipeline", "initialize", "pubsub"} and callable(real) else real

    def _mortal(self, real):
        async def call(*arguments, **options):
            self._left -= 1
            if self._left >= 0:
                answer = real(*arguments, **options)
                return await answer if inspect.isawaitable(answer) else answer
            if self._arrives and not self.is_dead:
                await real(*arguments, **options)
            self.is_dead = True
            raise Killed

        return call


@pytest.fixture
def redis_settings(request):
    """Settings of an empty Redis; of a Redis Cluster where a test asks for that."""
    if getattr(request, "param", "redis") == "redis":
        return {"REDIS_URL": request.getfixturevalue("redis_url")}
    cluster = request.getfixturevalue("redis_cluster")
    cluster.empty()
    return {"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1}


on_both = pytest.mark.parametrize("redis_settings", ["redis", "cluster"], indirect=True)


@pytest.fixture
async def build(frontier):
    """Returns a function that gives a reader of lists; `redis` may be another client."""

    def made(lists=(LIST,), reader="reader", redis=frontier.redis, queues=frontier.queues):
        stats, stopping = Stats(), asyncio.Event()
        registry = Registry(redis, frontier.keys, 1)
        reading = StartLists(
            lists,
            redis=redis,
            keys=frontier.keys,
            reader=reader,
            offers=Offers(
                queues,
                [SimpleNamespace(owner=reader)],
                known_pages=KnownPages(queues["content"], 100),
                redis_full=RedisFull(),
                stopping=stopping,
                events=Events(),
                stats=stats,
            ),
            registry=registry,
            site_cache=SiteCache(registry, Events()),
            sites_dir="",
            stats=stats,
        )
        reading.counted = stats.values
        return reading

    return made


async def fill(redis, kind, *entries, key=LIST.key):
    for number, entry in enumerate(entries):
        if kind == "list":
            await redis.rpush(key, entry)
        elif kind == "set":
            await redis.sadd(key, entry)
        else:
            await redis.zadd(key, {entry: number})


async def left(redis, key=LIST.key):
    """Returns the entries that are still in a list, of whatever kind."""
    kind = (await redis.type(key)).decode()
    if kind == "list":
        return await redis.lrange(key, 0, -1)
    if kind == "set":
        return list(await redis.smembers(key))
    return await redis.zrange(key, 0, -1) if kind == "zset" else []


@on_both
@pytest.mark.parametrize("kind", KINDS)
async def test_a_list_of_each_kind_is_read_into_the_plan_s_ledger(frontier, build, kind):
    await fill(
        frontier.redis, kind, *(f"http://a.test/{number}" for number in range(150)), b'{"url": "http://b.test/"}'
    )
    reading = build()
    rounds = 0
    while await reading.read_round(LIST):
        rounds += 1
    assert rounds == 2 or (kind == "set" and rounds > 2)  # each is bounded; of a set, entries are drawn
    assert await left(frontier.redis) == []
    assert not await reading.has_entries()
    books = await frontier.account("books", "web")
    assert (books.offered, books.ready, books.known) == (151, 151, 0)
    assert reading.counted["start_lists/read"] == 151


async def test_the_order_is_scrapy_redis_s(frontier, build, monkeypatch):
    monkeypatch.setattr(stored_list, "READ_ENTRIES", 1)
    await fill(frontier.redis, "zset", b"http://a.test/low", b"http://a.test/high")
    assert await build().read_round(LIST)
    assert await left(frontier.redis) == [b"http://a.test/low"]


async def test_equal_entries_are_one_page_and_all_leave_the_list(frontier, build):
    await fill(frontier.redis, "list", *[b"http://a.test/"] * 3, b"http://a.test/2")
    assert await build().read_round(LIST)
    assert await left(frontier.redis) == []
    assert (await frontier.account("books", "web")).offered == 2


async def test_what_is_pushed_meanwhile_stays(frontier, build):
    await fill(frontier.redis, "list", b"http://a.test/1")
    reading = build()
    offer = reading._offers.offer

    async def push_and_offer(seeds):
        await frontier.redis.lpush(LIST.key, b"http://a.test/new")
        await frontier.redis.rpush(LIST.key, b"http://a.test/1")
        return await offer(seeds)

    reading._offers.offer = push_and_offer
    assert await reading.read_round(LIST)
    assert await left(frontier.redis) == [b"http://a.test/new", b"http://a.test/1"]


@on_both
async def test_junk_goes_into_a_hash_with_the_reason(frontier, build, caplog):
    post = b'{"url": "http://a.test/", "method": "POST"}'
    await fill(frontier.redis, "list", b"http://a.test/", b"\xff", post)
    reading = build()
    assert await reading.read_round(LIST)
    assert await left(frontier.redis) == []
    refused = await frontier.redis.hgetall("myspider:start_urls:refused")
    assert refused == {b"\xff": b"not UTF-8", post: b"method: got 'POST', expected GET"}
    assert reading.counted == {
        "start_lists/read": 1,
        "start_lists/refused": 2,
        "frontier/offered": 1,
        "frontier/offered/new": 1,
    }
    assert "2 entries are refused" in caplog.text


async def test_junk_without_room_stays_until_somebody_has_looked(frontier, build, caplog, monkeypatch):
    for module in (stored_list, start_lists):
        monkeypatch.setattr(module, "MAX_REFUSED", 2)
    caplog.set_level("INFO")
    await fill(frontier.redis, "list", b"junk 1", b"junk 2", b"junk 3", b"http://a.test/")
    reading = build()
    assert await reading.read_round(LIST)
    assert await left(frontier.redis) == [b"junk 3"]
    assert not await reading.read_round(LIST)
    assert not await reading.has_entries()  # a crawl that stops when all is done doesn't wait for it
    assert caplog.text.count("isn't read: myspider:start_urls:refused holds 2 refused entries") == 1
    await frontier.redis.delete(LIST.refused_key)
    assert await reading.read_round(LIST)
    assert "is read again" in caplog.text
    assert await left(frontier.redis) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arrives", [False, True])
async def test_nothing_is_lost_wherever_a_reader_is_killed(frontier, build, monkeypatch, kind, arrives):
    pages = [f"http://a.test/{number}".encode() for number in range(3)]
    refused = {b"junk": b"junk", LONG: field_of(LONG)}  # and what is kept of each
    entries = {*pages, *refused}
    for dies_at in range(100):
        await frontier.redis.flushall()
        await frontier.polite()
        await fill(frontier.redis, kind, *entries)
        mortal = Mortal(frontier.redis, dies_at, arrives=arrives)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            patch.setattr(start_lists, "READER_LOCK_MILLISECONDS", 1)  # the next reader needn't wait
            await build(reader="first", redis=mortal, queues=queues_over(frontier, mortal)).read_round(LIST)
        if not mortal.is_dead:
            break  # it needed fewer calls: all were tried
        await until_free(frontier)
        still_there = set(await left(frontier.redis))
        assert still_there >= set(pages) or (await frontier.totals()).ready == len(pages)
        for entry, field in refused.items():
            assert entry in still_there or await frontier.redis.hexists(LIST.refused_key, field)
        second = build(reader="second")
        while await second.read_round(LIST):
            pass
        assert await left(frontier.redis) == []
        assert set(await frontier.redis.hkeys(LIST.refused_key)) == set(refused.values())
        books = await frontier.account("books", "web")
        assert (books.ready, books.difference) == (len(pages), 0)
        assert books.known in (0, len(pages))
    assert dies_at > 8


def queues_over(frontier, redis):
    """Returns the frontier's queues over another client."""
    return queues_of(FrontierConfig(frontier.keys, frontier.partitions), redis)


async def until_free(frontier):
    """Waits until a dead reader keeps nobody off."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await frontier.redis.exists(frontier.keys.start_list(LIST.key)):  # noqa: ASYNC110 -- Redis has no event
            await asyncio.sleep(0.001)


async def test_one_worker_reads_until_it_leaves(frontier, build):
    await fill(frontier.redis, "list", b"http://a.test/1")
    first, second = build(reader="first"), build(reader="second")
    assert await first.read_round(LIST)
    await fill(frontier.redis, "list", b"http://a.test/2")
    assert not await second.read_round(LIST)
    assert await second.has_entries()
    await second.close()  # which isn't the reader, and frees nothing
    assert await first.read_round(LIST)
    await fill(frontier.redis, "list", b"http://a.test/3")
    await first.close()
    assert await second.read_round(LIST)


async def test_two_readers_at_once_lose_nothing(frontier, build, monkeypatch):
    """As when a reader froze for longer than its lock lasts."""
    monkeypatch.setattr(StartLists, "_is_reader", lambda *_: asyncio.sleep(0, result=True))
    await fill(frontier.redis, "list", *(f"http://a.test/{number}" for number in range(500)))

    async def read(reading):
        while await reading.read_round(LIST):
            pass

    await asyncio.gather(*(read(build(reader=str(number))) for number in range(3)))
    assert await left(frontier.redis) == []
    books = await frontier.account("books", "web")
    assert (books.ready, books.difference) == (500, 0)


@pytest.mark.parametrize("state", ["cancelled", "deleted"])
async def test_a_list_waits_while_its_plan_would_take_no_page(frontier, build, caplog, state):
    await fill(frontier.redis, "list", b"http://a.test/")
    registry = Registry(frontier.redis, frontier.keys, 1)
    record = PlanRecord("books", {}, [], edition=1, nav_seeds=0, version=1)
    if state == "cancelled":
        record = await registry.change_plan("books", lambda _: record.decided("cancelled", 2))
    else:
        await registry.tell_partitions(record, deleted=True)
    reading = build()
    for _ in range(2):
        assert not await reading.read_round(LIST)
    assert await left(frontier.redis) == [b"http://a.test/"]
    assert caplog.text.count(f"isn't read: plan 'books' was {state}") == 1


async def test_entries_stay_where_their_plan_is_deleted_while_their_offer_waits(frontier, build, caplog):
    await fill(frontier.redis, "list", b"http://a.test/", b"junk")
    reading = build()
    offer = reading._offers.offer
    record = PlanRecord("books", {}, [], edition=1, nav_seeds=0, version=1)

    async def delete_and_offer(seeds):
        await Registry(frontier.redis, frontier.keys, 1).tell_partitions(record, deleted=True)
        return await offer(seeds)

    reading._offers.offer = delete_and_offer
    assert await reading.read_round(LIST)  # the junk has left
    assert await left(frontier.redis) == [b"http://a.test/"]
    assert reading.counted["start_lists/read"] == 0
    assert "isn't read: plan 'books' was deleted while its pages were offered" in caplog.text
    assert not await reading.has_entries()  # a crawl that stops when all is done doesn't wait for it
    assert not await reading.read_round(LIST)
    assert "isn't read: plan 'books' was deleted lately" in caplog.text


async def test_what_nobody_can_read_waits_and_is_told(frontier, build, caplog):
    nowhere, no_list = StartList("k", "books", "nowhere"), StartList("text", "books")
    await fill(frontier.redis, "list", b"http://a.test/", key="k")
    await frontier.redis.set("text", "x")
    assert not await build([nowhere]).read_round(nowhere)
    assert not await build([no_list]).read_round(no_list)
    assert "start list k isn't read: unknown site 'nowhere'" in caplog.text
    assert "a sorted set in Redis, which holds a string" in caplog.text
    assert await left(frontier.redis, "k") == [b"http://a.test/"]


async def test_a_hash_of_refused_entries_that_is_none_keeps_junk_where_it_is(frontier, build, caplog):
    await frontier.redis.set(LIST.refused_key, "x")
    await fill(frontier.redis, "list", b"http://a.test/", b"junk")
    reading = build()
    for _ in range(2):
        assert not await reading.read_round(LIST)
    assert caplog.text.count("isn't read: WRONGTYPE") == 1
    assert await left(frontier.redis) == [b"junk"]
    assert (await frontier.account("books", "web")).offered == 1
    assert not await reading.has_entries()


@pytest.fixture
async def client_with(frontier, redis_settings):
    """Returns a function that gives a client of Redis with some rights beside those on the frontier."""
    opened = []

    async def made(*rights, base="~t:* &* +@all"):
        user = ["reset", "nopass", "on", *base.split(), *rights]
        await frontier.redis.execute_command("ACL", "SETUSER", "crawl", *user)
        opened.append(redis_async({"REDIS_URL": redis_settings["REDIS_URL"].replace("//", "//crawl:x@")}))
        return opened[-1]

    yield made
    for client in opened:
        await client.aclose()
    await frontier.redis.execute_command("ACL", "DELUSER", "crawl")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_rights_that_the_docs_name_are_enough(frontier, build, client_with, kind):
    (rights,) = re.findall(r"`START_LISTS`\s+names needs `(.*?)`", SERVERS.read_text(encoding="utf-8"))
    client = await client_with(*rights.replace("LIST", LIST.key).split(), base=acl_rule("t"))
    await fill(frontier.redis, kind, b"http://a.test/", b"junk", LONG)
    await frontier.redis.acl_log_reset()
    reading = build(redis=client, queues=queues_over(frontier, client))
    while await reading.read_round(LIST):
        pass
    assert await left(frontier.redis) == []
    assert await frontier.redis.hlen(LIST.refused_key) == 2
    assert await frontier.redis.acl_log() == []


@pytest.mark.parametrize(
    ("kind", "right"), [("list", "-lrem"), ("list", "-lpos"), ("set", "-srem"), ("zset", "-zrem"), ("list", "-lindex")]
)
async def test_nothing_is_offered_that_the_user_could_not_take_out(frontier, build, client_with, caplog, kind, right):
    await fill(frontier.redis, kind, b"http://a.test/")
    client = await client_with(f"~{LIST.key}*", right)
    reading = build(redis=client, queues=queues_over(frontier, client))
    for _ in range(2):
        assert not await reading.read_round(LIST)
    assert caplog.text.count(f"start list {LIST.key} isn't read") == 1
    assert (await frontier.totals()).ready == 0


@on_both
@pytest.mark.parametrize("kind", KINDS)
async def test_entries_that_are_too_long_are_refused_by_their_beginning(frontier, build, kind):
    await fill(frontier.redis, kind, LONG, b"http://a.test/", LONG + b"b", b"b" * len(LONG))
    reading = build()
    while await reading.read_round(LIST):
        pass
    assert await left(frontier.redis) == []
    refused = await frontier.redis.hgetall(LIST.refused_key)
    first, other = field_of(LONG), field_of(b"b" * len(LONG))
    assert refused == dict.fromkeys([first, other], b"longer than 65,536 bytes")
    assert first.startswith(LONG[:8_192] + b"... (SHA-256 ")
    assert reading.counted["start_lists/refused"] == 3
    assert (await frontier.account("books", "web")).offered == 1
    await fill(frontier.redis, kind, LONG)  # whoever has looked, and deleted the hash, finds it there again
    await frontier.redis.delete(LIST.refused_key)
    while await reading.read_round(LIST):
        pass
    assert await frontier.redis.hkeys(LIST.refused_key) == [first]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reading_loads_little_however_much_a_list_holds(frontier, kind):
    await fill(frontier.redis, kind, *(b"%d" % number * 2_000_000 for number in range(1, 4)))
    entries, _taken_out = await StoredList(LIST, frontier.redis).read()
    assert [len(entry) for entry in entries] == [MAX_ENTRY_BYTES + 1]
    await frontier.redis.delete(LIST.key)
    await fill(frontier.redis, kind, *(b"%03d" % number * 10_000 for number in range(100)))
    entries, _taken_out = await StoredList(LIST, frontier.redis).read()
    assert sum(map(len, entries)) <= stored_list.READ_BYTES + MAX_ENTRY_BYTES
    assert 20 < len(entries) < 50


async def test_a_list_whose_site_is_not_read_is_told_after_a_while(frontier, build, caplog):
    await fill(frontier.redis, "list", b"http://a.test/")
    reading = build()
    reading._site_cache.load = lambda _names: asyncio.sleep(0)
    for _ in range(start_lists.ROUNDS_IN_VAIN - 1):
        assert not await reading.read_round(LIST)
    assert caplog.text == ""
    for _ in range(2):
        assert not await reading.read_round(LIST)
    assert caplog.text.count("isn't read: site web: not read yet") == 1
    del reading._site_cache.load
    assert await reading.read_round(LIST)
    assert await left(frontier.redis) == []


async def test_a_worker_that_stops_leaves_the_entries_where_they_are(frontier, build, outage):
    await fill(frontier.redis, "list", b"http://a.test/")
    reading = build()
    reading._offers._stopping.set()
    await reading._site(LIST)  # is known before Redis is away
    outage(calls=1)
    assert not await reading.read_round(LIST)
    assert await left(frontier.redis) == [b"http://a.test/"]
    assert await reading.has_entries()


async def test_a_list_that_the_user_may_not_read_is_told_and_keeps_no_other_back(frontier, build, client_with, caplog):
    one, other = StartList("forbidden", "books"), LIST
    for key in (one.key, other.key):
        await fill(frontier.redis, "list", b"http://a.test/", key=key)
    client = await client_with(f"~{other.key}*")
    reading = build([one, other], redis=client, queues=queues_over(frontier, client))
    assert [await reading.read_round(each) for each in (one, other)] == [False, True]
    assert not await reading.has_entries()
    assert caplog.text.count("start list forbidden isn't read") == 1
    assert await left(frontier.redis, one.key) == [b"http://a.test/"]


@pytest.mark.parametrize("kind", KINDS)
async def test_refused_entries_of_one_beginning_are_kept_each(frontier, build, kind):
    common = b'{"meta": "' + b"m" * 9_000
    entries = [common + end for end in (b'", "a": 1}', b'", "a": 2}', b'", "a": 3}')]
    await fill(frontier.redis, kind, *entries)
    reading = build()
    while await reading.read_round(LIST):
        pass
    assert await left(frontier.redis) == []
    assert await frontier.redis.hlen(LIST.refused_key) == len(entries)
