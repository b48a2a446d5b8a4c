"""The rules of a site file that discovery proposes: what one is, and how a text becomes one or a pattern in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from turbohtml import Text

from crawler.discovery import cut_dates, selectors
from crawler.discovery.page import width
from crawler.extract.dates import to_utc
from crawler.sites.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

RuleKeys = dict[str, Any]  # of one rule, such as `select` and `pattern`, or of several, by the names of their fields
NAME_WIDTH_MIN, NAME_WIDTH = 2, 60  # of an author; a single letter stands for a picture
DATED_CHARACTERS = 200  # of a text with a date in it
DATE_NAME = re.compile(r"date|time|publish|posted|日期|时间", re.IGNORECASE)
AUTHOR_NAME = re.compile(
    r"author|byline|user-?_?name|(?:^|[-_ ])(?:user|poster|writer|creator|nick|nickname|by)(?:$|[-_ ])", re.IGNORECASE
)
AUTHOR_PATH = re.compile(r"/(?:authors?|users?|members?|profiles?|people|space|u)(?:[/=.?-]|$)", re.IGNORECASE)
# A name within a longer text, such as `by Ann Becker on 2026-11-03`: what stands before it, and what ends it.
author_in = re.compile(
    r"(?:^|(?<=\s))(?P<label>(?:[Bb]y|BY|[Aa]uthor|作者|楼主|发布者|發佈者)\s*[:\uff1a]?\s*)"
    r"(?P<name>[^\s|,:][^|,]{1,40}?)(?P<end>,?\s+(?:on|at|in)\s|\s*[|,\u00b7\u2022]|\s+(?=\d)|$)"
).search

_BREAKS = (" - ", " \u2013 ", " \u2014 ", " | ", " \u00b7 ", " \u2022 ", " / ")  # between a name and a date on one line
NAME_WORDS = 4  # of an author whose element doesn't say that it is one
_UTC = ZoneInfo("UTC")


class NamedDate(NamedTuple):
    """How a name and a date on one line are told apart.

    Attributes:
        name: The pattern of the name.
        date: The keys of the rule of the date.
    """

    name: str
    date: RuleKeys


def as_pattern(text: str) -> str:
    """Returns the regular expression of a text. A person reads it: what means nothing to RE2 has no backslash."""
    return re.sub(r"([\\.+*?()\[\]{}|^$])", r"\\\1", text)


def says_author(element: Any) -> bool:
    """Returns whether an element is marked as an author, rather than as any person."""
    about = [*selectors.classes(element), element.attr("rel") or "", element.attr("itemprop") or ""]
    return "author" in " ".join(about).casefold()


def author_pattern(texts: Sequence[str], elements: Sequence[Any] = ()) -> str:
    """Returns the pattern of a name that has the same words before and behind it in all texts; empty for none.

    Args:
        texts: Of an author's element on several pages, or in several comments.
        elements: Those elements, in which a name must not go on into the text of a link behind it.
    """
    found = [match for match in map(author_in, texts) if match]
    around = {(match["label"], match["end"]) for match in found}
    if len(found) < len(texts) or len(around) != 1:
        return ""
    if not all(is_in_one_piece(match["name"], one) for match, one in zip(found, elements, strict=False)):
        return ""
    label, end = map(as_pattern, around.pop())
    behind = rf"{end}\d" if end.isspace() else end or "$"
    pattern = f"{label}(.+?){behind}"
    reads = Pattern.parse(pattern).parts
    is_read = all(
        next(reads(one.string, 1), "") == one["name"] and not cut_dates.has_date(one["name"]) for one in found
    )
    return pattern if is_read else ""


def beside_date(texts: Sequence[str], language: str) -> NamedDate | None:
    """Returns how the parts of texts such as `Jan. 2, 2026 - Ann Lee` are told apart; None if they have no such parts.

    Args:
        texts: Of one element on several pages, or in several comments.
        language: BCP 47 tag of the pages.
    """
    for mark in (mark for mark in _BREAKS if texts and all(mark in text for text in texts)):
        first = [text.partition(mark)[::2] for text in texts]
        last = [text.rpartition(mark)[::2] for text in texts]
        sign = as_pattern(mark)
        for dates, names, date, name in (
            ([one[0] for one in first], [one[1] for one in first], f"^(.+?){sign}", f"{sign}(.+)$"),
            ([one[1] for one in last], [one[0] for one in last], f"^.+{sign}(.+)$", f"^(.+){sign}"),
        ):
            rule = cut_dates.rule_of(dates, language) if _differ_as_names(names) else None
            if rule is not None and "pattern" not in rule:
                return NamedDate(name, {"pattern": date, **rule})
    return None


def _differ_as_names(texts: Sequence[str]) -> bool:
    """Returns whether texts may be names, as they stand beside a date; not all of them are of one person."""
    may_be = all(
        NAME_WIDTH_MIN <= width(one) <= NAME_WIDTH
        and any(map(str.isalpha, one))
        and not one[0].isdigit()
        and len(one.split()) <= NAME_WORDS
        and not to_utc(one, _UTC)
        for one in texts
    )
    return may_be and len(set(texts)) > 1


def is_in_one_piece(name: str, element: Any) -> bool:
    """Returns whether a name stands in an element, or in one within it, and doesn't go on from one into another."""
    nodes = (node for node in element.descendants if isinstance(node, Text))
    return any(name in " ".join(str(node.data).split()) for node in nodes)
