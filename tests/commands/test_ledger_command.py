"""`scrapy ledger`, on a real Redis."""

from __future__ import annotations

import json

from commands.hands import content

from crawler.frontier.settlement import Settlement
from crawler.models import Seed

NOTHING = {
    "offered": 0,
    "known": 0,
    "ready": 0,
    "executing": 0,
    "finished": 0,
    "failed": 0,
    "difference": 0,
    "failures": {},
    "notes": {},
}


async def test_rows_per_plan_and_site_with_failures_by_reason(scrapy, cluster, fail, claim):
    await fail("robots", content(1))
    await fail("http-404", content(2), content(3))
    await cluster.queues["content"].offer([content(4), content(4), content(5, "second")])
    await claim()
    await cluster.queues["nav"].offer([Seed("http://board.test/search", "flood", "board", frontier="nav")])

    done = scrapy("ledger", "--json", "--verify")
    assert (done.returncode, done.stderr) == (0, "")
    ledger = json.loads(done.stdout)
    first, second = ledger["rows"]
    failures = {"robots": 1, "http-404": 2}
    assert first == {
        "plan": "flood",
        "site": "board",
        **NOTHING,
        "offered": 6,
        "known": 1,
        "ready": 1,
        "executing": 1,
        "failed": 3,
        "failures": failures,
        "nav": NOTHING | {"offered": 1, "ready": 1},
        "content": NOTHING | {"offered": 5, "known": 1, "executing": 1, "failed": 3, "failures": failures},
    }
    assert (second["plan"], second["ready"]) == ("second", 1)
    assert ledger["total"] == NOTHING | {
        "offered": 7,
        "known": 1,
        "ready": 2,
        "executing": 1,
        "failed": 3,
        "failures": failures,
    }
    assert ledger["problems"] == []

    done = scrapy("ledger", "flood")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines == [
        "offered known ready executing finished failed difference",
        "flood board 6 1 1 1 0 3 0",
        "nav 1 0 1 0 0 0 0",
        "content 5 1 0 1 0 3 0",
        "all 6 1 1 1 0 3 0",
        "",
        "failed, flood board: http-404 2, robots 1",
    ]


def test_nothing_yet(scrapy):
    done = scrapy("ledger", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"rows": [], "total": NOTHING})


async def test_a_difference_is_exit_status_1(scrapy, cluster):
    await cluster.queues["content"].offer([content(1)])
    await cluster.redis.hincrby(cluster.keys.partition(0).ledger("flood", "board"), "content:offered", 1)
    done = scrapy("ledger", "--json")
    assert done.returncode == 1
    assert done.stderr == "error: the ledger doesn't reconcile: flood board has a difference\n"
    assert json.loads(done.stdout)["rows"][0]["difference"] == 1


async def test_a_lost_seed_is_found_by_verify_alone(scrapy, cluster):
    await cluster.queues["content"].offer([content(1)])
    await cluster.redis.delete(cluster.keys.partition(0).of("content", "seed"))
    assert scrapy("ledger").returncode == 0
    done = scrapy("ledger", "--verify")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the recount found 2 problems, such as: ")
    assert "problem: flood board content: ledger ready 1, counted 0" in done.stdout


def test_an_unknown_plan(scrapy):
    done = scrapy("ledger", "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: no plan 'none'; submitted plans: there are none\n"


async def test_a_narrow_terminal_shows_every_number(scrapy, cluster):
    await cluster.queues["content"].offer([content(1)])
    done = scrapy("ledger", environment={"COLUMNS": "40"})
    assert "flood board offered 1, known 0, ready 1, executing 0, finished 0, failed 0, difference 0" in " ".join(
        done.stdout.split()
    )


async def test_what_else_was_counted(scrapy, cluster, claim):
    await cluster.queues["content"].offer([content(1)])
    (claimed,) = await claim()
    moved = Settlement("finish", claimed, reason="redirected")
    await cluster.queues["content"].settle(0, claimed.claim.partition("#")[0], [moved])
    assert scrapy("ledger").stdout.endswith("\nbesides, flood board: redirected 1\n")
