"""Dates in the words of twenty languages: `3 ноября 2026 г., 14:05`, `午後2:05`, `vor 3 Stunden`.

What could mean two things is no date, unless there is evidence for one of them: a wrong date is worse than none.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from crawler.extract import date_words as words

NOON, MIDNIGHT, MINUTES = 12, 24, 60
EVENING_FROM = 5  # o'clock: "1:00 in the evening" is nobody's hour, and could be one of the next day
NOON_FROM = 10  # o'clock: from here on an hour "at noon" is one before 12
BUDDHIST_YEARS, BUDDHIST_OFFSET = range(2500, 2600), 543
PERSIAN_YEARS, PERSIAN_OFFSET_DAYS = range(1340, 1500), 226_895
MAX_OFFSET_HOURS = 14  # of a zone, from UTC; a larger one is the end of a range of hours
MONTHS_A_YEAR = 12
LONG_PERSIAN_MONTHS = 6  # those of 31 days; the others have 30, and the last 29 but in leap years

_WORD = r"[^\W\d](?:[^\W\d]|['’\u0300-\u036f\u0900-\u0963\u0e31-\u0e4e]|\.(?=[^\W\d]))*"
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_ASCII_DIGIT = re.compile(r"[^\D0-9]")
_HALF_BY_DOTS = re.compile(r"\b([ap])\.?\s?m\b\.?", re.IGNORECASE)
_VIETNAMESE_MONTH = re.compile(r"\btháng[\s-]+(\d{1,2})\b", re.IGNORECASE)
_VIETNAMESE_NUMBERS = "một hai ba tư năm sáu bảy tám chín mười mười_một mười_hai".split()
_VIETNAMESE_WORD = re.compile(
    rf"\btháng ({'|'.join(name.replace('_', ' ') for name in reversed(_VIETNAMESE_NUMBERS))})\b", re.IGNORECASE
)
_VIETNAMESE_WEEKDAY = re.compile(r"\bthứ ([2-7])\b", re.IGNORECASE)
# What a browser's `Date` prints behind its offset.
_NAME_BEHIND_OFFSET = re.compile(r"(?<=GMT[+-]\d{4}) \([^()]{1,60}\)$")
_VERSION = re.compile(
    r"(?:(?<![^\W\d_])(?:v|ver|version|versión|versão|versione|versie|wersja|verze|версия|версії|версія|sürüm|build|release(?!\s?:))"
    r"|版本|バージョン|버전)[\s.:]{0,3}\d+(?:[.\-]\d+)+",
    re.IGNORECASE,
)
_CJK_FIGURES = "零一二三四五六七八九"
# A number to 99 before what it counts; behind a mark of weekdays, its first figure would be a weekday.
_CJK_NUMBER = re.compile(
    rf"(?<![{_CJK_FIGURES}〇两兩十百千万萬\d几幾数數第周週期拜曜])(?:(?P<tens>[{_CJK_FIGURES[2:]}]?)(?P<ten>十))?零?(?P<ones>[{_CJK_FIGURES}〇两兩])?"
    r"(?=\s?(?:[秒分点點时時天日]|小[时時]|[个個][小月]|(?:[周年]|星期|週間)之?前))"
)
_CJK_YEAR = re.compile(rf"(?<![{_CJK_FIGURES}〇])[{_CJK_FIGURES}〇]{{4}}(?=年)")
_CJK_MONTH = re.compile(
    rf"(?<![{_CJK_FIGURES}〇十])(?P<ten>十)?(?P<ones>[{_CJK_FIGURES[1:]}])?月(?=\s?[\d{_CJK_FIGURES[1:]}十])"
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_ERA = re.compile(rf"({'|'.join(_ERAS)})\s?(\d{{1,3}}|元)\s?年")
# `Tue Nov 03 06:05:00 +0000 2026`: C's ctime, `date`, and Twitter's API have the year behind the time.
_YEAR_LAST = re.compile(r"([A-Za-z]{3})\s+(\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?) (?:([+-]\d{4}|[A-Z]{3,4}) )?(\d{4})$")
# `Dec. 3, 2018, noon` and `..., midnight`, as Django writes 12:00 and 0:00 of that day; and `12 noon` anywhere.
_NOON = re.compile(r"(?:(?<=\d{4}),? (?:at )?|\b12(?::00)? )noon\b", re.IGNORECASE)
_MIDNIGHT_BEHIND_DAY = re.compile(r"(?<=\d{4}), midnight$", re.IGNORECASE)
_NAMED_ZONE = re.compile(r"\b([ECMP])(?:astern|entral|ountain|acific)(?: (?:Standard|Daylight))? Time\b", re.IGNORECASE)
_MOSCOW = re.compile(r"по (?:московскому времени|москве)", re.IGNORECASE)
# The time of a place whose zone this module doesn't know.
_ELSEWHERE = re.compile(
    r"(?:当地|當地|本地|美东|美東|美西|美国|东部|東部|西部|伦敦|纽约|紐約|欧洲|歐洲|現地|米国|현지|동부|서부)\s?(?:时间|時間|시간)"
    r"|\b(?:local|Ortszeit|местн\w+ времен|"
    r"hora (?:local|de )|heure (?:locale|de )|ora locale|[A-Z][a-z]+ (?:[A-Z][a-z]+ )?[Tt]ime\b)"
)

_YEAR = r"(?P<year>\d{4})(?!\d)"
_ORDINAL = r"(?:st|nd|rd|th|er|ère|º|ª|o|a|-?го|\.)?"
_WITH_YEAR = (
    re.compile(
        r"(?<!\d)(?<!\d[.\-/])(?P<year>\d{4})\s?[年년/.\-]\s?(?P<month>\d{1,2})\s?[月월/.\-]\s?(?P<day>\d{1,2})(?!\d)"
        r"\s?[日일號号]?"
    ),
    re.compile(
        rf"(?<![#\d])(?<!\d[.,:/\-])(?P<day>\d{{1,2}}){_ORDINAL}[\s,./\-]*(?:(?:de|of)\s+)?(?P<month>{_WORD})[.,]*[\s./\-]*"
        rf"(?:(?:de|del|of|năm|พ\.ศ\.|ค\.ศ\.)\s*)?,?\s*(?:{_YEAR}|(?:(?<=-)|['’])(?P<short>\d{{2}})(?!\d)"
        r"|(?<=\s)(?P<shorter>\d{2})(?=\s*(?:$|,|\d{1,2}:)))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<month>{_WORD})\.?,?[\s\-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])[\s,\-]*(?:of\s+|de\s+|năm\s+)?{_YEAR}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<!\d)(?P<year>\d{{4}}),?[\s./\-]+(?P<month>{_WORD})\.?[\s./\-]+(?P<day>\d{{1,2}})(?![\d:])"),
)
_NUMERIC = re.compile(
    r"(?<!\d)(?<!\d[./\-:])(?P<a>\d{1,2})\s?(?P<mark>[./\-])(?P<blank>\s?)(?P<b>\d{1,2})\s?(?P=mark)(?:(?P=blank)|\s(?=\d{4}))"
    r"(?P<c>\d{4}|\d(?=\s+\d{1,2}:\d{2})|\d{2}(?!\s?(?:[:h时時点點시]|Uhr)))(?![\d/\-])(?!\.\d)"
)
_range_words = "|".join(
    re.escape(word).replace("_", r"\s") + (r"(?![^\W\d_])" if word.isalpha() else "") for word in words.RANGES.split()
)
_RANGE_BEFORE = re.compile(
    rf"(?:\d\.?\s?[-\u2013\u2014~/&]"
    rf"|(?<![\d:])\d{{1,2}}{_ORDINAL}(?:\s+(?:(?:de|of)\s+)?(?P<month>{_WORD})(?!\w)\.?)??\s*(?:{_range_words}))\s*$",
    re.IGNORECASE,
)
# What follows could be a time, which is none from one day to another.
_RANGE_BEHIND = re.compile(
    rf"\s*(?:{_range_words})\s*(?:\d{{1,2}}(?!\s?[\d:hH时時点點시])(?!\.\d\d(?!\d))(?!\s?(?:Uhr|giờ|[ap]m)\b)|\d{{4}}\s?[./年년\-]"
    rf"|(?P<month>{_WORD})\.?\s+\d{{1,2}}(?!\s?[\d:]))",
    re.IGNORECASE,
)
# Without a year; what follows must not be a number that could be one.
_CJK_MONTH_DAY = re.compile(r"(?<![\d年년])(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})(?!\d)\s?[日일號号]?")
_DAY_MONTH = re.compile(
    rf"(?<![#\d])(?<!\d[.,:/\-])(?P<day>\d{{1,2}}){_ORDINAL}[\s,./\-]*(?:(?:de|of)\s+)?(?P<month>{_WORD})\.?"
    r"(?=\s*(?:$|[,|·(\-]|(?:\S{1,6}\s+)?\d{1,2}[:h.]))",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"(?P<month>{_WORD})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?=\s*(?:$|[,|·(\-](?!\s*\d{2,}(?!:))|(?:\S{1,6}\s+)?\d{1,2}:))",
    re.IGNORECASE,
)
_CHINESE_MONTH_DAY = re.compile(r"(?P<month>\d{2})-(?P<day>\d{2})")  # and nothing beside
_NUMERIC_DAY = re.compile(
    r"^(?P<label>\D{0,30}?)(?P<a>\d{1,2})(?P<mark>[./\-])(?P<b>\d{1,2})(?:\.|(?=\D))(?=,?\s+\d{1,2}:\d{2})"
)

_TIME = re.compile(
    r"(?<!\d)(?<!\d[:.,/\-])(?P<hour>\d{1,2})"
    r"(?:\s?:\s?(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"|\s?(?:[hH](?![a-zA-Z])|Uhr\b|giờ\b)\s?(?P<minute_h>\d{2})?(?:\s?(?:min|phút)\b)?"
    r"|\s?[時时點点시](?![间間])\s?(?:(?P<minute_cjk>\d{1,2})\s?[分분]?|(?P<thirty>[半반]))?"
    r"\s?(?:(?P<second_cjk>\d{1,2})\s?[秒초])?"
    r"|(?=\s?[ap]m\b))(?!\d)",
    re.IGNORECASE,
)
# Behind the day; before it, only with a word that makes it a time.
_DOTTED_TIME = re.compile(
    r"(?<![\d.,:/+\-])(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?:\.(?P<second>\d{2})(?:\.\d{1,9})?)?"
    r"(?:(?=\s?(?P<sure>[ap]m\b|Uhr\b))|(?=\s*(?:$|[,|)]|น|WIB|WITA|WIT|UTC|GMT|CES?T)))",
    re.IGNORECASE,
)
_is_cjk = re.compile("[\u3005-\u9fff\uac00-\ud7a3]").match
_CJK_HALF = re.compile("(" + "|".join(sorted(filter(_is_cjk, words.HALVES), key=len, reverse=True)) + r")\s*$")
_WORD_BEFORE = re.compile(rf"({_WORD})\s*$")
_WORD_AND_COLON = re.compile(rf"{_WORD}\.?\s*:?\s*$")
_WORD_BEHIND = re.compile(rf"\s*({_WORD})")
_NO_HALF_BEFORE = frozenset({"am", "sa", "ch", "a.m", "م", "ص"})  # "on", Saturday and the like, if they stand before
_OFFSET = re.compile(
    r"(?:GMT|UTC)\s?(?P<sign>[+\-−])(?:\s(?=[\d:]+\s*(?:[)\]]|$)))?(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?(?!\d)"
)
_OFFSET_BEHIND = re.compile(
    r"\s*(?:Uhr|h|น\.?)?\s*[(\[]?(?P<sign>[+\-−])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?(?!\.?\d)", re.IGNORECASE
)
_SIGNED_OFFSET = re.compile(r"(?<=\d)\s?[+\-]\d{2}:?\d{2}(?![\d:]|\.\d)")
_ZONE_BEHIND = re.compile(r"[\s,.)]*(?:Uhr|น\.?|hrs?|h)?[\s,.]*(?P<bracket>[(\[]?)\s?(?P<name>[A-ZА-Я]{1,5}|z)\b")
_CJK_WEEKDAY = re.compile(
    r"(?:星期|周|週|礼拜|禮拜)(?P<chinese>[一二三四五六日天])|(?P<long>[月火水木金土日])曜|(?P<korean>[월화수목금토일])요일"
    r"|[(\uff08](?P<short>[月火水木金土日월화수목금토일])[)\uff09]"
)
_SEPARATORS = " \t\xa0.,|()-·"
_CJK_ZONE = re.compile("|".join(name for name in words.ZONES if _is_cjk(name)))


def _words_of(*texts: str) -> frozenset[str]:
    return frozenset(word.lower() for text in texts for word in text.split())


def _any_of(names: object) -> str:
    """Returns a regular expression for any of these words, longest first."""
    listed = sorted(map(str, names), key=len, reverse=True)  # type: ignore[call-overload]  # any iterable
    return "(?:" + "|".join(re.escape(name).replace("_", r"[\s_\-]") for name in listed) + ")"


def _key(written: str) -> str:
    """Returns what an expression of `_any_of` matches as its table has it, whatever stands between the words."""
    return re.sub(r"[\s\-]", "_", written.lower())


_PHRASES = re.compile(
    r"(?<!\w)"
    + _any_of(
        word
        for table in (words.MONTHS, words.WEEKDAYS, words.HALVES, words.NEAR_DAYS, _words_of(words.NOW))
        for word in table
        if "_" in word
    )
    + r"(?!\w)",
    re.IGNORECASE,
)
_LETTER_BEFORE, _LETTER_BEHIND = r"(?<![a-z\u00c0-\u04ff\u0600-\u06ff])", r"(?![a-z\u00c0-\u04ff\u0600-\u06ff])"
_since = _any_of(words.SINCE.split())
_ago = _any_of(words.AGO.split())
_about = _any_of(words.ABOUT.split())
_and = _any_of(words.AND.split())
_unit = rf"(?P<unit>{_any_of(words.UNITS)}){_LETTER_BEHIND}"
_ONE_COUNTED = re.compile(rf"(?P<count>\d{{1,3}}|{_any_of(words.COUNTS)})\s*{_unit}")
_counted = _ONE_COUNTED.pattern.replace("?P<count>", "?:").replace("?P<unit>", "?:")
_COUNTED = rf"(?P<counted>{_counted}(?:[\s,]*(?:{_and}\s*)?{_counted}){{0,5}})"
_AGO = (
    re.compile(rf"(?<![\d.,/\u2044:\-]){_LETTER_BEFORE}{_COUNTED}\s*{_ago}{_LETTER_BEHIND}"),
    re.compile(rf"{_LETTER_BEFORE}{_since}\s+(?:{_about}\s+)?(?<![\d.,/\u2044:\-]){_COUNTED}"),
)
# Beside what was counted, a number with at most a word between: `1 lustrum, 3 days ago`, `3 to 5 days ago`.
_NUMBER_BEFORE = re.compile(rf"(?<![#\d])\d+[\s,\-\u2013\u2014~+&/\u2044]*(?:{_WORD}[\s,.\-\u2013\u2014~]*)?$")
_NUMBER_BEHIND = re.compile(rf"[^\S\n]*(?:[,+&/\u2044]\s*)?(?:{_and}\s*)?\d")
_AGO_COUNTED = (
    re.compile(rf"^(?:\w+:\s*)?(?P<unit>{_any_of(words.COUNTED_UNITS)})\s+{_ago}$"),
    re.compile(rf"^(?:\w+:\s*)?{_since}\s+(?P<unit>{_any_of(words.COUNTED_UNITS)})$"),
)
_HALF_AN_HOUR_AGO = re.compile(rf"(?P<label>[^\d半]{{0,20}}?){_LETTER_BEFORE}{_any_of(words.HALF_AN_HOUR_AGO.split())}")
_BRIEFLY_AGO = re.compile(
    rf"(?P<label>\D{{0,20}}?)(?<![\w.,-])(?P<count>\d{{1,3}})(?P<unit>{_any_of(words.SHORT_UNITS)})(?P<ago> ago)?"
)
_AGO_MARK = re.compile(f"{_since}|{_ago}")
# Of small letters: to ignore case also takes letters such as the Turkish \u0131 for those of a word in the table.
_NEAR = re.compile(rf"{_LETTER_BEFORE}(?P<day>{_any_of(words.NEAR_DAYS)}){_LETTER_BEHIND}")
_CHANGED, _WRITTEN, _BESIDE = (_words_of(text) for text in (words.CHANGED, words.WRITTEN, words.BESIDE))
_KNOWN = _CHANGED | _WRITTEN | _BESIDE | frozenset(words.HALVES) | frozenset(words.ZONES)
_ABOUT, _AND = _words_of(words.ABOUT), _words_of(words.AND)
# What may stand between a day and its time.
_BETWEEN = _BESIDE | _ABOUT | frozenset((*words.HALVES, *words.ZONES, *words.SEASONAL_ZONES, "t"))
_LETTERS = re.compile(_WORD)
_CJK_LABELS = re.compile(_any_of(word for word in _KNOWN if _is_cjk(word)))
_CJK_BEFORE = re.compile("[\u3005-\u9fff\uac00-\ud7a3]+\\s?$")
_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")
# `X时间` tells the time in X, or when X was done.
_PLACE_TIME = re.compile("[\u3005-\u9fff\uac00-\ud7a3]+(?:时间|時間|시간)")
_KNOWN_PLACE_TIMES = tuple(
    {zone for zone in words.ZONES if _is_cjk(zone)}
    | {
        label + time
        for label in filter(_is_cjk, _CHANGED | _WRITTEN | _words_of(words.LABELS_OF_TIME))
        for time in ("时间", "時間", "시간")
    }
)
_part = _any_of(words.PART)
_PART_BEFORE = re.compile(
    rf"{_LETTER_BEFORE}{_part}(?:\s+(?:nach|vor|past|to|of|after|till|over|voor))?\s*$"
    r"|\d\s?(?:[\u2013\u2014~]|to|bis|[-])\s?$"
)
_minutes = _any_of(unit for unit, length in words.UNITS.items() if length <= timedelta(minutes=1) and not _is_cjk(unit))
_PART_BEHIND = re.compile(rf"\s*(?:(?:uhr\s+)?(?:{_and}\s+)?{_part}|{_ago}|{_minutes}){_LETTER_BEHIND}")
_clock = _any_of(words.CLOCK.split())
_HINT_OF_TIME = re.compile(
    rf"(?<!\w){_clock}\s*\d{{1,2}}(?!\d)|(?<!\d)\d{{1,2}}\s*(?:{_clock}(?!\w)|h\b|[ap]m\b|น)|(?<!\d)\d{{1,2}}[.:]\d{{2}}(?!\d)"
    rf"|{_any_of(word for word in words.HALVES if len(word) > 1 and _is_cjk(word))}"
    r"|(?<![\u3005-\u9fff\uac00-\ud7a3])[朝昼夜晚早밤낮](?![\u3005-\u9fff\uac00-\ud7a3])"
    r"|[一二三四五六七八九十两兩\d]\s?[点點时時](?![间間])|[한두세네섯곱덟홉열]\s?시(?![\uac00-\ud7a3])"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a date beside its text.

    Attributes:
        zone: Time zone of the site.
        language: BCP 47 tag of the page; empty for none.
        now: The moment to which relative dates refer.
    """

    zone: ZoneInfo
    language: str
    now: datetime

    @property
    def day_first(self) -> bool | None:
        """Whether 03/04 is in April; None if that isn't known, or if language and zone disagree."""
        votes = {vote for vote in (self._by_language(), self._by_zone()) if vote is not None}
        if self.primary in ("zh", "ja", "ko", "fa") and "hk" not in self._regions and "mo" not in self._regions:
            return None  # they write the year first, and anything else is foreign
        return votes.pop() if len(votes) == 1 else None

    @property
    def primary(self) -> str:
        """The language without its region."""
        return re.split("[-_]", self.language.lower(), maxsplit=1)[0]

    @property
    def is_thai(self) -> bool:
        """Whether years may be Buddhist."""
        return self.primary == "th" or self.zone.key == "Asia/Bangkok"

    @property
    def _regions(self) -> list[str]:
        return re.split("[-_]", self.language.lower())[1:]

    def _by_language(self) -> bool | None:
        regions = self._regions
        if not words.MONTH_FIRST_REGIONS.isdisjoint(regions):
            return False if self.primary == "en" else None
        if self.primary == "en":
            return None if words.DAY_FIRST_ENGLISH.isdisjoint(regions) else True
        return True if self.primary in words.DAY_FIRST or regions in (["hk"], ["mo"]) else None

    def _by_zone(self) -> bool | None:
        key = self.zone.key
        if key.startswith(tuple(words.MONTH_FIRST_ZONES)):
            return False
        return True if key.startswith(tuple(words.DAY_FIRST_ZONES)) else None


