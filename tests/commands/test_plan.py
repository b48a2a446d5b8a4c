"""`scrapy plan check`, which needs no Redis, and the other actions, on a real Redis."""

from __future__ import annotations

import json
import re

import pytest
import redis as sync_redis
from commands.answers import error_of, json_of, lines_of
from hostile.hostile_wire_bodies import answer

from crawler.cluster import audit

PLAN = """
name: flood
sites: [demo_forum, {use: mediawiki, name: city-wiki, base: "https://wiki.example.org"}]
keywords:
  region: {optional: [重庆, 四川]}
  event: {required: [洪水], optional: [救援, "[red]停电[/red]"]}
  person: {optional: [Zhang San]}
match: region and event
pages: 2
schedule: every 30m
"""
NO_ADDRESS = "board.test has no address, so nothing is found there"
NOBODY = {"REDIS_URL": "redis://:secret@127.0.0.1:1/0"}


class TestCheck:
    @pytest.fixture
    def check(self, scrapy, tmp_path):
        """Returns a function that checks a plan; Redis can't be reached."""

        def run(text, *options):
            (tmp_path / "plan.yaml").write_text(text, encoding="utf-8")
            return scrapy("plan", "check", tmp_path / "plan.yaml", *options, environment=NOBODY)

        return run

    def test_every_combination_and_what_they_cost(self, check):
        lines = lines_of(check(PLAN + "match_text: true"))
        assert lines[0] == "plan flood: 4 combinations, 16 search pages, 2 sites"
        result = json_of(check(PLAN, "--json"))
        assert result["combinations"][0] == ["重庆", "洪水", "救援"]
        assert [(site["site"], site["nav_seeds"]) for site in result["sites"]] == [("demo_forum", 8), ("city-wiki", 8)]
        assert result["overlaps"] == []
        assert "4 四川 + 洪水 + [red]停电[/red]" in lines
        assert "city-wiki wiki.example.org 8 168 2.8 min" in lines
        assert "Not in match, so never searched: person." in lines
        taken = "Pages are taken whose text has all words of a combination (match_text): demo_forum, city-wiki."
        assert taken in lines
        assert "Runs every 30 min; pages that are known are not fetched again." in lines

    def test_hosts_that_would_be_asked_in_vain_are_warned_of(self, check):
        private = (
            "127.0.0.1 has a private address, which these settings refuse: ALLOW_PRIVATE_ADDRESSES=1 lets it be crawled"
        )
        plan = PLAN.replace("wiki.example.org", "wiki.invalid")
        assert lines_of(check(plan))[-2:] == [
            f"warning: site demo_forum: {private}",
            "warning: site city-wiki: wiki.invalid has no address, so nothing is found there",
        ]
        found = json_of(check(plan, "--json", "-s", "ALLOW_PRIVATE_ADDRESSES=1"))["warnings"]
        assert [(one["site"], one["host"]) for one in found if "robots" not in one["why"]] == [
            ("city-wiki", "wiki.invalid")
        ]

    def test_searches_that_robots_txt_forbids_are_warned_of(self, check, serve):
        """As are those of which nobody knows; their hosts are asked for nothing else."""
        forbids, allows, broken = (
            serve(lambda _path: [], robots=lambda _path, robots=robots: [robots])
            for robots in (
                answer(b"User-agent: *\nDisallow: /index.php"),
                answer(b"User-agent: *\nDisallow: /x"),
                answer(b"", status=b"503 Down"),
            )
        )
        uses = "".join(
            f"  - {{use: mediawiki, name: {name}, base: '{host.url}'}}\n"
            for name, host in (("forbids", forbids), ("allows", allows), ("broken", broken))
        )
        uses += "  - {use: mediawiki, name: away, base: 'http://127.0.0.1:1'}\n"
        plan = PLAN[: PLAN.index("sites:")] + f"sites:\n{uses}" + PLAN[PLAN.index("keywords:") :]
        done = check(plan, "-s", "ALLOW_PRIVATE_ADDRESSES=1", "--json")
        found = {one["site"]: one["why"] for one in json_of(done)["warnings"]}
        assert f"robots ({forbids.url}/robots.txt forbids it; ROBOTSTXT_OBEY)" in found.pop("forbids")
        assert f"robots-unreachable ({broken.url}/robots.txt has no usable answer)" in found.pop("broken")
        assert found.pop("away").startswith(
            "it isn't known whether robots.txt forbids the search: http://127.0.0.1:1/robo"
        )
        assert found == {}
        assert {one.path for host in (forbids, allows, broken) for one in host.asked} == {"/robots.txt"}
        obeys_none = check(plan, "-s", "ALLOW_PRIVATE_ADDRESSES=1", "-s", "ROBOTSTXT_OBEY=0", "--json")
        assert json_of(obeys_none)["warnings"] == []

    def test_a_site_whose_searches_are_those_of_another_is_warned_of(self, check):
        again, other = (
            f"{{use: demo_forum, name: {name}, base: 'http://127.0.0.1:{port}'}}"
            for name, port in (("again", 8800), ("other", 8801))
        )
        uses = f"[demo_forum, {again}, {other}]"
        plan = re.sub(r"(?ms)^sites:.*?^keywords:", f"sites: {uses}\nkeywords:", PLAN)
        done = check(plan, "-s", "ALLOW_PRIVATE_ADDRESSES=1", "-s", "ROBOTSTXT_OBEY=0")
        why = "it gets no page, since its searches are those of demo_forum; leave it out, or give it another base"
        assert [line for line in done.stdout.splitlines() if "warning:" in line] == [f"warning: site again: {why}"]

    def test_overlap_is_shown_with_an_example(self, check):
        done = check(PLAN.replace("match: region and event", "match: region or region and person"))
        assert "Overlap: 2 pairs of combinations, such as: 重庆 finds all that 重庆 + Zhang San finds." in done.stdout

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            (("pages: 2", "pages: 2000"), "plan.yaml:9: pages: got 2000, expected at most 1000"),
            (
                ("demo_forum", "demo_form"),
                "unknown site 'demo_form', neither built in nor in SITES_DIR (not set); did you mean demo_forum?",
            ),
            (("[demo_forum", "[web"), "plan.yaml:3: sites.0: got 'web', expected a site with a search"),
            (("region and event", "region and (event"), "expected a closing parenthesis for the one at character 12"),
            (("pages: 2", "pages: [2"), "plan.yaml:10: got"),
        ],
    )
    def test_a_bad_plan_is_one_line(self, check, change, expected):
        assert expected in error_of(check(PLAN.replace(*change)))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "nothing after plan; actions: cancel, check"),
        ("check a b", "plan check: expected FILE"),
        ("check no-such.yaml", "no-such.yaml: got 'no such file', expected a file that exists"),
        (
            "check plans/dmo.yaml",
            "plans/dmo.yaml: got 'no such file', expected a file that exists (did you mean plans/demo",
        ),
        ("show none", "no plan 'none'; submitted plans: none"),
    ],
)
def test_a_wrong_command_line_says_what_was_expected(scrapy, words, expected):
    assert error_of(scrapy("plan", *words.split())).startswith(expected)


