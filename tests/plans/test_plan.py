"""Plans: from YAML to nav seeds, and to Redis and back."""

import json
from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler import plans
from crawler.base.errors import InputError, PlanError
from crawler.plans import Plan
from crawler.plans.plan_record import PlanRecord

WHOLE = """
name: flood-2026
sites: [board, {use: board, name: city-wiki, base: "https://wiki.example.org/"}]
keywords:
  region: {required: [], optional: [重庆, 四川]}
  person: {optional: [Zhang San]}
  event:  {required: [洪水], optional: [救援, 停电]}
match: region and (event or person)
pages: 3
per_page: 10
sort: relevance
since: 2026-11-01
schedule: every 30m
"""


@pytest.fixture
def whole(tmp_path, sites_dir):
    file = tmp_path / "plan.yaml"
    file.write_text(WHOLE)
    return plans.load(str(file), sites_dir=sites_dir, max_seeds=100_000)


def test_every_key_arrives(whole):
    assert whole.name == "flood-2026"
    assert [(site.name, site.base) for site in whole.sites] == [
        ("board", "https://board.example"),
        ("city-wiki", "https://wiki.example.org"),
    ]
    file = whole.file
    assert (file.pages, file.per_page, file.sort, file.interval_s) == (3, 10, "relevance", 1_800)
    assert file.since_day == date(2026, 11, 1)
    assert len(whole.combinations()) == 6


def test_what_may_be_left_out_has_its_default(plan):
    file = plan("{event: {optional: [flood]}}").file
    assert (file.pages, file.per_page, file.sort, file.since_day, file.interval_s) == (5, 20, "newest", None, 0)


def test_without_match_all_classes_that_have_words_are_joined_by_and(plan):
    found = plan("{a: {optional: [x, y]}, none: {}, b: {required: [z]}}")
    assert found.file.match == "a and b"
    assert found.combinations() == (("x", "z"), ("y", "z"))


def test_nav_seeds_are_the_first_pages_of_combinations_times_sites(whole):
    seeds = list(whole.nav_seeds(edition=7))
    assert len(seeds) == 6 * 2 == len({seed.fingerprint for seed in seeds})
    assert {(seed.plan, seed.frontier, seed.edition, seed.interval_s) for seed in seeds} == {
        ("flood-2026", "nav", 7, 1_800)
    }
    assert {seed.site for seed in seeds} == {"board", "city-wiki"}
    assert {(seed.page, seed.more, seed.per_page, seed.sort, seed.since) for seed in seeds} == {
        (1, 2, 10, "relevance", "2026-11-01")
    }
    first = next(seed for seed in seeds if seed.keywords == ("四川", "Zhang San") and seed.site == "city-wiki")
    assert parse_qs(urlsplit(first.url).query) == {
        "q": ["四川 Zhang San"],
        "p": ["1"],
        "n": ["10"],
        "o": ["best"],
        "from": ["2026-11-01"],
    }


def test_two_editions_share_no_nav_seed(whole):
    first = {seed.fingerprint for seed in whole.nav_seeds(edition=1)}
    assert first.isdisjoint(seed.fingerprint for seed in whole.nav_seeds(edition=2))


def test_combinations_that_make_the_same_query_make_one_seed(plan):
    found = plan("{a: {optional: [x y]}, b: {required: [x, y]}}", "match: a or b", "pages: 1")
    assert found.combinations() == (("x y",), ("x", "y"))
    assert len(list(found.nav_seeds(edition=1))) == 1


def test_with_cursors_the_first_page_stands_for_all(plan):
    (seed,) = plan("{a: {optional: [x]}}", "pages: 4", sites="[stream]").nav_seeds(edition=1)
    assert (seed.method, json.loads(seed.body), seed.page, seed.more) == ("POST", {"q": "x"}, 1, 3)


@pytest.mark.parametrize(
    "word",
    ['"', "a&b=c", "#x", "a\nb", "😀", "长" * 200, "{}", "{query}", "{0}", "%41", "+", "a;b", "\\", "<b>", "'--"],
)
def test_hostile_words_arrive_at_the_search_intact(plan, word):
    (seed,) = plan(f"{{a: {{required: [{json.dumps(word, ensure_ascii=False)}]}}}}", "pages: 1").nav_seeds(edition=1)
    assert parse_qs(urlsplit(seed.url).query)["q"] == [word]
    assert seed.keywords == (word,)


def test_words_lose_the_space_around_them(plan):
    assert plan('{a: {optional: ["  x ", "\\u3000y\\n"]}}').combinations() == (("x",), ("y",))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("every 1m", 60), ("every 30m", 1_800), ("every 2h", 7_200), ("every 1d", 86_400), ("every 90 m", 5_400)],
)
def test_schedules_are_read_to_seconds(plan, text, seconds):
    assert plan("{a: {optional: [x]}}", f"schedule: {text}").file.interval_s == seconds


def test_a_definition_makes_an_equal_plan(whole):
    stored = json.loads(json.dumps(whole.definition()))
    assert stored["sites"] == ["board", "city-wiki"]
    again = Plan.from_definition(stored, {site.name: site for site in whole.sites})
    assert again == whole
    assert again.definition() == stored
    assert list(again.nav_seeds(edition=1)) == list(whole.nav_seeds(edition=1))


def test_a_definition_of_the_least_plan_makes_an_equal_one(plan):
    least = plan("{a: {optional: [x]}, none: {}}")
    assert Plan.from_definition(least.definition(), {"board": least.sites[0]}) == least


def test_a_stored_definition_is_not_trusted(whole):
    sites = {site.name: site for site in whole.sites}
    for change in (
        {"pages": 10**9},
        {"name": "a b"},
        {"match": "("},
        {"keywords": {}},
        {"more": 1},
        {"sites": ["gone"]},
    ):
        with pytest.raises(InputError, match="definition of plan"):
            Plan.from_definition(whole.definition() | change, sites)
    with pytest.raises(InputError, match="definition of plan None: got 'x'"):
        Plan.from_definition("x", sites)


def test_a_forged_definition_can_not_fill_the_memory(whole):
    forged = {"big": {"optional": [f"w{number}" for number in range(3_000)], "choose": 3}}
    sites = {site.name: site for site in whole.sites}
    plan = Plan.from_definition(whole.definition() | {"keywords": forged, "match": "big", "pages": 1_000}, sites)
    with pytest.raises(PlanError, match="4495501000 combinations"):
        plan.combinations()


@pytest.mark.parametrize(
    "more", ["", "follow: {depth: 1}", "scope: {depth: 1}", "budget: {items: 1}", "order: focused"]
)
def test_a_stored_plan_judges_links_as_its_file_does(plan, more):
    own = plan("{a: {required: [x]}}", more)
    assert PlanRecord("test", own.definition(), ["board"], 1, 1).judges_links is own.file.judges_links is bool(more)
