"""Brings the notations of dates in a text into the few that are read: figures, English halves of days, zones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.extract.dates.cldr_names import MONTHS, WEEKDAYS
from crawler.extract.dates.vocabulary import HALVES, NEAR_DAYS, NOW, any_of, normal

if TYPE_CHECKING:
    from collections.abc import Callable

    Rewriting = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_ENGLISH_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_VIETNAMESE_NUMBERS = [
    name.replace("_", " ") for name in "một hai ba tư năm sáu bảy tám chín mười mười_một mười_hai".split()
]
_CJK_FIGURES = "零一二三四五六七八九"
_CJK_TENS = re.compile(rf"(?P<tens>[{_CJK_FIGURES[2:]}])?十(?P<ones>[{_CJK_FIGURES[1:]}])?")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}


def _vietnamese_month(match: re.Match[str]) -> str:
    number = int(match[1]) if match[1].isdecimal() else _VIETNAMESE_NUMBERS.index(match[1].lower()) + 1
    return _ENGLISH_MONTHS[number - 1] if 1 <= number <= len(_ENGLISH_MONTHS) else match[0]


def _in_figures(match: re.Match[str]) -> str:
    """Returns a Chinese number in figures: a year by its figures, another one to 99."""
    written = match[0].replace("〇", "零").replace("两", "二").replace("兩", "二")
    if tens := _CJK_TENS.fullmatch(written):
        return str(10 * _CJK_FIGURES.index(tens["tens"] or "一") + _CJK_FIGURES.index(tens["ones"] or "零"))
    is_number = "十" not in written and (len(written) in (1, 4) or written[0] == "零")
    return "".join(str(_CJK_FIGURES.index(figure)) for figure in written) if is_number else match[0]


# A number before what it counts; behind a mark of weekdays, its first figure would be a weekday.
_cjk_number = (
    rf"(?<![{_CJK_FIGURES}〇两兩十百千万萬\d几幾数數第周週期拜曜])"
    rf"(?:[{_CJK_FIGURES}〇]{{4}}(?=年)|[{_CJK_FIGURES}〇两兩十]{{1,3}}(?=\s?(?:月(?=\s?[\d{_CJK_FIGURES}十])"
    r"|[秒分点點时時天日]|小[时時]|[个個][小月]|(?:[周年]|星期|週間)之?前)))"
)
_BEYOND_ASCII: tuple[Rewriting, ...] = (
    (re.compile(r"[^\D0-9]"), lambda match: str(int(match[0]))),
    (re.compile(rf"\btháng[\s-]+(\d{{1,2}}|{any_of(_VIETNAMESE_NUMBERS)})\b", re.IGNORECASE), _vietnamese_month),
    (re.compile(r"\bthứ ([2-7])\b", re.IGNORECASE), lambda match: f"thứ {_VIETNAMESE_NUMBERS[int(match[1]) - 1]}"),
    (re.compile(_cjk_number), _in_figures),
    (re.compile(r"(\d{1,2})\s?[个個]半(?:小[时時]|钟头|鐘頭)"), lambda match: f"{60 * int(match[1]) + 30}分钟"),
    (
        re.compile(rf"({'|'.join(_ERAS)})\s?(\d{{1,3}}|元)\s?年"),
        lambda match: f"{_ERAS[match[1]] + int(match[2].replace('元', '1'))}年",
    ),
    (re.compile(r"по (?:московскому времени|москве)", re.IGNORECASE), "МСК"),
)
_phrases = (name for table in (MONTHS, WEEKDAYS, HALVES, NEAR_DAYS, NOW) for name in table if "_" in name)
_ANY: tuple[Rewriting, ...] = (
    (re.compile(r"\b(?:an|one|1) hour and a half(?= ago)", re.IGNORECASE), "90 minutes"),
    (re.compile(r"(?<=GMT[+-]\d{4}) \([^()]{1,60}\)$"), ""),  # what a browser's `Date` prints behind its offset
    (  # versions, which may look like days
        re.compile(
            r"(?:(?<![^\W\d_])(?:v|ver|version|versión|versão|versione|versie|wersja|verze|версия|версії|версія|sürüm"
            r"|build|release(?!\s?:))|版本|バージョン|버전)[\s.:]{0,3}\d+(?:[.\-]\d+)+",
            re.IGNORECASE,
        ),
        "version",
    ),
    # As Django writes 12:00 and 0:00 of a day; and `12 noon` anywhere.
    (re.compile(r"(?:(?<=\d{4}),? (?:at )?|\b12(?::00)? )noon\b", re.IGNORECASE), ", 12:00 pm"),
    (re.compile(r"(?<=\d{4}), midnight$", re.IGNORECASE), ", 12:00 am"),
    (re.compile(r"\b([ap])\.?\s?m\b\.?", re.IGNORECASE), r"\1m"),
    # `Tue Nov 03 06:05:00 +0000 2026`: C's ctime, `date`, and Twitter's API have the year behind the time.
    (
        re.compile(r"([A-Za-z]{3})\s+(\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?) (?:([+-]\d{4}|[A-Z]{3,4}) )?(\d{4})$"),
        r"\1 \2, \5 \3 \4",
    ),
    (
        re.compile(r"\b([ECMP])(?:astern|entral|ountain|acific)(?: (?:Standard|Daylight))? Time\b", re.IGNORECASE),
        lambda match: f"{match[1].upper()}T",
    ),
    (
        re.compile(rf"(?<!\w){any_of(_phrases)}(?!\w)", re.IGNORECASE),
        lambda match: re.sub(r"[\s\-]", "_", match[0]),
    ),
)


def in_one_notation(text: str) -> str:
    """Returns a text in which the parts of a date are written as the readers expect them."""
    if not text.isascii():
        text = normal(text)
    for pattern, written in (() if text.isascii() else _BEYOND_ASCII) + _ANY:
        text = pattern.sub(written, text)
    return text
