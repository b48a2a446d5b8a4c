"""Lists of URLs that were filled for scrapy-redis's spiders become items, once each, while workers are killed."""

from __future__ import annotations

import json

import pytest
from waiting import until

PAGES = 300
KEY = "myspider:start_urls"
LISTS = json.dumps({KEY: {"plan": "books", "site": "s", "ignore": ["meta"]}})


@pytest.mark.parametrize(
    "kind", ["list", pytest.param("set", marks=pytest.mark.faults), pytest.param("zset", marks=pytest.mark.faults)]
)
def test_entries_become_items_though_their_readers_are_killed(crawl, many_hosts, kind):
    hosts = many_hosts(2, 10).hosts
    crawl.site(concurrency=2)
    crawl.settings |= {"START_LISTS": LISTS, "SESSION_SECONDS": 1}
    urls = [f"http://{hosts[number % len(hosts)]}/page/{number}" for number in range(PAGES)]
    push = {
        "list": lambda text: crawl.redis.lpush(KEY, text),
        "set": lambda text: crawl.redis.sadd(KEY, text),
        "zset": lambda text: crawl.redis.zadd(KEY, {text: len(text)}),
    }[kind]
    push("no URL")
    for number, url in enumerate(urls):
        push(json.dumps({"url": url, "meta": {"job": number}}) if number % 2 else url)
    for offered in (1, PAGES // 2):
        worker = crawl.worker()
        until(lambda offered=offered: crawl.counts()["offered"] >= offered, "entries to be read")
        worker.kill()
    crawl.finish(consumers=2)
    assert not crawl.redis.exists(KEY)
    assert crawl.redis.hgetall(f"{KEY}:refused") == {b"no URL": b"not a URL: 'no URL'"}
    account = crawl.total()
    assert (account["finished"], account["difference"], account["failed"]) == (PAGES, 0, 0)
    items = crawl.items()
    assert {item["url"] for item in items} == set(urls)
    assert {item["plan"] for item in items} == {"books"}


def test_an_idle_consumer_reads_what_is_pushed(crawl, many_hosts):
    (host,) = many_hosts().hosts
    crawl.site()
    worker = crawl.worker(START_LISTS=LISTS)
    until(lambda: "on frontier content" in worker.log.read_text(), "the worker")
    crawl.redis.lpush(KEY, f"http://{host}/page/1")
    until(lambda: crawl.counts()["finished"] == 1, "the page")
