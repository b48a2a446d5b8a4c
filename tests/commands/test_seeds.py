"""`scrapy seeds list|show|offer|retry`, on a real Redis."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from commands.hands import content

from crawler import plans

ROOT = Path(__file__).parents[2]


def answer(done):
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


class TestOffer:
    async def test_pages_of_any_site(self, scrapy, cluster):
        urls = ["http://board.test/thread/1", "https://other.test/a?utm_source=x", "http://board.test/thread/1#top"]
        result = answer(scrapy("seeds", "offer", *urls, "--json"))
        assert result == {"plan": "manual", "site": "web", "offered": 3, "new": 2, "known": 1, "bad": []}
        assert [found.seed.url async for found in cluster.admins["content"].seeds()] != []
        assert (await cluster.registry.site("web")).name == "web"
        account = (await cluster.ledger())["manual", "web"]["content"]
        assert (account.offered, account.ready) == (3, 2)

    def test_one_a_line_from_stdin_and_bad_ones_are_named(self, scrapy_command):
        words, environment = scrapy_command("seeds", "offer", "-")
        given = "http://board.test/1\n\n  http://board.test/2  \nnot a url\nftp://x.test/\x1b[2J\nhttp://café.test/\n"
        done = subprocess.run(
            words,
            input=given,
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert done.stdout == "3 offered: 3 new, 0 known\n"
        lines = done.stderr.splitlines()
        assert lines[0] == "refused: not a URL: 'not a url'"
        assert lines[1].startswith("refused: not an http(s) URL: 'ftp://x.test/")
        assert "\x1b" not in lines[1]
        assert lines[2:] == ["error: 2 of 5 URLs were refused"]

    async def test_a_kind_of_site_stays_where_a_plan_put_it(self, scrapy, cluster, plan_file):
        assert scrapy("plan", "submit", plan_file).returncode == 0
        board = await cluster.registry.site("board")
        await cluster.registry.save_sites((board.named("demo_forum", "http://board.test"),))
        answer(scrapy("seeds", "offer", "http://board.test/thread/1", "--site", "demo_forum", "--json"))
        assert (await cluster.registry.site("demo_forum")).base == "http://board.test"
        stored_only = answer(scrapy("seeds", "offer", "http://board.test/thread/2", "--site", "board", "--json"))
        assert stored_only["site"] == "board"

    async def test_an_analyst_s_own_site_is_stored_when_it_changes(self, scrapy, cluster, tmp_path):
        settings = {"SITES_DIR": tmp_path}
        for delay in (1, 1, 2):
            (tmp_path / "mine.yaml").write_text(f"name: mine\npoliteness: {{delay: {delay}}}\n")
            words = ("seeds", "offer", "http://board.test/1", "--site", "mine", "--plan", "own", "--json")
            assert answer(scrapy(*words, settings=settings))["plan"] == "own"
        assert await cluster.registry.versions(["mine"]) == {"mine": 2}

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ((), "seeds offer: expected URL|- ..."),
            (("http://board.test/", "-"), "seeds offer: expected URLs, or - alone to read them from stdin"),
            (("http://board.test/", "--plan", "a b"), "--plan 'a b': expected 1 to 64 of a-z, 0-9 and -"),
            (("http://board.test/", "--site", "none"), "unknown site 'none'; known: demo_forum"),
        ],
    )
    async def test_a_wrong_command_line(self, scrapy, cluster, words, expected):
        done = scrapy("seeds", "offer", *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {expected}")
        assert await cluster.ledger() == {}

    async def test_not_to_a_cancelled_plan(self, scrapy, cluster, plan_file):
        plan = plans.load(str(plan_file), max_seeds=100)
        async for _ in cluster.registry.submit(plan, cluster.queues["nav"]):
            pass
        await cluster.cancel("flood")
        done = scrapy("seeds", "offer", "http://board.test/1", "--plan", "flood")
        assert done.stderr == "error: plan 'flood' was cancelled: its pages would not be crawled\n"


class TestList:
    @pytest.fixture
    async def seeds(self, cluster, fail, claim):
        await fail("robots", content("robots"))
        await fail("http-404", content("gone"), content("gone-too", "second"))
        await cluster.queues["content"].offer([content("held")])
        await claim()
        await cluster.queues["content"].offer([content("ready")])

    async def test_options_choose(self, scrapy, seeds):
        everything = answer(scrapy("seeds", "list", "--json"))
        assert everything["more"] is False
        assert {row["url"].rpartition("/")[2]: (row["state"], row["reason"]) for row in everything["seeds"]} == {
            "robots": ("failed", "robots"),
            "gone": ("failed", "http-404"),
            "gone-too": ("failed", "http-404"),
            "held": ("executing", ""),
            "ready": ("ready", ""),
        }
        row = next(row for row in everything["seeds"] if row["reason"] == "robots")
        assert row == {
            "frontier": "content",
            "state": "failed",
            "reason": "robots",
            "plan": "flood",
            "site": "board",
            "url": "http://board.test/thread/robots",
            "keywords": ["洪水"],
            "fingerprint": content("robots").fingerprint.hex(),
        }
        chosen = answer(scrapy("seeds", "list", "--state", "failed", "--plan", "second", "--site", "board", "--json"))
        assert [row["url"] for row in chosen["seeds"]] == ["http://board.test/thread/gone-too"]

    async def test_a_table_that_ends(self, scrapy, seeds):
        done = scrapy("seeds", "list", "--reason", "http-404", "--limit", "1", environment={"COLUMNS": "100"})
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        assert lines[0] == "frontier state reason plan site url"
        assert lines[1].startswith("content failed http-404 ")
        assert lines[2:] == ["and more; --limit shows more than 1"]

    def test_nothing(self, scrapy):
        assert scrapy("seeds", "list", "--frontier", "nav").stdout == "no such seeds\n"
        done = scrapy("seeds", "list", "--limit", "0")
        assert (done.returncode, done.stderr) == (1, "error: --limit is at least 1\n")


class TestShow:
    async def test_why_it_is_not_done(self, scrapy, cluster, fail):
        await fail("robots", content(1))
        result = answer(scrapy("seeds", "show", "http://board.test/thread/1#x", "--json"))
        assert result["url"] == "http://board.test/thread/1"
        (seed,) = result["seeds"]
        assert (seed["frontier"], seed["state"], seed["seed"]["plan"]) == ("content", "failed", "flood")
        assert seed["why"] == (
            "failed for good with robots: its host's robots.txt forbids it to crawlers; "
            "scrapy seeds retry makes it ready again"
        )
        await cluster.queues["content"].offer([content(2)])
        done = scrapy("seeds", "show", "http://board.test/thread/2")
        assert done.stdout.splitlines()[1] == (
            f"content {content(2).fingerprint.hex()}: ready, due, the next of board.test; "
            "no consumer is running: scrapy crawl consumer"
        )

    async def test_a_plan_s_search_page(self, scrapy, cluster, plan_file):
        plan = plans.load(str(plan_file), max_seeds=100)
        async for _ in cluster.registry.submit(plan, cluster.queues["nav"]):
            pass
        await cluster.pause("flood")
        url = next(plan.nav_seeds(1)).url
        content_page, search_page = answer(scrapy("seeds", "show", url, "--plan", "flood", "--json"))["seeds"]
        assert (content_page["frontier"], content_page["state"]) == ("content", "unknown")
        assert (search_page["frontier"], search_page["state"]) == ("nav", "ready")
        assert search_page["seed"]["keywords"] == ["洪水"]
        assert search_page["why"].startswith("plan flood is paused; due, ")

    def test_no_url(self, scrapy):
        done = scrapy("seeds", "show", "board")
        assert (done.returncode, done.stderr) == (1, "error: not a URL: 'board'\n")


class TestRetry:
    async def test_chosen_failures_are_ready_again(self, scrapy, cluster, fail):
        await fail("robots", content(1), content(2))
        await fail("http-404", content(3), content(4, "second"))
        url = "http://board.test/thread/1"
        assert answer(scrapy("seeds", "retry", url, "--json")) == {"retried": {"content": 1, "nav": 0}}
        assert answer(scrapy("seeds", "retry", "--reason", "http-404", "--plan", "second", "--json")) == {
            "retried": {"content": 1, "nav": 0}
        }
        assert scrapy("seeds", "retry", "--all").stdout == "2 failed seeds are ready again\n"
        account = (await cluster.ledger("flood"))["flood", "board"]["content"]
        assert (account.ready, account.failed, account.difference) == (3, 0, 0)

    def test_nothing_says_which(self, scrapy):
        done = scrapy("seeds", "retry")
        assert done.returncode == 1
        assert done.stderr == "error: seeds retry: expected URLs, --plan, --site, --reason, --frontier or --all\n"
