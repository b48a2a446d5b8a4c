"""Which rows of results have the words of a plan."""

import pytest

from crawler import sites
from crawler.extract import words
from crawler.extract.rows import MAX_TEXT_CHARACTERS, Row, found_by, read_row


def matching(texts, combinations):
    """Returns for each text the combinations that are found in it."""
    found = found_by(
        [(str(number), Row(text=words.comparable(text))) for number, text in enumerate(texts)],
        words.CombinationSearch(combinations),
    )
    return [[combination for url, _row, combination in found if url == str(number)] for number in range(len(texts))]


def test_all_words_of_a_combination_must_be_there_as_parts_of_others_too():
    combinations = [("flood", "wulong"), ("洪水",), ("flood",)]
    assert matching(["Floods in  Wulong", "重庆洪水来了", "dry", "flood"], combinations) == [
        [("flood", "wulong"), ("flood",)],
        [("洪水",)],
        [],
        [("flood",)],
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("İstanbul'da sel", "istanbul"),
        ("haber-istanbul-sel", "İstanbul"),
        ("ISTANBUL", "istanbul"),
        ("flo\u00adod", "flood"),
        ("flo\u200bod", "FLOOD"),
        ("ＦＬＯＯＤ", "flood"),
        ("Straße", "strasse"),
        ("می\u200cرود", "میرود"),
    ],
)
def test_words_are_the_same_that_look_the_same(text, word):
    assert matching([text], [(word,)]) == [[(word,)]]


def test_with_too_little_memory_for_all_words_at_once_each_is_looked_for(monkeypatch):
    combinations = [(f"word{number}",) for number in range(2_000)]
    texts = [f"here is word{number} and more" for number in range(0, 2_000, 97)]
    expected = matching(texts, combinations)
    assert all(expected)
    monkeypatch.setattr(words, "WORDS_MEMORY_BYTES", 1 << 10)
    assert matching(texts, combinations) == expected


def test_of_a_long_row_the_beginning_is_looked_through():
    row = read_row(None, sites.Site.from_definition({"name": "s"}), ["x " * MAX_TEXT_CHARACTERS, "end"])
    assert len(row.text) <= MAX_TEXT_CHARACTERS