@dataclass(frozen=True, slots=True)
class _Found:
    """A day and where it stands in the text."""

    start: int
    end: int
    day: date


class UnclearDateError(ValueError):
    """The text has a date that can't be told for sure."""


def refuse_other_weekday(text: str, day: date, language: str = "") -> None:
    """Raises an error if a text names the days of a week, and none of them is the day's.

    Args:
        language: The page's, without its region: it has short names of its own.

    Raises:
        UnclearDateError: Either the day or its weekday is wrong.
    """
    text = text.lower()
    named = {_weekday(match, text, language) for match in _LETTERS.finditer(text)}
    if not text.isascii():
        named |= {words.CJK_WEEKDAYS[found[found.lastgroup or ""]] for found in _CJK_WEEKDAY.finditer(text)}
    named.discard(None)
    if named and day.weekday() not in named:
        raise UnclearDateError


def _weekday(match: re.Match[str], text: str, language: str) -> int | None:
    """Returns which weekday a word is; a short name is one only beside a day: "by Sun Li" names an author."""
    name = match[0].removeprefix("วัน").removesuffix("ที่")
    number = _weekday_named(name, language)
    if number is None or name in words.WEEKDAYS:
        return number
    before, behind = text[: match.start()].rstrip(_SEPARATORS), text[match.end() :].lstrip(_SEPARATORS)
    following = _LETTERS.match(behind)
    is_beside = not behind or behind[0].isdigit() or before[-1:].isdigit() or (following and _is_month(following[0]))
    return number if is_beside else None


