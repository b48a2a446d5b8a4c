"""The words that may stand beside a date without changing what it says, and those that say what was done then."""

from __future__ import annotations

import re

from crawler.extract.dates.cldr_names import weekday_of
from crawler.extract.dates.vocabulary import (
    ABOUT,
    BESIDE,
    CHANGED,
    HALVES,
    SEASONAL_ZONES,
    WRITTEN,
    ZONES,
    any_of,
    is_cjk,
    words_in,
)  # fmt: skip

LABELS = CHANGED.union(WRITTEN, BESIDE, HALVES, ZONES)
BETWEEN = ABOUT.union(BESIDE, HALVES, ZONES, SEASONAL_ZONES, "t")  # a day and its time

CJK_WEEKDAY = re.compile(
    r"(?:星期|周|週|礼拜|禮拜)(?P<chinese>[一二三四五六日天])|(?P<long>[月火水木金土日])曜|(?P<korean>[월화수목금토일])요일"
    r"|[(\uff08](?P<short>[月火水木金土日월화수목금토일])[)\uff09]"
)
CJK_LABEL = re.compile(any_of(filter(is_cjk, LABELS)))


def says_only(text: str, names: frozenset[str], language: str) -> bool:
    """Returns whether all words of a text are weekdays or some others.

    Args:
        text: Its digits and marks aren't looked at.
        names: The others, as tables have them.
        language: The page's, without its region.
    """
    if not text.isascii():
        text = CJK_WEEKDAY.sub(" ", text)
    return all(
        word in names
        or weekday_of(word, language) is not None
        or (is_cjk(word) and not CJK_LABEL.sub(lambda label: "" if label[0] in names else label[0], word))
        for word in words_in(text.lower())
    )


def names_any(text: str, names: frozenset[str]) -> bool:
    """Returns whether a text has one of some labels, also within Chinese, Japanese or Korean."""
    text = text.lower()
    return not names.isdisjoint(words_in(text)) or not names.isdisjoint(CJK_LABEL.findall(text))