@pytest.mark.parametrize("words", [("plan", "list"), ("nodes", "--json")])
def test_without_redis_a_command_is_one_line(scrapy, words):
    error = error_of(scrapy(*words, environment=NOBODY))
    assert error.startswith("Redis at redis://127.0.0.1:1/0: Error 111")
    assert error.endswith("; is it running? REDIS_URL names it")


async def test_a_plan_s_life(scrapy, operator, plan_file):
    assert lines_of(scrapy("plan", "submit", plan_file)) == [
        "plan flood: 2 combinations, 2 searches offered: 2 new, 0 known",
        "sites: board (version 1, http://board.test)",
        f"warning: site board: {NO_ADDRESS}",
        "next: scrapy crawl producer and scrapy crawl consumer, on any node; scrapy ledger flood shows how far it is",
    ]
    assert lines_of(scrapy("plan", "list"))[1] == "flood active 2 2 0 0 0 %"
    assert lines_of(scrapy("plan", "priority", "flood", "8")) == [
        "plan flood has priority 8, and so have 2 pages of it that aren't done; its file should say so, too"
    ]
    assert json_of(scrapy("plan", "show", "flood", "--json"))["definition"]["priority"] == 8
    assert lines_of(scrapy("plan", "pause", "flood"))[0].startswith("plan flood is paused;")
    assert lines_of(scrapy("plan", "resume", "flood"))[0].startswith("plan flood goes on")
    assert scrapy("plan", "delete", "flood").returncode == 1
    assert lines_of(scrapy("plan", "cancel", "flood"))[0].startswith("plan flood is cancelled, 2 seeds given up;")
    assert lines_of(scrapy("plan", "delete", "flood")) == ["plan flood is deleted; pages that it crawled stay known"]
    assert lines_of(scrapy("plan", "list")) == ["no plans; scrapy plan submit FILE sends one"]
    scrapy("plan", "submit", plan_file, "--replace", "--replace-sites")
    acts = [(one.action, one.target, one.outcome == "done") for one in reversed(await audit.read(operator))]
    assert acts == [
        ("plan-submit", "flood", True),
        ("plan-priority", "flood 8", True),
        ("plan-pause", "flood", True),
        ("plan-resume", "flood", True),
        ("plan-delete", "flood", False),  # while it is active
        ("plan-cancel", "flood", True),
        ("plan-delete", "flood", True),
        ("plan-submit", "flood --replace --replace-sites", True),
    ]