def _weekday_named(name: str, language: str) -> int | None:
    number = words.WEEKDAYS.get(name, words.SHORT_WEEKDAYS.get(language, {}).get(name))
    return words.SHORT_WEEKDAYS["en"].get(name) if number is None else number


def read(text: str, evidence: Evidence) -> datetime | None:
    """Returns the moment that a text tells, with its zone; midnight if it tells a day alone.

    Args:
        text: At most some hundred characters.
        evidence: Decides what could be read in several ways.

    Returns:
        None if the text tells no date.

    Raises:
        ValueError: The text has a date that is none, or can't be told for sure.
    """
    text = _plain(text)
    days = _days(text, evidence) or _days_without_year(text, evidence)
    if days:
        return _with_time(text, _written_on(text, days), days, evidence)
    lower = text.lower()
    return (
        _briefly_ago(lower, evidence)
        or _ago_of(lower, evidence.now)
        or _near_day(text, evidence)
        or _last_weekday(text, evidence)
    )


def _plain(text: str) -> str:
    """Returns a text in the form that the patterns here expect."""
    text = _VERSION.sub("version", _NAME_BEHIND_OFFSET.sub("", text))
    if not text.isascii():
        text = (
            _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("İ", "i").replace("॰", "").replace("−", "-")
        )
        text = _NOT_ASCII_DIGIT.sub(lambda match: str(int(match[0])), text)
        text = _VIETNAMESE_MONTH.sub(lambda match: _english_month(int(match[1])), text)
        text = _VIETNAMESE_WORD.sub(
            lambda match: _english_month(_VIETNAMESE_NUMBERS.index(match[1].lower().replace(" ", "_")) + 1), text
        )
        text = _VIETNAMESE_WEEKDAY.sub(lambda match: f"thứ_{_VIETNAMESE_NUMBERS[int(match[1]) - 1]}", text)
        text = _CJK_YEAR.sub(
            lambda match: "".join(str(_CJK_FIGURES.index(figure)) for figure in match[0].replace("〇", "零")), text
        )
        text = _CJK_MONTH.sub(_month_in_figures, text)
        text = _CJK_NUMBER.sub(_in_figures, text)
        text = _ERA.sub(lambda match: f"{_ERAS[match[1]] + (1 if match[2] == '元' else int(match[2]))}年", text)
        text = _MOSCOW.sub("МСК", text)
    text = _MIDNIGHT_BEHIND_DAY.sub(", 12:00 am", _NOON.sub(", 12:00 pm", text))
    text = _HALF_BY_DOTS.sub(r"\1m", text)
    text = _YEAR_LAST.sub(r"\1 \2, \5 \3 \4", text)
    text = _NAMED_ZONE.sub(lambda match: f"{match[1].upper()}T", text)
    return _PHRASES.sub(lambda match: re.sub(r"[\s\-]", "_", match[0]), text)


