"""Which addresses are of one kind."""

from __future__ import annotations

import pytest

from crawler.base import reasons
from crawler.worker.offers.address_kind import certain_trap, kind_of, likely_trap

HOST = "http://a.test"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/calendar/2026/11/28", "/calendar/2027/01/02"),
        ("/news/flood-in-the-city", "/news/storm"),
        ("/shop?size=s&colour=red", "/shop?brand=a"),
        ("/s/4f5a6b/x.html", "/s/0a1b2c/y.html"),
        ("/(S(abc))/x", "/(S(def))/x"),
        ("/a/b/c/d/e", "/a/b/f"),
        ("/print/1", "/print/2"),
    ],
)
def test_alike(one, other):
    assert kind_of(HOST + one).family == kind_of(HOST + other).family


@pytest.mark.parametrize(
    ("one", "other"),
    [("/a/1", "/b/1"), ("/a/1", "/a/1?x=1"), ("/list?x=1", "/show?x=1"), ("/a/1", "/a/1?print=1"), ("/a", "/a/b")],
)
def test_unlike(one, other):
    assert kind_of(HOST + one).family != kind_of(HOST + other).family


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("/news/1?print=1", "variant"),
        ("/news/1?view=print", "variant"),
        ("/print/news/1", "variant"),
        ("/list?orderby=name", "variant"),
        ("/1?replytocom=7", "variant"),
        ("/login?next=/1", "variant"),
        ("/printers/1", ""),
        ("/shop?sortiment=1", ""),
        ("/1?sid=0a", "session"),
        ("/0123456789abcdef01234567/1", "session"),
        ("/news/1?id=7", ""),
    ],
)
def test_what_an_address_says_of_itself(path, mark):
    assert kind_of(HOST + path).mark == mark


def test_addresses_that_most_likely_equal_others_are_of_one_kind():
    for path in ("/a//b", "/a//b///index.html", "/a//b?x=1", "/default.aspx"):
        assert kind_of(HOST + path)[1:3] == ("a.test//", "duplicate")
    for path in ("/a/index/b", "/a/b?x=//index.html", "/indexes.html"):
        assert not kind_of(HOST + path).mark
    assert likely_trap(f"{HOST}/a//b", kind_of(f"{HOST}/a//b")) == reasons.TRAP_DUPLICATE


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/x" * 3, reasons.TRAP_REPEATED),
        ("/a/b" * 3, reasons.TRAP_REPEATED),
        ("/a/b" * 2, None),
        ("/11/11/11", None),
        ("/en/en/page", None),
        ("".join(f"/{number}" for number in range(21)), reasons.TRAP_DEEP),
        ("/" + "x" * 2_000, reasons.TRAP_LONG),
        ("", None),
    ],
)
def test_traps_that_addresses_show(path, trap):
    assert certain_trap(HOST + path) == trap


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/x?print=1", reasons.TRAP_VARIANT),
        ("/x?sid=1", reasons.TRAP_SESSION),
        ("/x/2026/11", reasons.TRAP_CALENDAR),
        ("/x?month=11", reasons.TRAP_CALENDAR),
        ("/x?a=1&b=2", reasons.TRAP_FACETS),
        ("/x/1", reasons.TRAP_TEMPLATE),
    ],
)
def test_what_is_beyond_a_budget_has_a_name(path, trap):
    assert likely_trap(HOST + path, kind_of(HOST + path)) == trap
