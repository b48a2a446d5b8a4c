"""What goes wrong in a crawl that runs is said by the monitor, by name and soon."""

from __future__ import annotations

import re
import time
from urllib.parse import unquote

import orjson
import pytest
from monitor.conftest import PASSWORD, Running, settings_at, text_of
from waiting import until

from crawler.monitor.users import UserFile
from crawler.telemetry import history


@pytest.fixture
def browser(redis_url, tmp_path):
    """One that is signed in to a monitor of the crawl."""
    users = UserFile(str(tmp_path / "users.json"))
    users.put("viewer", "viewer", PASSWORD)
    with Running(settings_at(redis_url), users) as monitor:
        yield monitor.browser("viewer")


def said_within(browser, sentence, seconds):
    """Waits until the overview says something, and expects it in time."""
    began_s = time.monotonic()
    until(lambda: sentence in text_of(browser.get("/").text), sentence, poll_seconds=0.5)
    assert time.monotonic() - began_s < seconds


def rows_of(browser, page, key):
    return {row[key]: row for row in orjson.loads(browser.get(f"/{page}.json").text)}


def test_one_of_two_workers_of_a_node_that_was_killed_is_said_within_15_s(crawl, browser):
    workers = [crawl.worker(), crawl.worker()]
    until(lambda: len(crawl.workers()) == 2, "both workers", poll_seconds=0.5)
    workers[0].kill()
    said_within(browser, "Gone or frozen: 1 of the workers of", 15)


def test_a_site_whose_pages_bring_no_items_any_more_is_named_within_two_minutes(many_hosts, crawl, browser):
    (host,) = many_hosts(1, 1).hosts
    before = {f"site:changed:{what}": 900 for what in ("finished", "content", "items")}
    history.add(crawl.redis, crawl.keys, crawl.redis.time()[0] - 120, before)
    crawl.site("changed", concurrency=4, burst=20)
    crawl.offer([f"http://{host}/answer?status=404&n={number}" for number in range(60)], "changed")
    crawl.worker()
    said_within(browser, " pages: changed. Look at the site, and at its file.", 120)
    assert rows_of(browser, "sites", "site")["changed"]["trouble"] == "empty"


def test_a_host_is_marked_of_whose_answers_a_third_say_that_it_is_asked_too_often(many_hosts, crawl, browser):
    limited, sound = many_hosts(1, 2).hosts
    crawl.site(burst=20)
    pages = ["answer?status=429&n=" if number % 3 == 0 else "page/" for number in range(21)]
    crawl.offer(f"http://{limited}/{page}{number}" for number, page in enumerate(pages))
    crawl.offer(f"http://{sound}/page/{number}" for number in range(21))
    crawl.finish(MAX_ATTEMPTS=1)
    shown = re.findall(r'<tr class="is-warning"><td><a href="/host[?]name=([^"]+)"', browser.get("/hosts").text)
    assert [unquote(host) for host in shown] == [limited]