def _in_figures(match: re.Match[str]) -> str:
    """Returns a Chinese number in figures."""
    ones = "二" if match["ones"] in ("两", "兩") else (match["ones"] or "零").replace("〇", "零")
    tens = _CJK_FIGURES.index(match["tens"] or "一") if match["ten"] else 0
    return str(10 * tens + _CJK_FIGURES.index(ones)) if match["ten"] or match["ones"] else match[0]


def _month_in_figures(match: re.Match[str]) -> str:
    """Returns a month whose number is in Chinese with its number in figures."""
    if not match["ten"] and not match["ones"]:
        return match[0]
    return f"{10 * bool(match['ten']) + _CJK_FIGURES.index(match['ones'] or '零')}月"


def _english_month(number: int) -> str:
    if not 1 <= number <= MONTHS_A_YEAR:
        raise UnclearDateError
    return ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")[number - 1]


def _days(text: str, evidence: Evidence) -> list[_Found]:
    """Returns the days with a year in the text, in their order."""
    found = []
    for form in _WITH_YEAR:
        for match in form.finditer(text):
            day = _day(match, evidence)
            if day:
                _refuse_range(text, match)
                found.append(_Found(match.start(), match.end(), day))
    if not found:
        found = [
            _Found(match.start(), match.end(), _numeric_day(match, text, evidence)) for match in _NUMERIC.finditer(text)
        ]
    return sorted(found, key=lambda one: one.start)


