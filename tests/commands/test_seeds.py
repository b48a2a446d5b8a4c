"""`scrapy seeds list|show|offer|retry`, on a real Redis."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from commands.answers import error_of, json_of, lines_of
from commands.conftest import content_seed

from crawler import plans
from crawler.base.errors import PlanError
from crawler.cli.manual_offers import offer_urls, prepare_site
from crawler.cluster import audit
from crawler.frontier.settlement import Settlement
from crawler.plans.submission import submit


@pytest.fixture
async def submitted(operator, plan_file):
    """The plan `flood`, submitted."""
    plan = plans.load(str(plan_file), max_seeds=100)
    async for _ in submit(plan, operator.registry, operator.queues):
        pass
    return plan


class TestOffer:
    async def test_pages_of_any_site(self, scrapy, operator):
        urls = ["http://board.test/thread/1", "https://other.test/a?utm_source=x", "http://board.test/thread/1#top"]
        result = json_of(scrapy("seeds", "offer", *urls, "--json"))
        assert result == {"plan": "manual", "site": "web", "offered": 3, "new": 2, "known": 1, "bad": []}
        assert [found.seed.url async for found in operator.admins["content"].seeds()] != []
        assert (await operator.registry.site("web")).name == "web"
        account = (await operator.ledger())["manual", "web"]["content"]
        assert (account.offered, account.ready) == (3, 2)

    def test_one_a_line_from_stdin_and_bad_ones_are_named(self, scrapy):
        given = "http://board.test/1\n\n  http://board.test/2  \nnot a url\nftp://x.test/\x1b[2J\nhttp://café.test/\n"
        done = scrapy("seeds", "offer", "-", stdin=given)
        assert done.returncode == 1
        assert done.stdout == "3 pages offered for plan manual, site web: 3 new, 0 known\n"
        lines = done.stderr.splitlines()
        assert lines[0] == "refused: not a URL: 'not a url'"
        assert lines[1].startswith("refused: not an http(s) URL: 'ftp://x.test/")
        assert "\x1b" not in lines[1]
        assert lines[2:] == ["error: 2 of 5 URLs were refused"]

    async def test_spellings_of_a_page_are_one_page_unless_the_site_tells_them_apart(self, scrapy, operator, tmp_path):
        (tmp_path / "strict.yaml").write_text("name: strict\nidentity: exact\n", encoding="utf-8")
        settings = {"SITES_DIR": tmp_path}
        one = json_of(scrapy("seeds", "offer", "http://board.test/%e4", "http://board.test/%E4?", "--json"))
        assert (one["new"], one["known"]) == (1, 1)
        urls = ["http://board.test/%f6", "http://board.test/%F6?"]
        two = json_of(scrapy("seeds", "offer", *urls, "--site", "strict", "--json", settings=settings))
        assert (two["new"], two["known"]) == (2, 0)
        shown = json_of(scrapy("seeds", "show", urls[1], "--site", "strict", "--json"))["seeds"]
        assert [seed["seed"]["url"] for seed in shown if seed["state"] == "ready"] == [urls[1]]

    async def test_an_address_that_only_a_script_can_open_is_refused_and_counted(self, scrapy, operator):
        done = scrapy("seeds", "offer", "http://board.test/#/thread/1", "http://board.test/#top")
        assert done.returncode == 1
        assert done.stdout == "1 page offered for plan manual, site web: 1 new, 0 known\n"
        assert done.stderr.startswith(
            "refused: only a browser's script knows what is at http://board.test/#/thread/1; `render` in its site's "
            "file has a browser run it\n"
        )
        account = (await operator.ledger())["manual", "web"]["content"]
        assert (account.offered, account.notes) == (1, {"script-route": 1})

    async def test_an_analyst_s_own_site_is_stored_when_it_changes(self, scrapy, operator, tmp_path):
        settings = {"SITES_DIR": tmp_path}
        for delay in (1, 1, 2):
            (tmp_path / "mine.yaml").write_text(f"name: mine\npoliteness: {{delay: {delay}}}\n")
            words = ("seeds", "offer", "http://board.test/1", "--site", "mine", "--plan", "own", "--json")
            assert json_of(scrapy(*words, settings=settings))["plan"] == "own"
        assert await operator.registry.versions(["mine"]) == {"mine": 2}

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ((), "seeds offer: expected URL|- ..."),
            (("http://board.test/", "-"), "seeds offer: expected URLs, or - alone to read them from stdin"),
            (("http://board.test/", "--plan", "a b"), "--plan 'a b': expected 1 to 64 of a-z, 0-9 and -"),
            (
                ("http://board.test/", "--site", "none"),
                "unknown site 'none', neither built in nor in SITES_DIR (not set); known: any_feed",
            ),
        ],
    )
    async def test_a_wrong_command_line(self, scrapy, operator, words, expected):
        assert error_of(scrapy("seeds", "offer", *words)).startswith(expected)
        assert await operator.ledger() == {}

    async def test_not_to_a_cancelled_plan(self, scrapy, operator, submitted):
        await operator.cancel("flood")
        error = error_of(scrapy("seeds", "offer", "http://board.test/1", "--plan", "flood"))
        assert error == "plan 'flood' was cancelled: its pages would not be crawled"
        await operator.delete("flood")
        error = error_of(scrapy("seeds", "offer", "http://board.test/1", "--plan", "flood"))
        assert error == "plan 'flood' was deleted lately: its pages would be refused; use another name"

    async def test_not_to_a_plan_that_is_deleted_meanwhile(self, operator, submitted, monkeypatch):
        queue = operator.queues["content"]
        offer = queue.offer

        async def delete_and_offer(*seeds, **terms):
            await operator.cancel("flood")
            await operator.delete("flood")
            return await offer(*seeds, **terms)

        monkeypatch.setattr(queue, "offer", delete_and_offer)
        site = await prepare_site(operator, "web", "")
        with pytest.raises(PlanError, match="plan 'flood' was deleted meanwhile"):
            await offer_urls(operator, site, "flood", ["http://board.test/1"])

    async def test_what_the_plan_means_for_them_is_said(self, scrapy, operator, submitted):
        await operator.pause("flood")
        for plan, note in (
            ("flod", "no plan flod was submitted: these pages can't be paused, cancelled or deleted"),
            ("flood", "plan flood is paused: scrapy plan resume flood lets them go on"),
        ):
            done = scrapy("seeds", "offer", f"http://board.test/{plan}", "--plan", plan)
            assert lines_of(done) == [f"1 page offered for plan {plan}, site web: 1 new, 0 known; {note}"]

    async def test_a_known_page_says_how_it_is_asked_for_again(self, scrapy, operator):
        url = "http://board.test/thread/1"
        lines_of(scrapy("seeds", "offer", url))
        first, then = lines_of(scrapy("seeds", "offer", url))
        assert first == "1 page offered for plan manual, site web: 0 new, 1 known"
        assert then.startswith("known pages aren't fetched again: ")
        assert "scrapy seeds retry URL" in then


class TestList:
    @pytest.fixture
    async def seeds(self, operator, fail, claim):
        await fail("robots", content_seed("robots"))
        await fail("http-404", content_seed("gone"), content_seed("gone-too", "second"))
        await operator.queues["content"].offer([content_seed("held")])
        await claim()
        await operator.queues["content"].offer([content_seed("ready")])

    async def test_options_choose_by_state_plan_and_site(self, scrapy, seeds):
        everything = json_of(scrapy("seeds", "list", "--json"))
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
            "plans": ["flood"],
            "site": "board",
            "url": "http://board.test/thread/robots",
            "keywords": ["洪水"],
            "fingerprint": content_seed("robots").fingerprint.hex(),
        }
        chosen = json_of(scrapy("seeds", "list", "--state", "failed", "--plan", "second", "--site", "board", "--json"))
        assert [row["url"] for row in chosen["seeds"]] == ["http://board.test/thread/gone-too"]

    async def test_a_table_that_ends(self, scrapy, seeds):
        words = ("--reason", "http-404", "--limit", "1")
        lines = lines_of(scrapy("seeds", "list", *words))
        assert lines[0] == "frontier state reason plan site url"
        assert lines[1].startswith("content failed http-404 ")
        assert lines[2:] == ["and more; --limit shows more than 1"]

    @pytest.mark.parametrize("words", [("--frontier", "x"), ("--limit", "many"), ("--plan",)])
    def test_a_wrong_option_is_one_line(self, scrapy, words):
        assert error_of(scrapy("seeds", "list", *words)).startswith(f"argument {words[0]}: ")

    def test_no_such_seed_is_said(self, scrapy):
        for words in (("--frontier", "nav"), ("--reason", "robots")):
            assert scrapy("seeds", "list", *words).stdout == "no such seeds\n"
        assert error_of(scrapy("seeds", "list", "--limit", "0")) == "--limit is at least 1"


class TestShow:
    async def test_why_it_is_not_done(self, scrapy, operator, fail):
        await fail("robots", content_seed(1))
        result = json_of(scrapy("seeds", "show", "http://board.test/thread/1#x", "--json"))
        assert result["url"] == "http://board.test/thread/1"
        (seed,) = result["seeds"]
        assert (seed["frontier"], seed["state"], seed["seed"]["plan"]) == ("content", "failed", "flood")
        assert seed["why"] == (
            "failed for good with robots: its host's robots.txt forbids it to crawlers; "
            "scrapy seeds retry makes it ready again"
        )
        again = replace(content_seed(2), keywords=("洪水", "救援"))
        await operator.queues["content"].offer([content_seed(2), content_seed(2, "second"), again])
        _, state, whose, _ = lines_of(scrapy("seeds", "show", "http://board.test/thread/2"))
        assert state == (
            f"content {content_seed(2).fingerprint.hex()}: ready, due, the next of board.test; "
            "no consumer is running: scrapy crawl consumer"
        )
        assert whose == "plan flood + second, site board, priority 5, depth 0, keywords: 洪水; 洪水 + 救援"

    def test_a_page_that_was_never_offered_has_no_plan_and_no_site(self, scrapy):
        (status,) = json_of(scrapy("seeds", "show", "http://board.test/none", "--json"))["seeds"]
        assert (status["state"], status["site"]) == ("unknown", "")
        assert len(lines_of(scrapy("seeds", "show", "http://board.test/none"))) == 2

    async def test_when_a_page_was_finished_is_said_as_exactly_as_it_is_known(self, scrapy, operator, claim):
        await operator.queues["content"].offer([content_seed(1)])
        (claimed,) = await claim()
        owner = claimed.claim.partition("#")[0]
        await operator.queues["content"].settle(0, owner, [Settlement("finish", claimed)], [])
        url = content_seed(1).url
        stored_s = json_of(scrapy("seeds", "show", url, "--json"))["seeds"][0]["details"]["finished_s"]
        *_, whose, when = lines_of(scrapy("seeds", "show", url))
        assert whose.strip() == "plan flood, site board"
        words = when.split()
        assert words[:2] == ["finished", "between"]
        assert (words[4], words[7:]) == ("and", ["UTC"])
        first, last = (
            datetime.strptime(f"{day} {minute} +0000", "%Y-%m-%d %H:%M %z").timestamp()
            for day, minute in (words[2:4], words[5:7])
        )
        assert first <= stored_s <= last + 59
        assert last <= datetime.now(UTC).timestamp(), "no page was finished in time to come"

    async def test_a_plan_s_search_page(self, scrapy, operator, submitted):
        await operator.pause("flood")
        url = next(submitted.nav_seeds(1)).url
        content_page, search_page = json_of(scrapy("seeds", "show", url, "--plan", "flood", "--json"))["seeds"]
        assert (content_page["frontier"], content_page["state"]) == ("content", "unknown")
        assert (search_page["frontier"], search_page["state"]) == ("nav", "parked")
        assert search_page["seed"]["keywords"] == ["洪水"]
        assert search_page["why"].startswith("plan flood is paused; ")

    async def test_a_failed_page_of_a_cancelled_plan_says_that_a_retry_does_not_help(self, scrapy, operator, submitted):
        await operator.queues["content"].offer([content_seed(1)])
        await operator.cancel("flood")
        shown = json_of(scrapy("seeds", "show", content_seed(1).url, "--json"))["seeds"][0]["why"]
        assert shown.endswith(
            "plan flood is cancelled, so it stays so: scrapy plan submit --replace begins the plan anew"
        )


class TestRetry:
    async def test_chosen_failures_are_ready_again(self, scrapy, operator, fail):
        await fail("robots", content_seed(1), content_seed(2))
        await fail("http-404", content_seed(3), content_seed(4, "second"))
        url = "http://board.test/thread/1"
        once = {"retried": {"content": 1, "nav": 0}, "cancelled": {}}
        assert json_of(scrapy("seeds", "retry", url, "--json")) == once
        assert json_of(scrapy("seeds", "retry", "--reason", "http-404", "--plan", "second", "--json")) == once
        assert scrapy("seeds", "retry", "--all").stdout == "2 failed seeds are ready again\n"
        account = (await operator.ledger("flood"))["flood", "board"]["content"]
        assert (account.ready, account.failed, account.difference) == (3, 0, 0)

    async def test_seeds_of_a_cancelled_plan_stay_failed_and_it_says_so(self, scrapy, operator, submitted, fail):
        await operator.queues["content"].offer([content_seed(1)])
        await operator.cancel("flood")
        why = "plans that are cancelled keep their seeds: flood"
        assert error_of(scrapy("seeds", "retry", "--all")) == f"nothing is ready again: {why} (3)"
        assert error_of(scrapy("seeds", "retry", content_seed(1).url)) == f"nothing is ready again: {why} (1)"
        await fail("robots", content_seed(2, "second"))
        done = scrapy("seeds", "retry", "--all")
        assert (done.returncode, done.stdout) == (0, "1 failed seeds are ready again\n")
        assert done.stderr == f"left as they are: {why} (3)\n"
        assert (await operator.ledger("flood"))["flood", "board"]["content"].failed == 1

    async def test_seeds_of_a_paused_plan_wait_and_it_says_so(self, scrapy, operator, submitted, fail):
        await fail("robots", content_seed(1))
        await operator.pause("flood")
        expected = "1 failed seeds are ready again; crawled once scrapy plan resume lets them go on: flood\n"
        assert scrapy("seeds", "retry", "--reason", "robots").stdout == expected

    @pytest.mark.parametrize("action", ["list", "retry", "show"])
    async def test_a_name_that_nothing_has_is_an_error_that_names_it(self, scrapy, submitted, fail, action):
        await fail("robots", content_seed(1), content_seed(2, "second"))
        words = ("seeds", action, *([content_seed(1).url] if action == "show" else []))
        error = error_of(scrapy(*words, "--plan", "nosuch"))
        assert error == "no plan 'nosuch'; submitted plans: flood"
        error = error_of(scrapy(*words, "--site", "nosuch"))
        assert error == "no seeds of a site 'nosuch'; sites that have some: board"
        assert error_of(scrapy(*words, "--site", "bord")) == "no seeds of a site 'bord'; did you mean board?"
        if action != "show":
            assert error_of(scrapy(*words, "--reason", "dsn")) == "no seeds with the reason 'dsn'; did you mean dns?"
            assert error_of(scrapy(*words, "--reason", "htpp-404")).endswith("did you mean http-404?")
            error = error_of(scrapy(*words, "--reason", "nosuch"))
            assert error == "no seeds with the reason 'nosuch'; reasons of failed seeds: robots"

    async def test_nothing_that_is_chosen_has_failed_and_the_audit_says_so(self, scrapy, operator, submitted, fail):
        await fail("robots", content_seed(2, "second"))
        for words in (("--plan", "flood"), ("--plan", "flood", "--reason", "robots"), ("--frontier", "nav")):
            assert error_of(scrapy("seeds", "retry", *words)) == "nothing is ready again: no such seed has failed"
        outcomes = [entry.outcome for entry in await audit.read(operator) if entry.action == "seeds-retry"]
        assert outcomes == ["nothing is ready again: no such seed has failed"] * 3

    def test_a_url_that_has_not_failed(self, scrapy):
        assert scrapy("seeds", "retry", "--all").stdout == "0 failed seeds are ready again\n"
        error = error_of(scrapy("seeds", "retry", "http://board.test/none"))
        assert error == "nothing is ready again: no failed seed has such a URL"
