"""The time of day and the zone that stand beside a day."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from crawler.extract.dates.cldr_names import UNITS
from crawler.extract.dates.context import DateContext, UnclearDateError
from crawler.extract.dates.labels import BETWEEN, CJK_LABEL, LABELS, says_only
from crawler.extract.dates.vocabulary import (
    AGO,
    AND,
    CHANGED,
    CLOCK,
    HALVES,
    LABELS_OF_TIME,
    NO_ZONES,
    PART,
    SEASONAL_ZONES,
    WORD,
    WRITTEN,
    ZONES,
    any_of,
    is_cjk,
)  # fmt: skip

NOON, MIDNIGHT, MINUTES = 12, 24, 60
EVENING_FROM = 5  # o'clock: "1:00 in the evening" is nobody's hour, and could be one of the next day
NOON_FROM = 10  # o'clock: from here on an hour "at noon" is one before 12
MAX_OFFSET_HOURS = 14  # of a zone, from UTC; a larger one is the end of a range of hours

_CJK = "\u3005-\u9fff\uac00-\ud7a3"
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
_CJK_HALF = re.compile(any_of(filter(is_cjk, HALVES)) + r"\s*$")
_WORD_BEFORE = re.compile(rf"({WORD})\s*$")
_WORD_AND_COLON = re.compile(rf"{WORD}\.?\s*:?\s*$")
_WORD_BEHIND = re.compile(rf"\s*({WORD})")
_NO_HALF_BEFORE = frozenset({"am", "sa", "ch", "a.m", "م", "ص"})  # "on", Saturday and the like, if they stand before
_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")
_NAMED_OFFSET = re.compile(
    r"(?:GMT|UTC)\s?(?P<sign>[+\-])(?:\s(?=[\d:]+\s*(?:[)\]]|$)))?(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?(?!\d)"
)
_OFFSET_BEHIND = re.compile(
    r"\s*(?:Uhr|h|น\.?)?\s*[(\[]?(?P<sign>[+\-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?(?!\.?\d)", re.IGNORECASE
)
_SIGNED_OFFSET = re.compile(r"(?:(?<=\d)|(?<=[AaPp][Mm]))\s?[+\-]\d{2}:?\d{2}(?![\d:]|\.\d)")
_ZONE_BEHIND = re.compile(r"[\s,.)]*(?:Uhr|น|hrs?|h)?[\s,.]*[(\[]?\s?(?P<name>[A-ZА-Я]{1,5}|z)\b")
_CJK_ZONE = re.compile(any_of(filter(is_cjk, ZONES)))
# `X时间` tells the time in X, or when X was done.
_PLACE_TIME = re.compile(rf"[{_CJK}]+(?:时间|時間|시간)")
_KNOWN_PLACE_TIMES = tuple(
    {*filter(is_cjk, ZONES)}
    | {
        f"{label}{time}"
        for label in filter(is_cjk, CHANGED.union(WRITTEN, LABELS_OF_TIME))
        for time in ("时间", "時間", "시간")
    }
)
# The time of a place whose zone this module doesn't know.
_ELSEWHERE = re.compile(
    r"(?:当地|當地|本地|美东|美東|美西|美国|东部|東部|西部|伦敦|纽约|紐約|欧洲|歐洲|現地|米国|현지|동부|서부)\s?(?:时间|時間|시간)"
    r"|\b(?:local|Ortszeit|местн\w+ времен|"
    r"hora (?:local|de )|heure (?:locale|de )|ora locale|[A-Z][a-z]+ (?:[A-Z][a-z]+ )?[Tt]ime\b)"
)
_part = any_of(PART)
_minutes = any_of(name for name, unit in UNITS.items() if unit in ("second", "minute") and not is_cjk(name))
_PART_BEHIND = re.compile(rf"\s*(?:(?:uhr\s+)?(?:{any_of(AND)}\s+)?{_part}|{any_of(AGO)}|{_minutes})(?![^\W\d_])")
_clock = any_of(CLOCK)
_HINT_OF_TIME = re.compile(
    rf"(?<!\w){_clock}\s*\d{{1,2}}(?!\d)|(?<!\d)\d{{1,2}}\s*(?:{_clock}(?!\w)|h\b|[ap]m\b|น)"
    rf"|(?<!\d)\d{{1,2}}[.:]\d{{2}}(?!\d)|(?<![{_CJK}])[朝昼夜晚早밤낮](?![{_CJK}])"
    rf"|{any_of(name for name in HALVES if len(name) > 1 and is_cjk(name))}"
    rf"|[一二三四五六七八九十两兩\d]\s?[点點时時](?![间間])|[한두세네섯곱덟홉열]\s?시(?![\uac00-\ud7a3])"
)


def with_time(text: str, day: date, day_at: tuple[int, int], context: DateContext) -> datetime:
    """Returns a day at the time in a text in which the day itself is blank, at its beginning if the text has none.

    Args:
        text: What stands around the day.
        day: The day.
        day_at: Where in the text it starts and ends.
        context: Of zones with the same name.

    Raises:
        UnclearDateError: The text has a time that can't be told for sure.
    """
    if _ELSEWHERE.search(text) or not all(
        place[0].endswith(_KNOWN_PLACE_TIMES) for place in _PLACE_TIME.finditer(text)
    ):
        raise UnclearDateError
    without_offset = _SIGNED_OFFSET.sub(_blank, _NAMED_OFFSET.sub(_blank, text))
    times = list(_TIME.finditer(without_offset)) or [
        match for match in _DOTTED_TIME.finditer(text) if match["sure"] or match.start() >= day_at[1]
    ]
    if not times:
        _refuse_hint_of_time(text, day_at, context)
        return datetime(day.year, day.month, day.day, tzinfo=context.zone)
    moments = {_time_of(match, text) for match in times}
    if len(moments) > 1 or not any(_is_beside(match, without_offset, day_at, context) for match in times):
        raise UnclearDateError
    naive = datetime(day.year, day.month, day.day) + moments.pop()  # noqa: DTZ001 -- its zone comes next
    return naive.replace(tzinfo=_zone(text, times[-1], day_at[1], naive, context))


def has_time(text: str) -> bool:
    """Returns whether a text has a time of day in figures."""
    return _TIME.search(text) is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _is_beside(match: re.Match[str], text: str, day_at: tuple[int, int], context: DateContext) -> bool:
    """Returns whether but words of times, zones and weekdays stand between the day and a time, or the name of one."""
    if match.start() >= day_at[1]:
        gap = text[day_at[1] : match.start()]
    else:
        label = _WORD_AND_COLON.search(text[: match.start()])
        if label and not says_only(label[0], LABELS, context.primary):
            return False  # `Video 12:34`
        gap = _CAPITALS.sub("", text[match.end() : day_at[0]])  # a zone, most likely
    return not re.search(r"\d", gap) and says_only(gap, BETWEEN, context.primary)


def _refuse_hint_of_time(text: str, day_at: tuple[int, int], context: DateContext) -> None:
    """Raises an error if a text without a time that could be read seems to have one, such as `noon`.

    Raises:
        UnclearDateError: The moment is not the day's beginning.
    """
    lower = text.lower()
    halves = (
        word
        for word in re.finditer(WORD, lower)
        if word[0] in HALVES and word[0] not in _NO_HALF_BEFORE and _is_beside(word, text, day_at, context)
    )
    if _HINT_OF_TIME.search(lower) or any(halves):
        raise UnclearDateError


def _time_of(match: re.Match[str], text: str) -> timedelta:
    groups = match.groupdict()
    minute = "30" if groups.get("thirty") else groups["minute"] or groups.get("minute_h") or groups.get("minute_cjk")
    second = groups["second"] or groups.get("second_cjk")
    behind = text[match.end() :]
    if _PART_BEHIND.match(behind.lower()):
        raise UnclearDateError  # "3h ago", "2 Uhr 30 Minuten"
    if not minute and is_cjk(behind) and not CJK_LABEL.match(behind):
        raise UnclearDateError  # `3点一刻`
    return _time_of_day(int(match["hour"]), int(minute or 0), int(second or 0), _half(match, text))


def _half(match: re.Match[str], text: str) -> str | None:
    """Returns the part of the day that a word before or behind a time names, a key of `HALVES`."""
    before, behind = text[: match.start()], text[match.end() :]
    if cjk := _CJK_HALF.search(before):
        return HALVES[cjk[0].strip()]
    if (word := _WORD_BEFORE.search(before)) and (word[1].lower() not in _NO_HALF_BEFORE or word[1] == "AM"):
        half = HALVES.get(word[1].lower())
        if half:
            return half
    following = re.findall(WORD, behind)[:2]  # `5:30 बजे शाम`, `2:05 Uhr nachmittags`: a word of hours may stand between
    return next((HALVES[word.lower()] for word in following if word.lower() in HALVES), None)


def _time_of_day(hour: int, minute: int, second: int, half: str | None) -> timedelta:
    """Returns how far from a day's beginning a time is, 24:00 at its end.

    Args:
        hour: Of 24, or of 12 with a part of the day.
        minute: Of the hour.
        second: Of the minute.
        half: Part of the day, as `HALVES` has it; None for none.

    Raises:
        UnclearDateError: There is no such time, or the part of the day leaves two hours to choose from.
    """
    if max(minute, second) >= MINUTES or hour > MIDNIGHT or (hour == MIDNIGHT and minute + second):
        raise UnclearDateError
    return timedelta(hours=_hour_of_day(hour, half), minutes=minute, seconds=second)


def _hour_of_day(hour: int, half: str | None) -> int:
    """Returns an hour of 24, given one of 12 with a part of the day, or one of 24 with or without."""
    if not half or hour > NOON:
        return hour
    if half == "am":
        return hour % NOON
    if half == "pm":
        return hour % NOON + NOON
    if half == "noon":
        return hour if hour >= NOON_FROM else hour + NOON
    if half == "evening" and hour >= EVENING_FROM:
        return hour + NOON  # 12 in the evening is midnight, at the day's end
    raise UnclearDateError


def _zone(text: str, time: re.Match[str], day_end: int, naive: datetime, context: DateContext) -> tzinfo:
    """Returns the zone that stands behind the time or the day; the site's if there is none."""
    if named := _NAMED_OFFSET.search(text):
        return _offset(named)
    behind_time = text[time.end() :]
    if (word := _WORD_BEHIND.match(behind_time)) and word[1].lower() in HALVES:
        behind_time = behind_time[word.end() :]
    if signed := _OFFSET_BEHIND.match(behind_time):
        is_range = signed["sign"] == "-" and ":" in signed[0] and not time["second"]  # of hours: `09:00-10:00`
        if is_range:
            raise UnclearDateError
        return _offset(signed)
    if cjk := _CJK_ZONE.search(text):
        return timezone(timedelta(hours=ZONES[cjk[0]]))
    for behind in (behind_time, text[day_end:]):
        match = _ZONE_BEHIND.match(behind)
        zone = _zone_by_name(match["name"].lower(), naive, context) if match else None
        if zone:
            return zone
        if match and behind is behind_time and len(match["name"]) > 1 and match["name"].lower() not in NO_ZONES:
            raise UnclearDateError  # a zone that isn't known, most likely
    return context.zone


def _zone_by_name(name: str, naive: datetime, context: DateContext) -> tzinfo | None:
    if name.upper() in {naive.replace(month=month, day=1, tzinfo=context.zone).tzname() for month in (1, 7)}:
        return context.zone
    if name in SEASONAL_ZONES:
        return ZoneInfo(SEASONAL_ZONES[name])
    if name in ("est", "edt") and context.zone.key.startswith("Australia/"):
        raise UnclearDateError
    return timezone(timedelta(hours=ZONES[name])) if name in ZONES else None


def _offset(match: re.Match[str]) -> tzinfo:
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    if offset > timedelta(hours=MAX_OFFSET_HOURS):
        raise UnclearDateError
    return timezone(-offset if match["sign"] == "-" else offset)
