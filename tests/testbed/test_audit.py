from dataclasses import dataclass
from datetime import date
from pathlib import Path

import orjson
import pytest

from crawler import plans
from crawler.frontier import recount
from crawler.frontier.ledger import Account
from testbed.audit import find_problems, forum_threads, read_items
from testbed.forum import content, kinds

PLAN_FILE = Path(__file__).parents[2] / "plans/demo.yaml"
PLAN = plans.load(str(PLAN_FILE), max_seeds=10_000)


@dataclass
class Operator:
    """A ledger as a right crawl leaves it."""

    account: Account
    redis: None = None
    keys: None = None
    partitions: int = 1

    async def ledger(self, _plan):
        return {("demo", "demo_forum"): {"nav": Account(), "content": self.account}}


def messages(ids):
    url = "http://127.0.0.1/thread/{}"
    return {f"sha-{number}": {"resource": "demo_forum", "url": url.format(number)} for number in ids}


@pytest.fixture
def right(monkeypatch):
    async def agrees(*_):
        return []

    monkeypatch.setattr(recount, "recount", agrees)
    items = messages(forum_threads(PLAN))
    account = Account(offered=len(items) + 2, finished=len(items) + 2, notes={"redirected": 1, "moved": 1})
    return items, {"files": set(items), "mongo": set(items)}, account


async def test_a_right_crawl_has_no_problems(right):
    items, delivered, account = right
    assert await find_problems(PLAN, Operator(account), items, delivered) == []


async def test_whatever_is_wrong_is_said(right):
    items, delivered, account = right
    lost = next(iter(items))
    delivered["mongo"] -= {lost}
    assert await find_problems(PLAN, Operator(account), items, delivered) == [
        "mongo: 1 items are missing, 0 are too many"
    ]
    del items[lost]
    items |= messages([999])
    delivered = {"files": set(items)}
    assert await find_problems(PLAN, Operator(account), items, delivered) == [
        "forum: 1 items are missing, 1 are too many"
    ]
    account.ready += 1
    account.finished -= 1
    problems = await find_problems(PLAN, Operator(account), items, delivered)
    assert problems[1:] == [
        f"demo_forum: 1 seeds are not done, {len(items) - 1} pages gave an item, {len(items)} items came"
    ]


def test_the_forums_truth_follows_the_plan(tmp_path):
    found = [content.thread(number) for number in forum_threads(PLAN)]
    assert {thread.board for thread in found} == {"html", "ajax"}
    assert {thread.kind for thread in found if thread.kind.item == "none"} == {kinds.AWAY, kinds.MOVED}
    file = tmp_path / "autumn.yaml"
    file.write_text(PLAN_FILE.read_text("utf-8").replace("  - demo_forum\n", "") + "since: 2026-10-01\n", "utf-8")
    recent = [content.thread(number) for number in forum_threads(plans.load(str(file), max_seeds=10_000))]
    assert 0 < len(recent) < len(found) / 4
    assert all(thread.board == "ajax" and thread.published.date() >= date(2026, 10, 1) for thread in recent)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path):
    line = orjson.dumps({"id": "1"})
    (tmp_path / "demo_forum.node.1.jsonl").write_bytes(line + b"\n" + line + b"\n" + orjson.dumps({"id": "2"})[:5])
    assert read_items(tmp_path) == {"1": {"id": "1"}}
    assert read_items(tmp_path / "none") == {}