def _refuse_range(text: str, match: re.Match[str]) -> None:
    beside = _RANGE_BEFORE.search(text[: match.start()]), _RANGE_BEHIND.match(text[match.end() :])
    if any(found and (not found["month"] or _is_month(found["month"])) for found in beside):
        raise UnclearDateError


def _is_month(name: str) -> bool:
    name = name.lower()
    return name in words.MONTHS or name in words.SHARED_MONTHS or name in words.PERSIAN_MONTHS


def _month(name: str, evidence: Evidence) -> int | None:
    """Returns the month of a name in small letters; None if it is none, or means others in languages but the page's."""
    return words.MONTHS.get(name) or words.SHARED_MONTHS.get(name, {}).get(evidence.primary)


def _day(match: re.Match[str], evidence: Evidence) -> date | None:
    """Returns the day that a match of `_WITH_YEAR` tells; None if its word is no month."""
    groups = match.groupdict()
    name, day = groups["month"].lower().rstrip("."), int(groups["day"])
    is_thai = "\u0e00" < name < "\u0e7f"
    short = groups.get("short") or groups.get("shorter")
    year = _full_year(int(short), evidence, is_thai=is_thai) if short else int(groups["year"])
    if name.isdecimal():
        return _gregorian(year, int(name), day, evidence)
    if name in words.PERSIAN_MONTHS and year in PERSIAN_YEARS:
        return _from_persian(year, words.PERSIAN_MONTHS[name], day)
    month = _month(name, evidence)
    if month is None:
        return None
    if year in BUDDHIST_YEARS and is_thai:
        year -= BUDDHIST_OFFSET
    return date(year, month, day)


def _gregorian(year: int, month: int, day: int, evidence: Evidence) -> date:
    """Returns a day that was written in numbers, in the calendar of its language."""
    if year in BUDDHIST_YEARS and evidence.is_thai:
        year -= BUDDHIST_OFFSET
    if year in PERSIAN_YEARS and (evidence.primary == "fa" or evidence.zone.key == "Asia/Tehran"):
        return _from_persian(year, month, day)
    return date(year, month, day)


def _from_persian(year: int, month: int, day: int) -> date:
    """Returns a day of the Persian calendar, whose leap years repeat after 33 until 1502."""
    in_first_half = month <= LONG_PERSIAN_MONTHS
    leaps = _persian_leap_years_before(year)
    length = 31 if in_first_half else 30
    if month == MONTHS_A_YEAR:
        length = 29 + _persian_leap_years_before(year + 1) - leaps
    if not (1 <= month <= MONTHS_A_YEAR and 1 <= day <= length):
        raise UnclearDateError
    before = (month - 1) * 31 if in_first_half else (month - 1) * 30 + 6
    return date.fromordinal(PERSIAN_OFFSET_DAYS + 365 * (year - 1) + leaps + before + day - 1)


def _persian_leap_years_before(year: int) -> int:
    return (8 * year + 21) // 33


def _full_year(short: int, evidence: Evidence, *, is_thai: bool = False) -> int:
    """Returns the last year that ends in two digits, up to the next one; of both calendars if it may be Buddhist."""
    latest = evidence.now.year + 1
    year = latest - (latest - short) % 100
    return max(year, latest - (latest + BUDDHIST_OFFSET - short) % 100) if is_thai else year


def _numeric_day(match: re.Match[str], text: str, evidence: Evidence) -> date:
    """Returns the day of `03/11/2026` or `3.11.26`, in the order for which there is evidence."""
    _refuse_range(text, match)
    first, second, last = int(match["a"]), int(match["b"]), int(match["c"])
    if len(match["c"]) <= 2:  # noqa: PLR2004 -- digits
        if match["mark"] == "." and _is_version(match, text, evidence):
            raise UnclearDateError
        return _short_numeric_day(match, evidence)
    day, month = _ordered(first, second, evidence)
    return _gregorian(last, month, day, evidence)


def _is_version(match: re.Match[str], text: str, evidence: Evidence) -> bool:
    """Returns whether `3.11.26` is rather a version: in English, or behind the name of something."""
    word = _WORD_BEFORE.search(text[: match.start()])
    name = word[1].lower() if word else ""
    is_name = word is not None and word[1][0].isupper() and not _is_cjk(name)
    is_label = name in _KNOWN or name in _BETWEEN or _weekday_named(name, evidence.primary) is not None
    return evidence.primary == "en" or (is_name and not is_label)


def _short_numeric_day(match: re.Match[str], evidence: Evidence) -> date:
    """Returns the day of `3.11.26`. The year could be at the other end, too, and is if the day is a later one then."""
    first, second, last = int(match["a"]), int(match["b"]), int(match["c"])
    has_two = len(match["a"]) == 2  # noqa: PLR2004 -- digits
    year_first = _possible(first, second, last, evidence) if has_two else None
    if evidence.primary in ("zh", "ja", "ko") and has_two:
        found, other = year_first, _possible(last, second, first, evidence)
    elif evidence.day_first is None or len(match["c"]) == 1:
        raise UnclearDateError
    else:
        day, month = _ordered(first, second, evidence)
        found, other = _possible(last, month, day, evidence), year_first
    if found is None or (other and other.year > found.year):
        raise UnclearDateError
    return found


