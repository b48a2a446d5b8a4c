"""Lengths of time ago: `vor 3 Stunden`, `a year ago`, `5h`."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from crawler.extract.dates import words
from crawler.extract.dates.calendars import MONTHS_A_YEAR
from crawler.extract.dates.evidence import UnclearDateError
from crawler.extract.dates.labels import LABELS, says_only
from crawler.extract.dates.names import COUNTED_UNITS, LENGTHS, UNITS
from crawler.extract.dates.words import any_of, spelt, words_in

if TYPE_CHECKING:
    from crawler.base.item import TimeUnit
    from crawler.extract.dates.evidence import Evidence

_MONTHS = {"month": 1, "year": MONTHS_A_YEAR}
_SHORT_UNITS: dict[str, TimeUnit] = {
    "s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year",
}  # fmt: skip

_BEFORE, _BEHIND = r"(?<![a-z\u00c0-\u04ff\u0600-\u06ff])", r"(?![a-z\u00c0-\u04ff\u0600-\u06ff])"  # no letter
_since, _ago, _and = any_of(words.SINCE), any_of(words.AGO), any_of(words.AND)
_one = rf"(?P<count>\d{{1,3}}|{any_of(words.COUNTS)})\s*(?P<unit>{any_of(UNITS)}){_BEHIND}"
_COUNTED = re.compile(_one)
_unnamed = re.sub(r"\?P<\w+>", "?:", _one)
_several = rf"(?P<counted>{_unnamed}(?:[\s,]*(?:{_and}\s*)?{_unnamed}){{0,5}})"
_FORMS = (
    re.compile(rf"(?<![\d.,/\u2044:\-]){_BEFORE}{_several}\s*{_ago}{_BEHIND}"),
    re.compile(rf"{_BEFORE}{_since}\s+(?:{any_of(words.ABOUT)}\s+)?(?<![\d.,/\u2044:\-]){_several}"),
)
_MARK = re.compile(f"{_since}|{_ago}")
_unit_alone = rf"(?P<unit>{any_of(COUNTED_UNITS)})"
_UNIT_ALONE = re.compile(rf"(?:\w+:\s*)?(?:{_unit_alone}\s+{_ago}|{_since}\s+{_unit_alone.replace('unit', 'since')})")
# Beside what was counted, a number with at most a word between: `1 lustrum, 3 days ago`, `3 to 5 days ago`.
_NUMBER_BEFORE = re.compile(rf"(?<![#\d])\d+[\s,\-\u2013\u2014~+&/\u2044]*(?:{words.WORD}[\s,.\-\u2013\u2014~]*)?$")
_NUMBER_BEHIND = re.compile(rf"[^\S\n]*(?:[,+&/\u2044]\s*)?(?:{_and}\s*)?\d")
_WORD_BEFORE = re.compile(rf"({words.WORD})\s*$")
_HALF_AN_HOUR = re.compile(rf"(?P<label>[^\d半]{{0,20}}?){_BEFORE}{any_of(words.HALF_AN_HOUR_AGO)}")
_BRIEFLY = re.compile(
    rf"(?P<label>\D{{0,20}}?)(?<![\w.,-])(?P<count>\d{{1,3}})(?P<unit>{any_of(_SHORT_UNITS)})(?P<ago> ago)?"
)


class TimeAgo(NamedTuple):
    """A moment that was told by how long ago it was.

    Attributes:
        moment: When that was.
        unit: The smallest unit that was counted, such as `hour`.
    """

    moment: datetime
    unit: TimeUnit


def time_ago(text: str, evidence: Evidence) -> TimeAgo | None:
    """Returns the moment of a text in small letters that says how long ago it was; None if it doesn't.

    Raises:
        UnclearDateError: The length can't be told for sure.
    """
    if text.strip(" .!") in words.NOW:
        return TimeAgo(evidence.now, "minute")
    if (match := _HALF_AN_HOUR.fullmatch(text)) and says_only(match["label"], LABELS | words.ABOUT, evidence.primary):
        return TimeAgo(evidence.now - timedelta(minutes=30), "minute")
    return _briefly(text, evidence) or _counted(text, evidence)


def _briefly(text: str, evidence: Evidence) -> TimeAgo | None:
    """Reads English short forms such as `5h` and `3d ago`, with at most a label before."""
    match = _BRIEFLY.fullmatch(text)
    if not match or not says_only(match["label"], LABELS | words.ABOUT, evidence.primary):
        return None
    if not match["ago"] and (evidence.primary != "en" or match["unit"] == "s" or match["label"]):
        return None
    return _before(evidence.now, [(int(match["count"]), _SHORT_UNITS[match["unit"]])])


def _counted(text: str, evidence: Evidence) -> TimeAgo | None:
    if not _MARK.search(text) or not words.PART.isdisjoint(words_in(text)):
        return None
    spans = {match.span("counted"): match for form in _FORMS for match in form.finditer(text)}
    if not spans:
        alone = _UNIT_ALONE.fullmatch(text)
        return _before(evidence.now, [COUNTED_UNITS[spelt(alone["unit"] or alone["since"])]]) if alone else None
    match = next(iter(spans.values()))
    if len(spans) > 1 or not _is_whole(match, evidence):
        return None
    counted = _COUNTED.finditer(match["counted"])
    return _before(evidence.now, [(_count(part["count"]), UNITS[spelt(part["unit"])]) for part in counted])


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else words.COUNTS[spelt(written)]


def _is_whole(match: re.Match[str], evidence: Evidence) -> bool:
    """Returns whether nothing beside a match of `_FORMS` could belong to what it counts."""
    if match.end() == match.end("counted"):  # a word such as "vor" stands before
        return not _NUMBER_BEHIND.match(match.string[match.end() :])
    before, is_in_digits = match.string[: match.start()], match["counted"][0].isdigit()
    if _NUMBER_BEFORE.search(before):
        return False
    word = _WORD_BEFORE.search(before)
    if not word:
        return True
    is_label = says_only(word[1], LABELS | words.ABOUT, evidence.primary)
    is_number = word[1] in words.COUNTS and not (is_label and is_in_digits)  # `on` is ten in Turkish
    if is_number or word[1] in UNITS or word[1] in words.AND:
        return False  # "a year and 3 days ago"
    # A name may stand before digits, but before a number in words it could be the rest of that.
    return is_label or is_in_digits


def _before(now: datetime, counted: list[tuple[int, TimeUnit]]) -> TimeAgo:
    """Returns the moment that lies some counted units before another."""
    if len(counted) > 1 and any(unit in _MONTHS for _, unit in counted):
        raise UnclearDateError  # "2 months, 3 days ago" depends on which of them is taken off first
    for count, unit in counted:
        now = _months_before(now, count * _MONTHS[unit]) if unit in _MONTHS else now - count * LENGTHS[unit]
    return TimeAgo(now, counted[-1][1])


def _months_before(now: datetime, months: int) -> datetime:
    """Returns the moment so many months earlier: on the same day of the month, or on its last."""
    year, month = divmod(now.year * MONTHS_A_YEAR + now.month - 1 - months, MONTHS_A_YEAR)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))
