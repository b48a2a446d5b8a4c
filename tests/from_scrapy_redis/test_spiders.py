"""scrapy-redis's spiders run unchanged, in a project of theirs and in this one, beside a crawl on the same Redis."""

from __future__ import annotations

import json

import pytest
from from_scrapy_redis.conftest import PAGES

CRAWL_S_OWN = "hr:"

pytestmark = [pytest.mark.faults, pytest.mark.matrix]  # each starts commands or crawls of its own, one after the other


@pytest.fixture
def crawl(crawl):
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1}
    return crawl


def contents(redis, *, of_the_crawl):
    """Returns each key of the crawl, or each other one, with what it holds as Redis dumps it."""
    keys = sorted(key for key in redis.scan_iter() if key.decode().startswith(CRAWL_S_OWN) == of_the_crawl)
    return {key: redis.dump(key) for key in keys}


def items(redis, spider):
    return [json.loads(item) for item in redis.lrange(f"{spider}:items", 0, -1)]


def test_each_kind_of_spider_leaves_a_crawl_alone(crawl, site, run_spider):
    """And has the seeds, requests, fingerprints and items of its own."""
    crawl.site()
    crawl.offer([site.url_of(1), site.url_of(2)])
    before = contents(crawl.redis, of_the_crawl=True)
    assert before
    crawl.redis.lpush("listed:start_urls", site.url_of(3), json.dumps({"url": site.url_of(4), "meta": {"job": 7}}))
    crawl.redis.lpush("listed_crawl:start_urls", site.url_of(5))

    log = run_spider("listed", CLOSESPIDER_ITEMCOUNT=2)
    assert {(item["url"], item["job"]) for item in items(crawl.redis, "listed")} == {
        (site.url_of(3), None),
        (site.url_of(4), 7),
    }
    assert {item["spider"] for item in items(crawl.redis, "listed")} == {"listed"}
    assert "scheduler/enqueued/redis" in log

    log = run_spider("listed_crawl", CLOSESPIDER_ITEMCOUNT=PAGES)
    assert {item["url"] for item in items(crawl.redis, "listed_crawl")} == {
        site.url_of(number) for number in range(PAGES)
    }
    assert crawl.redis.scard("listed_crawl:dupefilter") == PAGES
    assert [one.path for one in site.asked].count(
        "/page/5"
    ) == 2  # its address, which its dupefilter doesn't hold, and the link to it

    run_spider("directory", "-a", f"address={site.url_of(0)}", CLOSESPIDER_ITEMCOUNT=1)
    assert items(crawl.redis, "directory")
    assert contents(crawl.redis, of_the_crawl=True) == before


@pytest.mark.parametrize("run_spider", ["this project"], indirect=True)
def test_a_crawl_leaves_what_is_scrapy_redis_s_alone(crawl, site, run_spider):
    crawl.site()
    crawl.offer([site.url_of(1), site.url_of(2)])
    crawl.redis.lpush("listed:start_urls", site.url_of(3))
    crawl.redis.lpush("listed_crawl:start_urls", site.url_of(5))
    run_spider("listed_crawl", CLOSESPIDER_ITEMCOUNT=1)
    before = contents(crawl.redis, of_the_crawl=False)
    assert b"listed:start_urls" in before
    crawl.finish()
    assert {item["url"] for item in crawl.items()} == {site.url_of(1), site.url_of(2)}
    assert contents(crawl.redis, of_the_crawl=False) == before


def test_a_list_moves_from_its_spider_to_the_crawl(crawl, site, run_spider):
    """Step by step as docs/from-scrapy-redis.md says."""
    crawl.site()
    crawl.redis.lpush("listed:start_urls", site.url_of(1))
    run_spider("listed", CLOSESPIDER_ITEMCOUNT=1)
    lists = {"listed:start_urls": {"plan": "books", "site": "s", "ignore": ["meta"]}}
    crawl.settings["START_LISTS"] = json.dumps(lists)
    crawl.redis.lpush(
        "listed:start_urls", site.url_of(2), json.dumps({"url": site.url_of(3), "meta": {"job": 7}}), "no URL"
    )
    crawl.finish()
    assert {item["url"] for item in crawl.items()} == {site.url_of(2), site.url_of(3)}
    assert crawl.redis.hgetall("listed:start_urls:refused") == {b"no URL": b"not a URL: 'no URL'"}
    (books,) = crawl.json("ledger", "books")["rows"]
    assert (books["plan"], books["site"], books["content"]["finished"]) == ("books", "s", 2)