def _possible(year: int, month: int, day: int, evidence: Evidence) -> date | None:
    """Returns a day with a year of two digits; None if there is no such day."""
    try:
        return date(_full_year(year, evidence, is_thai=evidence.is_thai), month, day)
    except ValueError:
        return None


def _ordered(first: int, second: int, evidence: Evidence) -> tuple[int, int]:
    """Returns day and month."""
    if first > MONTHS_A_YEAR or first == second:
        return first, second
    if second > MONTHS_A_YEAR:
        return second, first
    if evidence.day_first is None:
        raise UnclearDateError
    return (first, second) if evidence.day_first else (second, first)


def _days_without_year(text: str, evidence: Evidence) -> list[_Found]:
    """Returns the days without a year, each as the last one of its kind."""
    for form in (_CJK_MONTH_DAY, _DAY_MONTH, _MONTH_DAY):
        found = []
        for match in form.finditer(text):
            name = match["month"].lower().rstrip(".")
            month = int(name) if name.isdecimal() else _month(name, evidence)
            if month:
                _refuse_range(text, match)
                found.append(_Found(match.start(), match.end(), _last(month, int(match["day"]), evidence)))
        if found:
            return found
    if evidence.primary == "zh" and (chinese := _CHINESE_MONTH_DAY.fullmatch(text)):
        return [_Found(0, len(text), _last(int(chinese["month"]), int(chinese["day"]), evidence))]
    numeric = _NUMERIC_DAY.search(text)
    if not numeric:
        return []
    if not _are_all(numeric["label"], _KNOWN, evidence):
        raise UnclearDateError  # "page 3/4", "v1.2"
    first, second = int(numeric["a"]), int(numeric["b"])
    if evidence.primary in ("zh", "ja", "ko"):
        day, month = second, first
    elif evidence.day_first is None:
        raise UnclearDateError
    else:
        day, month = (first, second) if evidence.day_first else (second, first)
    return [_Found(numeric.start("a"), numeric.end(), _last(month, day, evidence))]


def _last(month: int, day: int, evidence: Evidence) -> date:
    """Returns the last such day, up to a day ahead because of time zones."""
    today = evidence.now.astimezone(evidence.zone).date()
    if (month, day) == (2, 29):
        return next(date(year, 2, 29) for year in range(today.year, today.year - 9, -1) if _is_leap(year, today))
    this_year = date(today.year, month, day)
    return this_year if this_year <= today + timedelta(days=1) else this_year.replace(year=today.year - 1)


def _is_leap(year: int, today: date) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) and date(year, 2, 29) <= today + timedelta(days=1)


def _written_on(text: str, days: list[_Found]) -> _Found:
    """Returns the day on which a page was written, if the text has others."""
    if len({one.day for one in days}) == 1:
        return days[0]
    gaps = [text[last.end if last else 0 : one.start] for last, one in zip([None, *days], days, strict=False)]
    behind = text[days[-1].end :]
    if _is_cjk(gaps[1]) and ":" not in gaps[1] and not _is_label(gaps[0]) and not _is_label(behind):
        raise UnclearDateError  # `2026年11月1日公開 2026年11月3日`
    # `3 Nov 2026 (created), 5 Nov 2026 (changed)`
    labels = [*gaps[1:], behind] if _is_label(behind) and not _is_label(gaps[0]) else gaps
    changed = [one for one, label in zip(days, labels, strict=True) if _has(label, _CHANGED)]
    unchanged = [one for one in days if one not in changed]
    if len({one.day for one in unchanged}) == 1:
        if labels is gaps and not _is_label(gaps[0]) and any(one.day < unchanged[0].day for one in changed):
            raise UnclearDateError  # it was changed before it was written: the label belongs to the other day
        return unchanged[0]
    written = [one for one, label in zip(days, labels, strict=True) if _has(label, _WRITTEN)]
    if len({one.day for one in written}) == 1:
        return written[0]
    raise UnclearDateError


def _is_label(text: str) -> bool:
    return _has(text, _CHANGED) or _has(text, _WRITTEN)


def _has(label: str, names: frozenset[str]) -> bool:
    label = label.lower()
    return any(word in names for word in _LETTERS.findall(label)) or any(
        found in names for found in _CJK_LABELS.findall(label)
    )


def _with_time(text: str, found: _Found, days: list[_Found], evidence: Evidence) -> datetime:
    """Returns the day with the time of day and the zone that stand beside it."""
    if _ELSEWHERE.search(text):
        raise UnclearDateError
    if len({one.day for one in days}) == 1:
        marked = text  # with a digit for each day: a short month could be a weekday, too
        for one in reversed(days):
            marked = f"{marked[: one.start]}0{marked[one.end :]}"
        refuse_other_weekday(marked, found.day, evidence.primary)
    index = days.index(found)
    start = days[index - 1].end if index and days[index - 1].day != found.day else 0
    end = next((one.start for one in days[index + 1 :] if one.day != found.day), len(text))
    blanked = text
    for one in days:
        blanked = blanked[: one.start] + " " * (one.end - one.start) + blanked[one.end :]
    return _moment(blanked[start:end], found.day, (found.start - start, found.end - start), evidence)


def _moment(text: str, day: date, day_at: tuple[int, int], evidence: Evidence) -> datetime:
    """Returns a day at the time of day in a text in which the day itself is blank.

    Args:
        text: What stands around the day.
        day: The day.
        day_at: Where in the text it starts and ends.
        evidence: Of zones with the same name.
    """
    for place in _PLACE_TIME.finditer(text):
        if not place[0].endswith(_KNOWN_PLACE_TIMES):
            raise UnclearDateError
    end = day_at[1]
    without_offset = _SIGNED_OFFSET.sub(_blank, _OFFSET.sub(_blank, text))
    times = list(_TIME.finditer(without_offset))
    if not times:
        dotted = list(_DOTTED_TIME.finditer(text))
        times = [match for match in dotted if match["sure"] or match.start() >= end]
    if not times:
        _refuse_hint_of_time(text, day_at, evidence)
        return datetime(day.year, day.month, day.day, tzinfo=evidence.zone)
    if not any(_is_beside(match, without_offset, day_at, evidence) for match in times):
        raise UnclearDateError
    moments = {_time_of_day(match, text) for match in times}
    if len(moments) > 1:
        raise UnclearDateError
    naive = datetime(day.year, day.month, day.day) + moments.pop()  # noqa: DTZ001 -- its zone comes next
    zone = _zone(text, (times[-1].end(), end), naive, evidence, has_seconds=bool(times[-1]["second"]))
    return naive.replace(tzinfo=zone)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _is_beside(match: re.Match[str], text: str, day_at: tuple[int, int], evidence: Evidence) -> bool:
    """Returns whether but words of times, zones and weekdays stand between the day and a time, or the name of one."""
    if match.start() >= day_at[1]:
        return _are_all(text[day_at[1] : match.start()], _BETWEEN, evidence)
    label = _WORD_AND_COLON.search(text[: match.start()])
    if label and not _are_all(label[0], _KNOWN, evidence):
        return False  # `Video 12:34`
    gap = _CAPITALS.sub("", text[match.end() : day_at[0]])  # a zone, most likely
    return _are_all(gap, _BETWEEN, evidence)


