"""How well pages without selectors are read, on the small corpus that ships: no type falls below what it had."""

import pytest

from testbed.truth.corpus import PAGES, by_headroom, by_type, f1_of, half_of, languages, pages_of, read_all

FLOORS = {
    "article": 0.96,
    "forum": 0.94,
    "product": 0.84,
    "collection": 0.85,
    "listing": 0.81,
    "documentation": 0.98,
    "service": 0.91,
    "all": 0.9,
}


@pytest.mark.parametrize(
    ("read", "true", "f1"), [("", "", 1), ("a", "", 0), ("", "a", 0), ("A b b", "b a c", 2 / 3), ("x", "y", 0)]
)
def test_the_measure_counts_words_as_often_as_they_stand_there(read, true, f1):
    assert f1_of(read, true) == pytest.approx(f1)


def test_the_pages_that_ship_are_of_the_half_to_look_at():
    assert {half_of(page.name) for page in pages_of(PAGES)} == {"seen"}


def test_no_type_of_page_is_read_worse_than_before():
    outcomes = read_all(PAGES, by_headroom)
    assert {name: score for name, score in by_type(outcomes).items() if score < FLOORS[name]} == {}
    same, declared = languages(outcomes)
    assert same >= 0.98 * declared > 0
