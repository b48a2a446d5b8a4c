"""The newest items of this worker, told to Redis."""

from __future__ import annotations

import pytest
from redis.exceptions import RedisError
from telemetry.test_newest_items import message

from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.worker.reports import item_outbox as module
from crawler.worker.reports.item_outbox import MAX_TOLD, TELL_SECONDS, ItemOutbox

KEYS = Keys("newest")
NOW_S = 1_800_000_000


@pytest.fixture
def events():
    return Events()


def ids(redis):
    return {name.decode() for name in redis.hkeys(KEYS.newest_items)}


def test_they_are_told_now_and_then_and_at_the_end(redis, events):
    newest = ItemOutbox(KEYS, events, 10**6)
    newest.delivered("news", message(1))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    newest.delivered("blog", message(2, "blog"))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S + TELL_SECONDS - 1))
    assert ids(redis) == {"news-1"}
    events.publish(SessionEnding(redis, "node:1:2:a", NOW_S))
    assert ids(redis) == {"news-1", "blog-2"}


def test_of_many_the_newest_are_told_and_few_wait(redis, events, monkeypatch):
    newest = ItemOutbox(KEYS, events, 10**6)
    for number in range(MAX_TOLD + 5):
        newest.delivered("news", message(number))
    monkeypatch.setattr(module, "MAX_UNSENT_BYTES", (MAX_TOLD + 1) * len(message(10)))
    newest.delivered("blog", message(1, "blog"))
    newest.delivered("blog", message(2, "blog"))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    assert ids(redis) == {"blog-1", *(f"news-{number}" for number in range(5, MAX_TOLD + 5))}


def test_a_redis_that_takes_none_costs_these_items_alone(redis, events, monkeypatch):
    newest = ItemOutbox(KEYS, events, 10**6)
    newest.delivered("news", message(1))

    def refuse(*_words, **_options):
        raise RedisError

    with monkeypatch.context() as patch:
        patch.setattr(module.newest_items, "add", refuse)
        events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    newest.delivered("news", message(2))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S + TELL_SECONDS))
    assert ids(redis) == {"news-2"}