def _are_all(text: str, names: frozenset[str], evidence: Evidence) -> bool:
    """Returns whether all words of a text without digits are weekdays or some others."""
    if re.search(r"\d", text):
        return False
    if not text.isascii():
        text = _CJK_WEEKDAY.sub(" ", text)
    for word in _LETTERS.findall(text.lower()):
        name = word.removeprefix("วัน").removesuffix("ที่")
        if word in names or not name or _weekday_named(name, evidence.primary) is not None:
            continue
        if not _is_cjk(word) or _CJK_LABELS.sub(lambda found: "" if found[0] in names else found[0], word):
            return False
    return True


def _refuse_hint_of_time(text: str, day_at: tuple[int, int], evidence: Evidence) -> None:
    """Raises an error if a text without a time that could be read seems to have one, such as `noon`.

    Raises:
        UnclearDateError: The moment is not the day's beginning.
    """
    lower = text.lower()
    halves = (
        match
        for match in _LETTERS.finditer(lower)
        if match[0] in words.HALVES and match[0] not in _NO_HALF_BEFORE and _is_beside(match, text, day_at, evidence)
    )
    if _HINT_OF_TIME.search(lower) or any(halves):
        raise UnclearDateError


def _time_of_day(match: re.Match[str], text: str) -> timedelta:
    groups = match.groupdict()
    minute = int(groups["minute"] or groups.get("minute_h") or groups.get("minute_cjk") or 0)
    minute = 30 if groups.get("thirty") else minute
    second = int(groups["second"] or groups.get("second_cjk") or 0)
    before, behind = text[: match.start()], text[match.end() :]
    if _PART_BEFORE.search(before.lower()) or _PART_BEHIND.match(behind.lower()):
        raise UnclearDateError  # "half past 2:00", "halb 3 Uhr", "3h ago", "from 2 to 4 pm"
    hour, half = int(groups["hour"]), _half(match, text)
    unknown = _CJK_BEFORE.search(_CJK_WEEKDAY.sub(" ", before)) if not half and hour <= NOON else None
    if unknown and _CJK_LABELS.sub("", unknown[0]):
        raise UnclearDateError  # a half of the day, most likely
    has_minute = any(groups.get(name) for name in ("minute", "minute_cjk", "thirty"))
    if not has_minute and _is_cjk(behind) and not _CJK_LABELS.match(behind):
        raise UnclearDateError  # `3点一刻`
    return time_of_day(hour, minute, second, half)


def _half(match: re.Match[str], text: str) -> str | None:
    """Returns the part of the day that a word before or behind a time names, a key of `HALVES`."""
    before = text[: match.start()]
    if cjk := _CJK_HALF.search(before):
        return words.HALVES[cjk[1]]
    if word := _WORD_BEFORE.search(before):
        name = word[1].lower()
        if name in words.HALVES and (name not in _NO_HALF_BEFORE or word[1] == "AM"):
            return words.HALVES[name]
    behind = text[match.end() :]
    for _ in range(2):  # `5:30 बजे शाम`, `2:05 Uhr nachmittags`: a word of hours may stand between
        word = _WORD_BEHIND.match(behind)
        if not word:
            return None
        if word[1].lower() in words.HALVES:
            return words.HALVES[word[1].lower()]
        behind = behind[word.end() :]
    return None


def time_of_day(hour: int, minute: int, second: int, half: str | None) -> timedelta:
    """Returns how far from a day's beginning a time is, 24:00 at its end.

    Args:
        hour: Of 24, or of 12 with a part of the day.
        half: Part of the day, as `HALVES` has it; None for none.

    Raises:
        UnclearDateError: There is no such time, or the part of the day leaves two hours to choose from.
    """
    if max(minute, second) >= MINUTES or (hour == MIDNIGHT and minute + second):
        raise UnclearDateError
    hour = _hour_of_day(hour, half)
    if hour > MIDNIGHT:
        raise UnclearDateError
    return timedelta(hours=hour, minutes=minute, seconds=second)


def _hour_of_day(hour: int, half: str | None) -> int:
    """Returns an hour of 24, given one of 12 with a part of the day, or one of 24 with or without."""
    if not half or hour > NOON:
        return hour
    if half == "am":
        return 0 if hour == NOON else hour
    if half == "pm":
        return NOON if hour == NOON else hour + NOON
    if half == "noon":
        return hour if hour >= NOON_FROM else hour + NOON
    if half == "evening" and hour >= EVENING_FROM:
        return hour + NOON  # 12 in the evening is midnight, at the day's end
    raise UnclearDateError


def _zone(text: str, ends: tuple[int, int], naive: datetime, evidence: Evidence, *, has_seconds: bool) -> tzinfo:
    """Returns the zone that stands behind the time or the day; the site's if there is none."""
    if named := _OFFSET.search(text):
        return _offset(named)
    behind_time = text[ends[0] :]
    if word := _WORD_BEHIND.match(behind_time):
        behind_time = behind_time[word.end() :] if word[1].lower() in words.HALVES else behind_time
    if signed := _OFFSET_BEHIND.match(behind_time):
        if signed["sign"] == "-" and ":" in signed[0] and not has_seconds:
            raise UnclearDateError  # `09:00-10:00` is a range of hours
        again = _OFFSET_BEHIND.match(behind_time[signed.end() :])
        if again and _offset(again) != _offset(signed):
            raise UnclearDateError
        return _offset(signed)
    if cjk := _CJK_ZONE.search(text):
        return timezone(timedelta(hours=words.ZONES[cjk[0]]))
    for behind in (behind_time, text[ends[1] :]):
        match = _ZONE_BEHIND.match(behind)
        zone = _zone_by_name(match["name"].lower(), naive, evidence) if match else None
        if zone:
            return zone
        if match and behind is behind_time and len(match["name"]) > 1 and match["name"].lower() not in words.NO_ZONES:
            raise UnclearDateError  # a zone that isn't known, most likely
    return evidence.zone


