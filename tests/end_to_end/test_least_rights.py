"""A whole crawl, and every command, under a Redis user with the rights that the docs name, and no others."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from commands.answers import error_of
from crawl import Crawl
from least_rights import acl_rule

from crawler.base.urls import fingerprint


@contextmanager
def user(crawl, rule, name="headroom"):
    """Makes a user of Redis; gives the URL with which it comes."""
    crawl.redis.execute_command("ACL", "SETUSER", name, "reset", "on", ">hunter22", *rule.split())
    try:
        yield crawl.redis_url.replace("://", f"://{name}:hunter22@")
    finally:
        crawl.redis.execute_command("ACL", "DELUSER", name)


@pytest.fixture
def crawl(fork_server, redis_url, tmp_path):
    with Crawl(fork_server, tmp_path, redis_url, {"ALLOW_PRIVATE_ADDRESSES": 1, "SESSION_SECONDS": 3}) as crawl:
        crawl.redis.execute_command("ACL", "LOG", "RESET")
        yield crawl


def test_a_crawl_and_all_commands_need_no_more(crawl, forum):
    sites = [{"use": "demo_forum", "name": "board", "base": forum.url}]
    with user(crawl, acl_rule("hr")) as url:
        crawl.environment["REDIS_URL"] = url
        crawl.scrapy("doctor")
        crawl.submit(sites, ["洪水"], name="flood", pages=2)
        crawl.scrapy("plan", "pause", "flood")
        crawl.scrapy("plan", "resume", "flood")
        worker = crawl.worker()
        crawl.finish(consumers=1, producers=1)
        assert "flood" in crawl.scrapy("plan", "show", "flood")
        crawl.scrapy("plan", "list")
        account = crawl.total()
        assert account["difference"] == 0
        assert account["finished"] > 10
        assert [state["state"] for state in crawl.workers()] == ["alive"]
        item = next(
            one
            for one in crawl.items()  # but for those whose pages have moved: their seeds have the former address
            if one["fingerprint"] == fingerprint(one["url"], scope="board").hex()
        )
        assert "finished" in crawl.scrapy("seeds", "show", item["url"])
        answered = crawl.json("stats")["hosts"][forum.url.removeprefix("http://")]
        assert answered["pages"] >= 1  # those of the workers that have ended; the other one tells once a minute
        assert "\nheadroom_items_total " in crawl.scrapy("stats", "--metrics")
        assert "finished" in crawl.scrapy("top")
        crawl.scrapy("seeds", "offer", f"{forum.url}/robots.txt")
        crawl.scrapy("seeds", "list")
        crawl.scrapy("seeds", "retry", "--all")
        crawl.submit(sites, ["洪水"], "--replace", name="flood")
        crawl.scrapy("plan", "cancel", "flood")
        assert worker.stop() == 0, worker.log.read_text()
        crawl.scrapy("plan", "delete", "flood")
        assert [entry for entry in crawl.redis.acl_log() if entry["username"] == "headroom"] == []


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("~* &* +@all -eval", "its user lacks a right; docs/servers.md has the rights that it needs (User headroom "),
        ("~* &* +@all -zadd -spop", "its user lacks rights (+spop +zadd on hr:*); docs/servers.md has the"),
        ("~other:* &* +@all", "its user lacks rights (+del +exists +persist "),
        ("~* &other:* +@all", "its user lacks rights (+publish +subscribe on hr:*)"),
    ],
)
def test_a_missing_right_ends_a_start_at_once(crawl, rule, complaint):
    with user(crawl, f"resetkeys resetchannels {rule}") as url:
        error = error_of(crawl.run("crawl", "consumer", environment={"REDIS_URL": url}))
    where = crawl.redis_url.removeprefix("redis://")
    assert error.startswith(f"Redis at redis://{where}: {complaint}")


@pytest.mark.parametrize("command", [("crawl", "consumer"), ("nodes",)])
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("headroom:hunter22@", "headroom:wrong@"), "it refuses the user or the password in REDIS_URL ("),
        (("headroom:hunter22@", ""), "it asks for a password, and REDIS_URL has none ("),
        (("/0", "/99"), "it has no database of the number in REDIS_URL (DB index is out of range)"),
    ],
)
def test_what_redis_refuses_ends_a_start_at_once(crawl, command, change, complaint):
    crawl.redis.execute_command("ACL", "SETUSER", "default", "resetpass", ">secret")
    try:
        with user(crawl, acl_rule("hr")) as url:
            error = error_of(crawl.run(*command, environment={"REDIS_URL": url.replace(*change)}))
    finally:
        crawl.redis.execute_command("ACL", "SETUSER", "default", "nopass")
    assert f": {complaint}" in error
    assert "wrong" not in error
    assert "hunter22" not in error
