"""The newest items of each site, in Redis."""

from __future__ import annotations

import random
import zlib
from datetime import UTC, datetime

import orjson
import pytest

from crawler.frontier.keys import Keys
from crawler.servers.redis import redis_sync
from crawler.telemetry import newest_items

KEYS = Keys("items")
NOW_MS = 1_800_000_000_000
NO_BOUND = 10**9


def message(number, site="news", **fields):
    """Returns an item; those with higher numbers are newer."""
    time = datetime.fromtimestamp(NOW_MS / 1000 + number, UTC).isoformat(timespec="milliseconds")
    whole = {
        "id": f"{site}-{number}", "resource": site, "url": f"http://{site}.test/{number}", "content": "some words",
        "time": time.replace("+00:00", "Z"), "truncated": [], "comments": [], "extra": {}, "images": [], "videos": [],
        "title": "", "author": None, "markdown": None,
    }  # fmt: skip
    return orjson.dumps(whole | fields)


@pytest.fixture
def add(redis_settings):
    """Returns a function that adds items of a site."""
    with redis_sync(redis_settings) as client:
        yield lambda *messages, site="news", bytes_max=NO_BOUND: newest_items.add(
            client, KEYS, site, messages, bytes_max=bytes_max
        )


async def ids(redis, **options):
    return [item["id"] async for item in newest_items.read(redis, KEYS, **options)]


async def test_items_of_all_sites_come_newest_first_and_each_is_there_by_its_id(redis, add):
    add(message(1), message(4))
    add(message(3, "blog"), site="blog")
    add(message(2))
    assert await ids(redis) == ["news-4", "blog-3", "news-2", "news-1"]
    assert await ids(redis, site="news") == ["news-4", "news-2", "news-1"]
    assert await ids(redis, until_ms=NOW_MS + 3_000) == ["blog-3", "news-2", "news-1"]
    assert await newest_items.read_one(redis, KEYS, "blog-3") == orjson.loads(message(3, "blog"))
    assert await newest_items.read_one(redis, KEYS, "none") is None
    assert await ids(redis, site="none") == []


async def test_an_item_that_comes_again_takes_the_place_of_its_former_version(redis, add):
    add(message(1), message(2))
    again = orjson.dumps(orjson.loads(message(3)) | {"id": "news-1", "content": "other words"})
    add(again)
    assert await ids(redis) == ["news-1", "news-2"]
    assert (await newest_items.read_one(redis, KEYS, "news-1"))["content"] == "other words"
    kept = sum(map(len, await redis.hvals(KEYS.newest_items)))
    assert int(await redis.hget(KEYS.newest_item_sizes, "news")) == kept


async def test_a_site_keeps_so_many(redis, add, monkeypatch):
    monkeypatch.setattr(newest_items, "MAX_ITEMS", 3)
    for number in range(5):
        add(message(number))
    assert await ids(redis) == ["news-4", "news-3", "news-2"]
    assert await redis.hlen(KEYS.newest_items) == 3


async def test_all_together_keep_so_many_bytes_and_the_largest_site_gives_way(redis, add):
    chance = random.Random(1)
    for number in range(20):
        add(message(number, content=chance.randbytes(400).hex()), bytes_max=8_000)
    add(message(0, "blog"), site="blog", bytes_max=8_000)
    assert sum(map(len, await redis.hvals(KEYS.newest_items))) <= 8_000
    kept = await ids(redis)
    assert kept[-1] == "blog-0"
    assert kept[:-1] == [f"news-{number}" for number in range(19, 19 - len(kept[:-1]), -1)]
    assert len(kept) > 5


async def test_however_many_items_give_way_sizes_are_read_once(redis, add):
    """All sites' sizes are: thousands of them once for each item would keep Redis from others."""
    many = {f"site-{number}": 1_000 for number in range(100)}
    await redis.hset(KEYS.newest_item_sizes, mapping=many)
    for site in many:
        await redis.zadd(KEYS.newest_item_order(site), {f"{site}-1": NOW_MS})
    await redis.config_resetstat()
    chance = random.Random(1)
    add(*(message(number, content=chance.randbytes(2_000).hex()) for number in range(20)), bytes_max=50_000)
    assert (await redis.info("commandstats"))["cmdstat_hgetall"]["calls"] == 1
    sizes = [int(size) for size in await redis.hvals(KEYS.newest_item_sizes)]
    assert 40_000 < sum(sizes) <= 50_000


@pytest.mark.parametrize("name", ["content", "markdown", "title", "author"])
async def test_large_items_are_cut_and_say_so(redis, add, name):
    long_text = "é" * newest_items.MAX_UNPACKED_BYTES
    add(message(1, **{name: long_text}, comments=[{"text": "x"}], extra={"a": 1}, truncated=["published"]))
    item = await newest_items.read_one(redis, KEYS, "news-1")
    assert item[name] == long_text[: newest_items.MAX_TEXT_CHARACTERS]
    assert (item["comments"], item["extra"]) == ([], {})
    assert item["truncated"] == sorted(["comments", name, "extra", "published"])


async def test_junk_is_left_out(redis, add):
    add(message(1))
    junk = {"a": b"none", "b": zlib.compress(b"[1]"), "c": zlib.compress(b"x" * 10**7), "d": zlib.compress(b'{"id":1}')}
    await redis.hset(KEYS.newest_items, mapping=junk)
    await redis.zadd(KEYS.newest_item_order("news"), dict.fromkeys((*junk, "gone"), NOW_MS))
    assert await ids(redis) == ["news-1"]


async def test_all_of_it_expires(redis, add):
    add(message(1, content=random.Random(1).randbytes(200).hex()))
    for key in (KEYS.newest_items, KEYS.newest_item_sizes, KEYS.newest_item_order("news")):
        assert 0 < await redis.ttl(key) <= newest_items.KEPT_SECONDS
    week = newest_items.KEPT_SECONDS - 7 * 86_400
    for key in (KEYS.newest_items, KEYS.newest_item_order("news")):
        await redis.expire(key, week)
    add(message(1, "blog"), site="blog")  # keeps what it knows of other sites' items as long as these
    ttls = [await redis.ttl(key) for key in (KEYS.newest_items, KEYS.newest_item_order("news"))]
    assert week < ttls[0] <= ttls[1]
    await redis.delete(KEYS.newest_items, KEYS.newest_item_order("news"), KEYS.newest_item_order("blog"))
    add(message(2, "blog"), site="blog", bytes_max=400)  # a site whose items are gone gives way
    assert await ids(redis) == ["blog-2"]
    assert await redis.hkeys(KEYS.newest_item_sizes) == [b"blog"]
