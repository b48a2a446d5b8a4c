"""`scrapy plan submit|list|show|pause|resume|cancel|delete`, on a real Redis."""

from __future__ import annotations

import json

import pytest
import redis as sync_redis


def answer(done):
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def lines(done):
    assert (done.returncode, done.stderr) == (0, "")
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def test_a_plan_s_life(scrapy, plan_file):
    assert lines(scrapy("plan", "submit", plan_file)) == [
        "plan flood: 2 combinations, 4 search pages offered: 4 new, 0 known",
        "sites: board (version 1)",
        "next: scrapy crawl producer and scrapy crawl consumer, on any node; scrapy ledger flood shows how far it is",
    ]
    assert lines(scrapy("plan", "list"))[1] == "flood active 4 4 0 0 0 %"
    assert lines(scrapy("plan", "pause", "flood"))[0].startswith("plan flood is paused;")
    assert lines(scrapy("plan", "resume", "flood"))[0].startswith("plan flood goes on")
    assert scrapy("plan", "delete", "flood").returncode == 1
    assert lines(scrapy("plan", "cancel", "flood"))[0].startswith("plan flood is cancelled, 4 seeds given up;")
    assert lines(scrapy("plan", "delete", "flood")) == ["plan flood is deleted; pages that it crawled stay known"]
    assert lines(scrapy("plan", "list")) == ["no plans; scrapy plan submit FILE sends one"]


def test_submitting_again_goes_on_and_replacing_begins_anew(scrapy, plan_file):
    first = answer(scrapy("plan", "submit", plan_file, "--json"))
    assert first == {
        "plan": "flood",
        "edition": first["edition"],
        "combinations": 2,
        "nav_seeds": 4,
        "offered": 4,
        "new": 4,
        "known": 0,
        "resumed": False,
        "replaced": False,
        "sites": [{"site": "board", "version": 1}],
    }
    again = answer(scrapy("plan", "submit", plan_file, "--json"))
    assert again == first | {"new": 0, "known": 4, "resumed": True}

    plan_file.write_text(plan_file.read_text("utf-8").replace("pages: 2", "pages: 1"), encoding="utf-8")
    refused = scrapy("plan", "submit", plan_file)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "error: plan 'flood' was submitted with another content: give it another name, or use --replace\n"
    )
    replaced = answer(scrapy("plan", "submit", plan_file, "--replace", "--json"))
    assert (replaced["new"], replaced["replaced"]) == (2, True)
    assert replaced["edition"] > first["edition"]


def test_show_has_state_definition_and_ledger(scrapy, plan_file):
    edition = answer(scrapy("plan", "submit", plan_file, "--json"))["edition"]
    shown = answer(scrapy("plan", "show", "flood", "--json"))
    assert (shown["plan"], shown["state"], shown["edition"], shown["nav_seeds"]) == ("flood", "active", edition, 4)
    assert shown["definition"]["keywords"]["event"]["optional"] == ["洪水", "flood"]
    assert shown["sites"] == [{"site": "board", "version": 1}]
    assert [(row["plan"], row["site"], row["ready"]) for row in shown["ledger"]["rows"]] == [("flood", "board", 4)]
    text = lines(scrapy("plan", "show", "flood"))
    assert text[0].startswith("plan flood: active, 0 % of its seeds, submitted 20")
    assert "- 洪水" in text
    assert "flood board 4 0 4 0 0 0 0" in text


def test_a_bad_plan_leaves_redis_untouched(scrapy, plan_file, redis_url):
    plan_file.write_text("name: flood\nsites: [nowhere]\nkeywords: {event: {optional: [x]}}\n")
    done = scrapy("plan", "submit", plan_file)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    with sync_redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


async def test_what_redis_holds_can_not_move_the_terminal_s_cursor(scrapy, plan_file, cluster):
    assert scrapy("plan", "submit", plan_file).returncode == 0
    raw = json.loads(await cluster.redis.hget(cluster.keys.plans, "flood"))
    raw["definition"] = {"name": "\x1b[2Jflood", "schedule": "\x9b31m"}
    await cluster.redis.hset(cluster.keys.plans, "flood", json.dumps(raw))
    done = scrapy("plan", "show", "flood")
    assert done.returncode == 0
    assert not set("\x1b\x9b") & set(done.stdout)


@pytest.mark.parametrize("action", ["show", "pause"])
def test_an_unknown_plan_is_one_line(scrapy, action):
    done = scrapy("plan", action, "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: no plan 'none'; submitted plans: there are none\n"


@pytest.mark.parametrize("words", [("plan", "list"), ("nodes", "--json")])
def test_without_redis_a_command_is_one_line(scrapy, words):
    done = scrapy(*words, environment={"REDIS_URL": "redis://:secret@127.0.0.1:1/0"})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("error: Redis at redis://127.0.0.1:1/0: Error 111")