def _zone_by_name(name: str, naive: datetime, evidence: Evidence) -> tzinfo | None:
    own = {naive.replace(month=month, day=1, tzinfo=evidence.zone).tzname(): month for month in (1, 7)}
    if name.upper() in own:
        return evidence.zone
    if name in words.SEASONAL_ZONES:
        return ZoneInfo(words.SEASONAL_ZONES[name])
    if name in ("est", "edt") and evidence.zone.key.startswith("Australia/"):
        raise UnclearDateError
    hours = words.ZONES.get(name)
    return None if hours is None else timezone(timedelta(hours=hours))


def _offset(match: re.Match[str]) -> tzinfo:
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    if offset > timedelta(hours=MAX_OFFSET_HOURS):
        raise UnclearDateError
    return timezone(-offset if match["sign"] in "-−" else offset)


def _ago_of(text: str, now: datetime) -> datetime | None:
    """Reads how long ago something was."""
    if not _AGO_MARK.search(text):
        return None
    spans = {match.span("counted"): match for form in _AGO for match in form.finditer(text)}
    if len(spans) > 1 or not words.PART.isdisjoint(_LETTERS.findall(text)):
        return None
    if spans:
        (match,) = spans.values()
        return _before(now, match["counted"]) if _is_whole_count(match) else None
    counted = next(filter(None, (form.search(text) for form in _AGO_COUNTED)), None)
    return now - words.COUNTED_UNITS[_key(counted["unit"])] if counted else None


def _is_whole_count(match: re.Match[str]) -> bool:
    """Returns whether nothing beside a match of `_AGO` could belong to what it counts."""
    if match.end() == match.end("counted"):  # a word such as "vor" stands before
        return not _NUMBER_BEHIND.match(match.string[match.end() :])
    before, is_in_digits = match.string[: match.start()], match["counted"][0].isdigit()
    if _NUMBER_BEFORE.search(before):
        return False
    word = _WORD_BEFORE.search(before)
    is_label = not word or word[1] in _KNOWN or word[1] in _ABOUT or not _CJK_LABELS.sub("", word[1])
    if word and (
        word[1] in words.UNITS or word[1] in _AND or (word[1] in words.COUNTS and not (is_label and is_in_digits))
    ):
        return False  # "a year and 3 days ago", and `on` is ten in Turkish
    # A name may stand before digits, but before a number in words it could be the rest of that.
    return is_label or is_in_digits


def _before(now: datetime, counted: str) -> datetime:
    """Returns the moment that lies some counted units before another."""
    counts = [(_count(part["count"]), words.UNITS[_key(part["unit"])]) for part in _ONE_COUNTED.finditer(counted)]
    if len(counts) > 1 and any(unit >= words.MONTH for _, unit in counts):
        raise UnclearDateError  # "2 months, 3 days ago" depends on which of them is taken off first
    for count, unit in counts:
        now = _earlier(now, count, unit)
    return now


def _earlier(now: datetime, count: int, unit: timedelta) -> datetime:
    """Returns the moment so many units earlier: with the same day of the month for months and years, or its last."""
    if unit < words.MONTH:
        return now - count * unit
    if unit > words.YEAR:
        raise UnclearDateError
    months = now.year * MONTHS_A_YEAR + now.month - 1 - count * (1 if unit == words.MONTH else MONTHS_A_YEAR)
    year, month = divmod(months, MONTHS_A_YEAR)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else words.COUNTS[_key(written)]


def _briefly_ago(text: str, evidence: Evidence) -> datetime | None:
    """Reads half an hour ago, and English short forms such as `5h` and `3d ago`, with at most a label before."""
    if match := _HALF_AN_HOUR_AGO.fullmatch(text):
        return evidence.now - timedelta(minutes=30) if _is_labelled(match["label"]) else None
    match = _BRIEFLY_AGO.fullmatch(text)
    if not match or not _is_labelled(match["label"]):
        return None
    if not match["ago"] and (evidence.primary != "en" or match["unit"] == "s" or match["label"]):
        return None
    return _earlier(evidence.now, int(match["count"]), words.SHORT_UNITS[match["unit"]])


def _is_labelled(text: str) -> bool:
    """Returns whether all words of a text are such as stand before a date."""
    return all(word in _KNOWN or word in _ABOUT or not _CJK_LABELS.sub("", word) for word in _LETTERS.findall(text))


def _last_weekday(text: str, evidence: Evidence) -> datetime | None:
    """Reads a weekday and a time of day, `Friday at 14:05`, of the six days before today: today's has two meanings."""
    named = [(match.span(), words.CJK_WEEKDAYS[match[match.lastgroup or ""]]) for match in _CJK_WEEKDAY.finditer(text)]
    for match in _LETTERS.finditer(text):
        number = words.WEEKDAYS.get(match[0].lower())
        if number is not None:
            named.append((match.span(), number))
    if len(named) != 1:
        return None
    ((start, end), number) = named[0]
    if not _is_labelled(f"{text[:start]} {text[end:]}".lower()):
        return None
    blanked = text[:start] + " " * (end - start) + text[end:]
    if not _TIME.search(blanked):
        return None
    today = evidence.now.astimezone(evidence.zone).date()
    days = (today.weekday() - number) % 7
    return _moment(blanked, today - timedelta(days=days), (start, end), evidence) if days else None


def _near_day(text: str, evidence: Evidence) -> datetime | None:
    """Reads today and the two days before, with or without a time, and words for this very moment."""
    now = evidence.now.astimezone(evidence.zone)
    if text.lower().strip(" .!") in _words_of(words.NOW):
        return now
    found = list(_NEAR.finditer(text.lower()))
    if len(found) != 1:
        return None
    (match,) = found
    rest = text[: match.start()] + " " + text[match.end() :]
    unknown = [word for word in _LETTERS.findall(rest.lower()) if word not in _KNOWN]
    if any(_CJK_LABELS.sub("", word) for word in unknown):
        return None
    day = now.date() - timedelta(days=words.NEAR_DAYS[_key(match["day"])])
    blanked = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    if not _TIME.search(blanked) and re.search(r"\d", blanked):
        return None
    return _moment(blanked, day, match.span(), evidence)
