"""`scrapy ledger`, on a real Redis."""

from __future__ import annotations

import json
import re

from commands.answers import error_of, json_of, lines_of
from commands.conftest import content_seed

from crawler.base.models import Seed
from crawler.frontier.settlement import Settlement

COUNTS = ("offered", "known", "ready", "executing", "finished", "failed", "difference")
NOTHING = dict.fromkeys(COUNTS, 0) | {"failures": {}, "notes": {}}


async def test_rows_per_plan_and_site_with_failures_by_reason(scrapy, operator, fail, claim):
    await fail("robots", content_seed(1))
    await fail("http-404", content_seed(2), content_seed(3))
    await operator.queues["content"].offer([content_seed(4), content_seed(4), content_seed(5, "second")])
    await claim()
    await operator.queues["nav"].offer([Seed("http://board.test/search", "flood", "board", frontier="nav")])

    ledger = json_of(scrapy("ledger", "--json", "--verify"))
    first, second = ledger["rows"]
    failures = {"robots": 1, "http-404": 2}
    failed = {"failed": 3, "failures": failures}
    assert first == {
        "plan": "flood",
        "site": "board",
        **NOTHING,
        **failed,
        "offered": 6,
        "known": 1,
        "ready": 1,
        "executing": 1,
        "nav": NOTHING | {"offered": 1, "ready": 1},
        "content": NOTHING | failed | {"offered": 5, "known": 1, "executing": 1},
    }
    assert (second["plan"], second["ready"]) == ("second", 1)
    assert ledger["total"] == NOTHING | failed | {"offered": 7, "known": 1, "ready": 2, "executing": 1}
    assert ledger["problems"] == []

    assert lines_of(scrapy("ledger", "flood")) == [
        "offered known ready executing finished failed difference",
        "flood board 6 1 1 1 0 3 0",
        "nav 1 0 1 0 0 0 0",
        "content 5 1 0 1 0 3 0",
        "all 6 1 1 1 0 3 0",
        "",
        "failed, flood board: http-404 2, robots 1",
    ]


async def test_what_has_changed_since_a_ledger_that_was_saved(scrapy, operator, claim, tmp_path):
    saved = tmp_path / "ledger.json"
    await operator.queues["content"].offer([content_seed(1), content_seed(2, "second")])
    saved.write_text(scrapy("ledger", "--json").stdout)
    assert lines_of(scrapy("ledger", "--since", saved)) == ["nothing has changed"]

    await operator.redis.flushdb()  # a Redis that lost all but what is offered now
    await operator.queues["content"].offer([content_seed(number) for number in range(3)])
    await operator.queues["nav"].offer([Seed("http://board.test/search", "new", "board", frontier="nav")])
    assert lines_of(scrapy("ledger", "--since", saved)) == [
        "offered known ready executing finished failed difference",
        "flood board content 2 0 2 0 0 0 0",
        "new board nav 1 0 1 0 0 0 0",
        "second board content -1 0 -1 0 0 0 0",
        "",
        "not there any more: 'second'",
    ]
    first, *_, second = json_of(scrapy("ledger", "--since", saved, "--json"))["changes"]
    nothing = dict.fromkeys(COUNTS, 0)
    assert first == {
        "plan": "flood",
        "site": "board",
        "is_gone": False,
        "nav": nothing,
        "content": nothing | {"offered": 2, "ready": 2},
    }
    assert second["is_gone"]


def test_what_is_no_saved_ledger_is_refused(scrapy, tmp_path):
    file = tmp_path / "ledger.json"
    assert error_of(scrapy("ledger", "--since", file)) == f"{file}: No such file or directory"
    for text in ("{", "[]", '{"rows": [{"plan": "p"}]}', '{"rows": 1}'):
        file.write_text(text)
        assert error_of(scrapy("ledger", "--since", file)).endswith("expected what scrapy ledger --json has printed")
    assert "about all plans" in error_of(scrapy("ledger", "flood", "--since", file))


def test_nothing_was_offered_yet(scrapy):
    assert json_of(scrapy("ledger", "--json")) == {"rows": [], "total": NOTHING}
    assert error_of(scrapy("ledger", "none")) == "no plan 'none'; submitted plans: none"


async def test_a_difference_is_exit_status_1(scrapy, operator):
    await operator.queues["content"].offer([content_seed(1)])
    await operator.redis.hincrby(operator.keys.partition(0).ledger("flood", "board"), "content:offered", 1)
    done = scrapy("ledger", "--json")
    assert done.returncode == 1
    assert done.stderr == "error: the ledger doesn't reconcile: flood board has a difference\n"
    assert json.loads(done.stdout)["rows"][0]["difference"] == 1


async def test_a_lost_seed_is_found_by_verify_alone(scrapy, operator):
    await operator.queues["content"].offer([content_seed(1)])
    await operator.redis.delete(operator.keys.partition(0).of("content", "seed"))
    assert scrapy("ledger").returncode == 0
    done = scrapy("ledger", "--verify")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the recount found 3 problems, such as: ")
    assert "problem: flood board content: ledger ready 1, counted 0" in done.stdout
    assert re.search(
        r"\nverified 0 unfinished seeds and 0 finished, of all plans, in [0-9.]+ s: 3 problems\n$", done.stdout
    )


async def test_a_sound_frontier_is_verified_in_one_line(scrapy, operator, claim):
    await operator.queues["content"].offer([content_seed(1), content_seed(2), content_seed(3, "second")])
    (claimed,) = await claim()
    await operator.queues["content"].settle(0, claimed.claim.partition("#")[0], [Settlement("finish", claimed)])
    done = scrapy("ledger", "--verify")
    verdict = r"\nverified 2 unfinished seeds and 1 finished, of all plans, in [0-9.]+ s: all agrees\n$"
    assert re.search(verdict, done.stdout)
    assert done.stderr == ""