@pytest.mark.parametrize("priority", ["10", "high", "٣"])
def test_a_priority_is_a_digit(scrapy, plan_file, priority):
    scrapy("plan", "submit", plan_file)
    error = error_of(scrapy("plan", "priority", "flood", priority))
    assert error == f"plan priority: got '{priority}', expected a whole number from 0 to 9"


def test_a_file_with_the_new_priority_goes_on(scrapy, plan_file):
    scrapy("plan", "submit", plan_file)
    scrapy("plan", "priority", "flood", "0")
    assert scrapy("plan", "submit", plan_file).returncode == 1
    plan_file.write_text(f"{plan_file.read_text(encoding='utf-8')}\npriority: 0\n", encoding="utf-8")
    assert json_of(scrapy("plan", "submit", plan_file, "--json"))["resumed"]
    scrapy("plan", "priority", "flood", "5")  # as if it said nothing
    assert "priority" not in json_of(scrapy("plan", "show", "flood", "--json"))["definition"]


def test_submitting_again_goes_on_and_replacing_begins_anew(scrapy, plan_file):
    first = json_of(scrapy("plan", "submit", plan_file, "--json"))
    assert first == {
        "plan": "flood",
        "edition": first["edition"],
        "combinations": 2,
        "nav_seeds": 2,
        "lists": 0,
        "offered": 2,
        "new": 2,
        "known": 0,
        "resumed": False,
        "replaced": False,
        "state": "active",
        "sites": [{"site": "board", "version": 1, "base": "http://board.test"}],
        "skipped": [],
        "warnings": [{"site": "board", "host": "board.test", "why": NO_ADDRESS}],
    }
    again = json_of(scrapy("plan", "submit", plan_file, "--json"))
    assert again == first | {"new": 0, "known": 2, "resumed": True}

    plan_file.write_text(plan_file.read_text("utf-8").replace("pages: 2", "pages: 1"), encoding="utf-8")
    assert error_of(scrapy("plan", "submit", plan_file)) == (
        "plan 'flood' was submitted with another content: give it another name, or use --replace"
    )
    replaced = json_of(scrapy("plan", "submit", plan_file, "--replace", "--json"))
    assert (replaced["new"], replaced["replaced"]) == (2, True)
    assert replaced["edition"] > first["edition"]


