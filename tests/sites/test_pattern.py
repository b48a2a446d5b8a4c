"""Regular expressions of site files: what they find, and what the largest text and pattern cost."""

import time

import pytest

from crawler.sites.pattern import MAX_PATTERN_CHARACTERS, Pattern


def test_the_first_group_is_what_is_found():
    assert list(Pattern.parse(r"by (\w+)").parts("by Ann, by Bob", 10)) == ["Ann", "Bob"]
    assert list(Pattern.parse(r"\d+").parts("1, 22, 333", 2)) == ["1", "22"]
    assert Pattern.parse(r"(?P<id>\d+)-(?P<word>\w+)?").names("7-") == {"id": "7", "word": ""}


@pytest.mark.parametrize("text", ["", "(", "x" * (MAX_PATTERN_CHARACTERS + 1), r"(a)\1", "(((a{100}){100}){100})"])
def test_what_is_no_pattern_is_refused(text):
    with pytest.raises(ValueError, match="a regular expression"):
        Pattern.parse(text)


@pytest.mark.parametrize("text", [r"([a-z].{0,900})Z", "[a-q][^u-z]{300}x", "(.{0,200}?)Z"])
def test_a_large_pattern_takes_little_of_a_large_text(text):
    pattern = Pattern.parse(text)
    before = time.process_time()
    assert not pattern.found_in("abcdefghijklmnop " * 600_000)
    assert time.process_time() - before < 10


def test_a_small_pattern_looks_through_a_large_text():
    assert Pattern.parse(r"\d{4}-\d\d").found_in("é" * 4_000_000 + "2026-11")
