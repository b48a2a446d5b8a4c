"""What workers learn together of templates, on a real Redis."""

from __future__ import annotations

import os

import pytest
from redis.asyncio import Redis

from crawler.base.events import Events
from crawler.extract import Marks
from crawler.extract.page_templates import KEY_BYTES, MARK_BYTES, MAX_MARKS, MAX_PAGES
from crawler.frontier.keys import Keys
from crawler.worker import shared_templates
from crawler.worker.shared_templates import KEPT_SECONDS, MAX_TEMPLATES_OF_HOST, MAX_WAITING, SharedTemplates

TEMPLATE = b"t" * KEY_BYTES


def marks(number, *, template=TEMPLATE, host="a.test"):
    """The marks of page `number`: those of its own, and a common one."""
    return Marks(host, template, number.to_bytes(KEY_BYTES, "big"), number.to_bytes(MARK_BYTES, "big") + b"common")


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def worker(redis):
    return lambda: SharedTemplates(redis, Keys("hr"), 1, Events())


async def told(templates, *pages):
    """Notes pages, and returns when each was exchanged."""
    for page in pages:
        templates.note(page)
        if templates._exchanging is not None:
            await templates._exchanging


async def test_workers_learn_from_each_other(worker):
    here, there = worker(), worker()
    await told(here, *(marks(number) for number in range(3)))
    await told(there, marks(9))
    assert len(there.known.of(TEMPLATE).pages) == 4
    assert there.known.of(TEMPLATE).counts[b"common"] == 4
    await told(there, marks(10))
    await told(here, marks(3))
    assert len(here.known.of(TEMPLATE).pages) == 6


async def test_a_template_that_never_repeats_stores_nothing(worker, redis):
    templates = worker()
    await told(templates, *(marks(n, template=n.to_bytes(KEY_BYTES, "big")) for n in range(20)))
    assert await redis.keys("*") == []


async def test_a_template_has_few_pages_and_its_host_few_templates_and_all_expire(worker, redis):
    here = worker()
    for kind in range(MAX_TEMPLATES_OF_HOST + 5):
        await told(here, *(marks(n, template=kind.to_bytes(KEY_BYTES, "big")) for n in range(2)))
    await told(here, *(marks(number) for number in range(2 * MAX_PAGES)))
    keys = await redis.keys("*")
    assert len(keys) == MAX_TEMPLATES_OF_HOST + 1
    assert await redis.hlen(Keys("hr").partition(0).template(TEMPLATE.hex())) == MAX_PAGES
    assert all([0 < await redis.ttl(key) <= KEPT_SECONDS for key in keys])


async def test_a_page_never_waits_and_what_is_exchanged_is_bounded(worker, monkeypatch):
    monkeypatch.setattr(SharedTemplates, "_exchange_all", lambda self: _never())
    templates = worker()
    for number in range(2 * MAX_WAITING):
        templates.note(marks(0, template=number.to_bytes(KEY_BYTES, "big")))
    assert len(templates._waiting) == MAX_WAITING
    await templates.close()


async def _never():
    await shared_templates.tasks.asyncio.Event().wait()


async def test_without_redis_a_worker_learns_by_itself():
    async with Redis(port=1) as nobody:
        templates = SharedTemplates(nobody, Keys("hr"), 1, Events())
        await told(templates, *(marks(number) for number in range(4)))
        assert templates.known.of(TEMPLATE).counts[b"common"] == 4


async def test_junk_in_redis_is_no_page(worker, redis):
    key = Keys("hr").partition(0).template(TEMPLATE.hex())
    await redis.hset(key, mapping={b"junk": b"x" * 6, b"p" * KEY_BYTES: b"x" * 9_000, b"": b""})
    templates = worker()
    await told(templates, *(marks(number) for number in range(3)))
    assert len(templates.known.of(TEMPLATE).pages) == 3
    await redis.delete(key)
    await redis.set(key, "x")
    await told(templates, marks(7))
    assert len(templates.known.of(TEMPLATE).pages) == 4


async def test_what_was_learned_is_forgotten_after_a_day(worker, monkeypatch):
    templates = worker()
    await told(templates, marks(1))
    monkeypatch.setattr(templates, "_forget_at_s", 0.0)
    await told(templates, marks(2))
    assert len(templates.known.of(TEMPLATE).pages) == 1


@pytest.mark.parametrize(("marks_of_page", "most_bytes"), [(50, 8_000), (MAX_MARKS, 30_000)])
async def test_a_template_takes_few_bytes(worker, redis, marks_of_page, most_bytes):
    here = worker()
    for number in range(MAX_PAGES):
        page = marks(number)
        random_marks = page.marks[:MARK_BYTES] + os.urandom(MARK_BYTES * (marks_of_page - 1))
        await told(here, Marks(page.host, TEMPLATE, page.page, random_marks))
    key = Keys("hr").partition(0).template(TEMPLATE.hex())
    assert await redis.hlen(key) == MAX_PAGES
    assert await redis.memory_usage(key, samples=0) < most_bytes
