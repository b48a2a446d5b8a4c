"""Lengths of time ago: `vor 3 Stunden`, `a year ago`, `5h`."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from crawler.extract.dates import vocabulary
from crawler.extract.dates.calendars import MONTHS_A_YEAR
from crawler.extract.dates.cldr_names import COUNTED_UNITS, LENGTHS, UNITS
from crawler.extract.dates.context import UnclearDateError
from crawler.extract.dates.labels import LABELS, says_only
from crawler.extract.dates.vocabulary import any_of, spelt, words_in

if TYPE_CHECKING:
    from crawler.base.item import TimeUnit
    from crawler.extract.dates.context import DateContext

_MONTHS = {"month": 1, "year": MONTHS_A_YEAR}
_SHORT_UNITS: dict[str, TimeUnit] = {
    "s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year",
}  # fmt: skip

_BEFORE, _BEHIND = r"(?<![a-z\u00c0-\u04ff\u0600-\u06ff])", r"(?![a-z\u00c0-\u04ff\u0600-\u06ff])"  # no letter
_since, _ago, _and = any_of(vocabulary.SINCE), any_of(vocabulary.AGO), any_of(vocabulary.AND)
_one = rf"(?P<count>\d{{1,3}}|{any_of(vocabulary.COUNTS)})\s*(?P<unit>{any_of(UNITS)}){_BEHIND}"
_COUNTED = re.compile(_one)
_unnamed = re.sub(r"\?P<\w+>", "?:", _one)
_several = rf"(?P<counted>{_unnamed}(?:[\s,]*(?:{_and}\s*)?{_unnamed}){{0,5}})"
_FORMS = (
    re.compile(rf"(?<![\d.,/\u2044:\-]){_BEFORE}{_several}\s*{_ago}{_BEHIND}"),
    re.compile(rf"{_BEFORE}{_since}\s+(?:{any_of(vocabulary.ABOUT)}\s+)?(?<![\d.,/\u2044:\-]){_several}"),
)
_MARK = re.compile(f"{_since}|{_ago}")
_alone = any_of(COUNTED_UNITS)
_UNIT_ALONE = re.compile(rf"(?:\w+:\s*)?(?:(?P<before>{_alone})\s+{_ago}|{_since}\s+(?P<behind>{_alone}))")
# Beside what was counted, a number with at most a word between: `1 lustrum, 3 days ago`, `3 to 5 days ago`.
_NUMBER_BEFORE = re.compile(
    rf"(?<![#\d])\d+[\s,\-\u2013\u2014~+&/\u2044]*(?:{vocabulary.WORD}[\s,.\-\u2013\u2014~]*)?$"
)
_NUMBER_BEHIND = re.compile(rf"[^\S\n]*(?:[,+&/\u2044]\s*)?(?:{_and}\s*)?\d")
_WORD_BEFORE = re.compile(rf"({vocabulary.WORD})\s*$")
_HALF_AN_HOUR = re.compile(rf"(?P<label>[^\d半]{{0,20}}?){_BEFORE}{any_of(vocabulary.HALF_AN_HOUR_AGO)}")
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


def time_ago(text: str, context: DateContext) -> TimeAgo | None:
    """Returns the moment of a text in small letters that says how long ago it was; None if it doesn't.

    Raises:
        UnclearDateError: The length can't be told for sure.
    """
    if text.strip(" .!") in vocabulary.NOW:
        return TimeAgo(context.now, "minute")
    if (match := _HALF_AN_HOUR.fullmatch(text)) and says_only(
        match["label"], LABELS | vocabulary.ABOUT, context.primary
    ):
        return TimeAgo(context.now - timedelta(minutes=30), "minute")
    return _briefly(text, context) or _counted(text, context)


def _briefly(text: str, context: DateContext) -> TimeAgo | None:
    """Reads English short forms such as `5h` and `3d ago`, with at most a label before."""
    match = _BRIEFLY.fullmatch(text)
    if not match or not says_only(match["label"], LABELS | vocabulary.ABOUT, context.primary):
        return None
    if not match["ago"] and (context.primary != "en" or match["unit"] == "s" or match["label"]):
        return None
    return _before(context.now, [(int(match["count"]), _SHORT_UNITS[match["unit"]])])


def _counted(text: str, context: DateContext) -> TimeAgo | None:
    if not _MARK.search(text) or not vocabulary.PART.isdisjoint(words_in(text)):
        return None
    spans = {match.span("counted"): match for form in _FORMS for match in form.finditer(text)}
    if not spans:
        alone = _UNIT_ALONE.fullmatch(text)
        return _before(context.now, [COUNTED_UNITS[spelt(alone["before"] or alone["behind"])]]) if alone else None
    match = next(iter(spans.values()))
    if len(spans) > 1 or not _is_whole(match, context):
        return None
    counted = _COUNTED.finditer(match["counted"])
    return _before(context.now, [(_count(part["count"]), UNITS[spelt(part["unit"])]) for part in counted])


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else vocabulary.COUNTS[spelt(written)]


def _is_whole(match: re.Match[str], context: DateContext) -> bool:
    """Returns whether nothing beside a match of `_FORMS` could belong to what it counts."""
    if match.end() == match.end("counted"):  # a word such as "vor" stands before
        return not _NUMBER_BEHIND.match(match.string[match.end() :])
    before, is_in_digits = match.string[: match.start()], match["counted"][0].isdigit()
    if _NUMBER_BEFORE.search(before):
        return False
    word = _WORD_BEFORE.search(before)
    if not word:
        return True
    is_label = says_only(word[1], LABELS | vocabulary.ABOUT, context.primary)
    is_number = word[1] in vocabulary.COUNTS and not (is_label and is_in_digits)  # `on` is ten in Turkish
    if is_number or word[1] in UNITS or word[1] in vocabulary.AND:
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
