"""`scrapy plan check`, as an analyst runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


@pytest.fixture
def plan(tmp_path):
    def run(text, *options):
        file = tmp_path / "plan.yaml"
        file.write_text(text, encoding="utf-8")
        return scrapy("plan", "check", str(file), *options)

    return run


def scrapy(*words):
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": "redis://127.0.0.1:1/0", "COLUMNS": "120"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_it_shows_every_combination_and_what_they_cost(plan):
    done = plan(PLAN)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "plan flood: 4 combinations, 16 search pages, 2 sites"
    assert "4 四川 + 洪水 + [red]停电[/red]" in lines
    assert "city-wiki wiki.example.org 8 168 2.8 min" in lines
    assert "Not in match, so never searched: person." in lines
    assert "Runs every 30 min; pages that are known are not fetched again." in lines


def test_json_has_it_all(plan):
    done = plan(PLAN, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["combinations"][0] == ["重庆", "洪水", "救援"]
    assert (len(result["combinations"]), result["nav_seeds"]) == (4, 16)
    assert [(share["site"], share["nav_seeds"]) for share in result["sites"]] == [("demo_forum", 8), ("city-wiki", 8)]
    assert result["overlaps"] == []


def test_overlap_is_shown_with_an_example(plan):
    done = plan(PLAN.replace("match: region and event", "match: region or region and person"))
    assert "Overlap: 2 pairs of combinations, such as: 重庆 finds all that 重庆 + Zhang San finds." in done.stdout


def test_words_can_not_move_the_terminal_s_cursor(plan):
    done = plan(PLAN.replace("Zhang San", '"a\\e[2Jb\\nc"').replace("match: region and event", "match: person"))
    assert "1  a\N{REPLACEMENT CHARACTER}[2Jb c" in done.stdout


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("pages: 2", "pages: 2000"), "plan.yaml:9: pages: got 2000, expected at most 1000"),
        (("demo_forum", "demo_form"), "unknown site 'demo_form'; did you mean demo_forum?"),
        (("[demo_forum", "[web"), "plan.yaml:3: sites.0: got 'web', expected a site with a search"),
        (("region and event", "region and (event"), "expected a closing parenthesis for the one at character 12"),
        (("pages: 2", "pages: [2"), "plan.yaml:10: got"),
    ],
)
def test_a_bad_plan_is_one_line_on_stderr_and_exit_status_1(plan, change, expected):
    done = plan(PLAN.replace(*change))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_plan_max_seeds_is_obeyed(plan):
    done = plan(PLAN, "-s", "PLAN_MAX_SEEDS=15")
    assert done.returncode == 1
    assert "16 nav seeds (4 combinations x 4 pages on all sites)', expected at most 15 (PLAN_MAX_SEEDS)" in done.stderr
    assert "setting PLAN_MAX_SEEDS: got '0'" in plan(PLAN, "-s", "PLAN_MAX_SEEDS=0").stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "error: nothing after plan, expected one of check"),
        (("chek", "x"), "error: chek after plan, expected one of check"),
        (("check",), "error: plan check: expected FILE\n"),
        (("check", "a", "b"), "error: plan check: expected FILE\n"),
        (("check", "no-such.yaml"), "error: no-such.yaml: got 'no such file', expected a file that exists\n"),
    ],
)
def test_a_wrong_command_line_says_what_was_expected(words, expected):
    done = scrapy("plan", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(expected)
