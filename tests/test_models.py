import random
from dataclasses import fields, replace

import pytest

from crawler.errors import FrontierError
from crawler.models import Seed

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
    hops=1,
    depth=4,
    interval_s=1_800,
)


@pytest.mark.parametrize("seed", [PLAIN, FULL])
def test_a_seed_comes_back_as_it_was(seed):
    assert Seed.load(seed.dump(), seed.frontier) == seed


def test_every_field_is_stored():
    for entry in fields(FULL):
        assert getattr(FULL, entry.name) != entry.default, f"{entry.name} needs a value above that isn't its default"


def test_the_scripts_words_come_first_and_defaults_are_left_out():
    assert PLAIN.dump() == b'a.example plan site 0 {"u":"https://a.example/x"}'
    assert FULL.dump().startswith(b"a.example:8443 plan-1 site_1 1800 {")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x",
        b"h p s 0 ",
        b"h p s 0 null",
        b"h p s 0 []",
        b"h p s 0 {}",
        b'h p s x {"u":"http://a/"}',
        b'h p s 0 {"u":1}',
        b'h p s 0 {"u":"http://a/","m":1}',
        b'h p s 0 {"u":"http://a/","b":[]}',
        b'h p s 0 {"u":"http://a/","k":"ab"}',
        b'h p s 0 {"u":"http://a/","k":[1]}',
        b'h p s 0 {"u":"http://a/","k":5}',
        b'h p s 0 {"u":"http://a/","p":"1"}',
        b'h p s 0 {"u":"http://a/","h":null}',
        b'h p\xff s 0 {"u":"http://a/"}',
        b'h p s 0 {"u":"http://a/"',
        b"\x80\x04\x95pickle . . .",
    ],
)
def test_what_is_no_seed_is_refused(raw):
    with pytest.raises(FrontierError, match="not a seed"):
        Seed.load(raw, "content")


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
    same = replace(PLAIN, plan="other", site="other", keywords=("x",), depth=2, hops=3)
    assert same.fingerprint == PLAIN.fingerprint
    for change in ({"url": "https://a.example/y"}, {"method": "POST"}, {"body": "x"}):
        assert replace(PLAIN, **change).fingerprint != PLAIN.fingerprint


def test_a_nav_seed_is_its_plan_and_edition_too():
    nav = replace(PLAIN, frontier="nav", edition=1)
    others = [replace(nav, plan="other"), replace(nav, edition=2), PLAIN]
    assert len({seed.fingerprint for seed in (nav, *others)}) == 4


def test_a_seed_s_host_has_its_turns():
    assert (PLAIN.host, FULL.host) == ("a.example", "a.example:8443")
