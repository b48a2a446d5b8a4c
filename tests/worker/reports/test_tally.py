"""What a worker has done since it last told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from frontier.driver import content, nav
from redis.exceptions import RedisError
from samples import Stats

from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.servers.redis import redis_sync
from crawler.worker.reports import tally as module
from crawler.worker.reports.tally import Tally

KEYS = Keys("tally")
NOW_S = 1_800_000_000


@pytest.fixture
def stats():
    return Stats()


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def tally(events, stats):
    return Tally(KEYS, events, stats)


def told(redis):
    """Returns what Redis has been told in this minute."""
    counts = redis.hgetall(KEYS.history(60, NOW_S // 60 * 60))
    return {name.decode(): int(number) for name, number in counts.items()}


def settlement(operation, site="news", also=(), reason="", **seed):
    claimed = SimpleNamespace(seed=content(1, site=site, **seed), also=also)
    return SimpleNamespace(operation=operation, claimed=claimed, reason=reason)


def test_it_tells_by_how_much_scrapys_statistics_have_grown(redis, stats, tally):
    stats.values |= {"response_received_count": 3, "downloader/response_bytes": 900, "start_time": "now"}
    stats.values |= {
        "downloader/response_status_count/404": 1,
        "frontier/fail/http-404": 1,
        "frontier/retry/timeout": 2,
    }
    tally.collect()
    tally.tell(redis, NOW_S)
    counts = {"pages": 3, "bytes": 900, "status:404": 1, "failed:http-404": 1, "retried:timeout": 2}
    assert told(redis) == counts
    stats.inc_value("response_received_count", 4)
    for _ in range(2):
        tally.collect()
        tally.tell(redis, NOW_S)
    assert told(redis) == counts | {"pages": 7}


def test_it_counts_by_site_how_tries_end(redis, tally):
    for operation in ("finish", "finish", "fail", "retry", "release"):
        tally.settled(settlement(operation))
    tally.settled(settlement("finish", "board", frontier="nav"))
    tally.settled(settlement("finish", "board", reason="redirected"))
    tally.tell(redis, NOW_S)
    assert told(redis) == {
        "site:news:finished": 2,
        "site:news:failed": 1,
        "site:news:retried": 1,
        "site:news:content": 3,
        "site:news:items": 2,
        "site:board:finished": 2,
        "site:board:content": 1,
    }


def test_what_could_not_be_told_is_told_later(redis, tally):
    tally.settled(settlement("finish"))
    with redis_sync({"REDIS_URL": "redis://127.0.0.1:1"}) as away, pytest.raises(RedisError):
        tally.tell(away, NOW_S)
    tally.settled(settlement("finish"))
    tally.tell(redis, NOW_S)
    assert told(redis)["site:news:finished"] == 2


def hosts_told(redis):
    """Returns what Redis has been told of hosts in this minute."""
    lines = redis.get(KEYS.host_history(60, NOW_S // 60 * 60)).decode().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_it_tells_what_hosts_answered_now_and_then_and_as_the_session_ends(redis, events, tally):
    tally.answered("a.test", 200, 100)
    tally.answered("a.test", 404, 10)
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    assert hosts_told(redis) == {"a.test": "2 110 1"}
    tally.answered("b.test", 200, 1)
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S + 59))
    assert hosts_told(redis) == {"a.test": "2 110 1"}
    events.publish(SessionEnding(redis, "node:1:2:a", NOW_S + 59))
    assert hosts_told(redis) == {"a.test": "2 110 1", "b.test": "1 1 0"}


def test_so_many_hosts_are_counted_and_so_many_told(redis, tally, monkeypatch):
    monkeypatch.setattr(module, "MAX_HOSTS_COUNTED", 2)
    monkeypatch.setattr(module, "MAX_HOSTS_TOLD", 1)
    for host in ("a.test", "b.test", "b.test", "c.test", "c.test", "c.test"):
        tally.answered(host, 200, 1)
    tally.tell(redis, NOW_S)
    assert hosts_told(redis) == {"b.test": "2 2 0"}


def test_it_tells_what_plans_brought(redis, tally):
    tally.searched(nav(1, keywords=("flood",)), results=20, new=9)
    tally.settled(settlement("finish", keywords=("flood",), also=[content(1, plan="other", keywords=("rain",))]))
    tally.settled(settlement("fail", keywords=("flood",)))
    tally.tell(redis, NOW_S)
    counts = {name.decode(): int(number) for name, number in redis.hgetall(KEYS.plan_yield("p")).items()}
    assert counts == {
        **dict.fromkeys(('pages ["flood"]', "pages 1", 'items ["flood"]'), 1),
        **dict.fromkeys(('found ["flood"]', "found 1"), 20),
        **dict.fromkeys(('new ["flood"]', "new 1"), 9),
    }
    assert redis.hgetall(KEYS.plan_yield("other")) == {b'items ["rain"]': b"1"}
    tally.tell(redis, NOW_S)
    assert redis.hget(KEYS.plan_yield("p"), "pages 1") == b"1"


def test_as_many_plans_as_are_kept_are_counted(redis, tally, monkeypatch):
    monkeypatch.setattr(module, "MAX_PLANS_COUNTED", 1)
    for plan in ("first", "second", "first"):
        tally.searched(nav(1, plan=plan), results=1, new=1)
    tally.tell(redis, NOW_S)
    assert redis.hget(KEYS.plan_yield("first"), "found 1") == b"2"
    assert not redis.exists(KEYS.plan_yield("second"))