def test_a_stored_site_that_differs_is_replaced_only_where_that_is_said(scrapy, plan_file, tmp_path):
    site = (
        "name: board\nbase: http://board.test\npoliteness: {delay: 1}\nresults: {links: css:a}\n"
        'search: {url: "{base}/?q={query}"}\n'
    )
    text = plan_file.read_text("utf-8").replace('{use: demo_forum, name: board, base: "http://board.test"}', "board")
    settings = {"SITES_DIR": tmp_path / "sites"}
    (tmp_path / "sites").mkdir()

    def submit(*options, plan="flood", pace="{delay: 1}"):
        (tmp_path / "sites" / "board.yaml").write_text(site.replace("{delay: 1}", pace))
        plan_file.write_text(text.replace("flood", plan, 1), encoding="utf-8")
        return scrapy("plan", "submit", plan_file, *options, settings=settings)

    assert json_of(submit("--json"))["sites"][0]["version"] == 1
    refusal = (
        "site 'board' is stored with another definition, which differs in politeness.burst, politeness.delay: "
        "--replace-sites stores this one, for all plans that use the site"
    )
    assert error_of(submit(pace="{delay: 2, burst: 3}")) == refusal
    assert error_of(submit(pace="{delay: 2, burst: 3}", plan="storm")) == refusal
    assert [plan["plan"] for plan in json_of(scrapy("plan", "list", "--json"))["plans"]] == ["flood"]
    assert json_of(submit("--json"))["sites"][0]["version"] == 1
    assert "differs in follow: --replace" in error_of(submit(pace="{delay: 1}\nfollow: {}"))
    assert json_of(submit("--replace-sites", "--json", pace="{delay: 2, burst: 3}"))["sites"][0]["version"] == 2


def test_show_has_state_definition_and_ledger(scrapy, plan_file):
    edition = json_of(scrapy("plan", "submit", plan_file, "--json"))["edition"]
    shown = json_of(scrapy("plan", "show", "flood", "--json"))
    assert (shown["plan"], shown["state"], shown["edition"], shown["nav_seeds"]) == ("flood", "active", edition, 2)
    assert shown["definition"]["keywords"]["event"]["optional"] == ["洪水", "flood"]
    assert shown["sites"] == [{"site": "board", "version": 1, "base": "http://board.test"}]
    assert (shown["seconds_left"], shown["slowest_site"]) == (None, "board")
    assert [(row["plan"], row["site"], row["ready"]) for row in shown["ledger"]["rows"]] == [("flood", "board", 2)]
    lines = lines_of(scrapy("plan", "show", "flood"))
    assert lines[0].startswith("plan flood: active, 0 % of its seeds, site board stands still, submitted 20")
    assert "- 洪水" in lines
    assert "flood board 2 0 2 0 0 0 0" in lines


def test_a_bad_plan_leaves_redis_untouched(scrapy, plan_file, redis_url):
    plan_file.write_text("name: flood\nsites: [nowhere]\nkeywords: {event: {optional: [x]}}\n")
    assert "unknown site 'nowhere'" in error_of(scrapy("plan", "submit", plan_file))
    with sync_redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


async def test_what_redis_holds_can_not_move_the_terminal_s_cursor(scrapy, plan_file, operator):
    assert scrapy("plan", "submit", plan_file).returncode == 0
    record = json.loads(await operator.redis.hget(operator.keys.plans, "flood"))
    record["definition"] = {"name": "\x1b[2Jflood", "schedule": "\x9b31m"}
    await operator.redis.hset(operator.keys.plans, "flood", json.dumps(record))
    done = scrapy("plan", "show", "flood")
    assert done.returncode == 0
    assert not set("\x1b\x9b") & set(done.stdout)
