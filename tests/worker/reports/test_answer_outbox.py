"""What hosts answered for pages that this worker has seen fail, told to Redis."""

from __future__ import annotations

from types import SimpleNamespace

from frontier.driver import content
from scrapy.http import Headers

from crawler.base.events import Events
from crawler.base.redaction import Redaction
from crawler.frontier.keys import Keys
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.servers.redis import redis_async
from crawler.telemetry import failed_answers
from crawler.worker.reports import answer_outbox as module
from crawler.worker.reports.answer_outbox import AnswerOutbox
from crawler.worker.visits.visit import AnswerHead, VisitEnded

KEYS = Keys("answers")
NOW_S = 1_800_000_000
SECRET = "canary-7f3a"


def ended(number, body=b"gone", operation="fail", reason="http-404", headers=None, **answer):
    head = AnswerHead("http://a.test/1", 404, Headers(headers or {}), body) if answer.get("has_answer", True) else None
    claimed = SimpleNamespace(fingerprint=bytes([number]))
    visit = SimpleNamespace(seed=content("http://a.test/1"), claimed=claimed, answer=head)
    return VisitEnded(visit, SimpleNamespace(operation=operation, reason=reason))


async def shown(redis_url, number):
    async with redis_async({"REDIS_URL": redis_url}) as client:
        return await failed_answers.read(client, KEYS, bytes([number]).hex())


async def test_a_failed_page_s_answer_is_text_without_secrets(redis, redis_url):
    events = Events()
    AnswerOutbox(KEYS, events, 10**6, Redaction([SECRET]))
    form = b'<input name="password" value="hunter2"> "token": "hunter2", ?user=ann&password=hunter2 '
    body = (
        form
        + f"<script>\t{SECRET}\r\n\x1b[2J http://u:pw@b.test/".encode()
        + b"\xff"
        + b"x" * 1_800
        + SECRET.encode() * 20
    )
    headers = {"Server": f"nginx {SECRET}", "Set-Cookie": ["a=1", "b=2"], "X-Api-Key": "k", "X": "\u202e"}
    events.publish(ended(1, body, headers=headers))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    answer = await shown(redis_url, 1)
    assert (answer.url, answer.status) == ("http://a.test/1", 404)
    assert answer.headers.splitlines()[:4] == [
        "Server: nginx ***",
        "Set-Cookie: ***",
        "Set-Cookie: ***",
        "X-Api-Key: ***",
    ]
    shown_form = '<input name="password" value="***"> "token": "***", ?user=ann&password=*** '
    assert answer.body.startswith(f"{shown_form}<script> ***\n\N{REPLACEMENT CHARACTER}[2J http://***@b.test/")
    assert "canary" not in answer.body
    assert len(answer.body) <= module.MAX_BODY_CHARACTERS


async def test_other_ends_and_pages_without_an_answer_leave_nothing(redis):
    events = Events()
    AnswerOutbox(KEYS, events, 10**6, Redaction())
    events.publish(ended(1, operation="finish"))
    events.publish(ended(2, has_answer=False))
    events.publish(SessionEnding(redis, "node:1:2:a", NOW_S))
    assert not redis.keys()


async def test_of_many_few_wait_and_with_no_bytes_none(redis, monkeypatch):
    monkeypatch.setattr(module, "MAX_UNSENT", 2)
    monkeypatch.setattr(module, "MAX_PAIRS", 1)
    events = Events()
    AnswerOutbox(KEYS, events, 10**6, Redaction())
    for number in range(4):
        events.publish(ended(number))
    events.publish(ended(5, reason="timeout"))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    assert redis.hlen(KEYS.failed_answers) == 2
    redis.flushall()
    events = Events()
    AnswerOutbox(KEYS, events, 0, Redaction())
    events.publish(ended(1))
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S))
    assert not redis.keys()
