import random
from dataclasses import fields, replace

import pytest

from crawler.base.errors import FrontierError
from crawler.base.models import Claimed, Seed

PLAIN = Seed("https://a.example/x", "plan", "site")
FULL = Seed(
    "https://a.example:8443/x?q=%E6%B4%AA",
    "plan-1",
    "site_1",
    "nav",
    ("洪水", 'a "b" \n\0', "😀"),
    edition=1_700_000_000_123,
    method="POST",
    body='{"q": "洪水 x"}',
    page=3,
    more=2,
    per_page=50,
    sort="relevance",
    since="2026-11-01",
    hops=1,
    stands_for="https://a.example/moved",
    named_by="https://a.example/naming",
    depth=4,
    priority=7,
    interval_s=1_800,
    run=491_002,
    row='{"author":"Ann"}',
    exact=True,
    match_text=True,
    general=True,
    trap="trap-calendar",
    why="90 b 2/3",
    further_keywords=(("洪水", "\t,\\"), ("]}",)),
)


@pytest.mark.parametrize("seed", [PLAIN, FULL])
def test_a_seed_comes_back_as_it_was(seed):
    assert Seed.load(seed.dump(), seed.frontier) == seed


def test_every_field_is_stored():
    for entry in fields(FULL):
        assert getattr(FULL, entry.name) != entry.default, f"{entry.name} needs a value above that isn't its default"


def test_the_scripts_words_come_first_and_defaults_are_left_out():
    assert PLAIN.dump() == b'a.example plan site 0 {"u":"https://a.example/x"}'
    assert FULL.dump().startswith(b'a.example:8443 plan-1 site_1 1800 {"q":7,"d":4,"u":')


def test_a_seed_names_each_combination_once_and_its_keywords_first():
    seed = replace(PLAIN, keywords=("b",), further_keywords=(("a", "b"), ("b",), ("a",)))
    assert seed.combinations == [["b"], ["a", "b"], ["a"]]
    assert PLAIN.combinations == []


def test_tabs_stand_around_combinations_alone():
    assert FULL.dump().count(b"\t") == 2 * len(FULL.combinations)


@pytest.mark.parametrize("start", [b"", b"x", b"h p s 0 ", b"h p s 0 null", b"h p s 0 {}", b"\x80\x04\x95pickle . . ."])
def test_what_has_no_form_of_a_seed_is_refused(start):
    with pytest.raises(FrontierError, match="not a seed"):
        Seed.load(start, "content")


@pytest.mark.parametrize(
    "rest",
    [
        *('"u":1', '"u":"x"', '"u":"http://["', '"u":"http://a/","m":1', '"u":"http://a/","b":[]'),
        *('"u":"http://a/","p":"1"', '"u":"http://a/","h":null', '"u":"http://a/","k":"ab"', '"u":"http://a/","k":[1]'),
        *('"u":"http://a/","k":5', '"u":"http://a/","c":["a"]', '"u":"http://a/","c":[[1]]'),
        '"u":"http://a/","c":{"a":["b"]}',
        *('"u":"http://a/","i":"x"', '"u":"http://a/","i":[]', '"u":"http://a/","a":"javascript:1"'),
    ],
)
def test_what_has_other_values_than_a_seed_is_refused(rest):
    with pytest.raises(FrontierError, match="not a seed"):
        Seed.load(f"h p s 0 {{{rest}}}".encode(), "content")


def test_changed_bytes_are_a_seed_or_refused():
    rng = random.Random(5)
    raw = FULL.dump()
    for _ in range(5_000):
        place = rng.randrange(len(raw))
        changed = raw[:place] + bytes([rng.randrange(256)]) + raw[place + rng.randrange(2) :]
        try:
            seed = Seed.load(changed, "nav")
        except FrontierError:
            continue
        assert all(type(getattr(seed, entry.name)) is type(getattr(FULL, entry.name)) for entry in fields(seed))


def test_a_content_seed_is_its_request():
    same = replace(PLAIN, plan="other", keywords=("x",), depth=2, hops=3)
    assert same.fingerprint == PLAIN.fingerprint
    for change in ({"url": "https://a.example/y"}, {"method": "POST"}, {"body": "x"}, {"site": "other"}):
        assert replace(PLAIN, **change).fingerprint != PLAIN.fingerprint


def test_a_page_s_spellings_are_one_seed_unless_its_site_tells_them_apart():
    one, other = replace(PLAIN, url="https://a.example/%7Ex"), replace(PLAIN, url="https://a.example./~x?")
    assert one.fingerprint == other.fingerprint
    assert one.host == other.host == "a.example"
    assert replace(one, exact=True).fingerprint != replace(other, exact=True).fingerprint


def test_a_nav_seed_is_its_plan_edition_and_run_too():
    nav = replace(PLAIN, frontier="nav", edition=1)
    others = [replace(nav, plan="other"), replace(nav, edition=2), replace(nav, run=1), PLAIN]
    assert len({seed.fingerprint for seed in (nav, *others)}) == 5


def test_each_visit_that_ends_of_a_scheduled_seed_is_another_run_and_a_retry_the_same():
    def run(due_ms, **seed):
        return Claimed(Seed("http://a.test/", "p", "s", "nav", **seed), b"", 0, "A#1", 1, due_ms, 0, 0.0).run

    hour_ms = 3_600_000
    due_ms = 490_000 * hour_ms
    assert run(due_ms, interval_s=3_600) == run(due_ms + 60_000, interval_s=3_600) == 490_000
    assert run(due_ms + hour_ms, interval_s=3_600) == 490_001
    assert (run(due_ms), run(due_ms, run=7)) == (0, 7)
