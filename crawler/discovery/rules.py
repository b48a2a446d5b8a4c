"""The rules of a site file that discovery proposes: what one is, and how a text becomes one or a pattern in it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from turbohtml import Text

from crawler.discovery import cut_dates, selectors
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
_IN_FIGURES = re.compile(
    r"\d{1,2}([/-])\d{1,2}\1(?:\d{4}|\d{2})(?:(?P<before>,? )\d{1,2}:\d{2}(?P<second>:\d{2})?(?P<half> [AaPp][Mm])?)?"
)


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
    is_read = all(next(reads(one.string, 1), "") == one["name"] and not has_date(one["name"]) for one in found)
    return pattern if is_read else ""


def is_in_one_piece(name: str, element: Any) -> bool:
    """Returns whether a name stands in an element, or in one within it, and doesn't go on from one into another."""
    nodes = (node for node in element.descendants if isinstance(node, Text))
    return any(name in " ".join(str(node.data).split()) for node in nodes)


def date_rule(texts: Sequence[str], language: str) -> RuleKeys | None:
    """Returns the `pattern` and the `format` by which a date is read in all texts; None if some has none that is sure.

    Where day and month are figures, most texts can be read in two ways, but all of them together only in one.

    Args:
        texts: Of one element on several pages, or in several comments.
        language: BCP 47 tag of the pages.
    """
    written = [_IN_FIGURES.fullmatch(" ".join(text.split())) for text in texts]
    formats = [_formats(match) if match else set() for match in written]
    sure = set.intersection(*formats) if formats else set()
    return {"format": sure.pop()} if len(sure) == 1 else cut_dates.rule_of(texts, language)


def has_date(written: str) -> bool:
    """Returns whether a text has a date in figures, or with the name of a month, in it."""
    return any(re.search(form, written) for form in cut_dates.PATTERNS)


def _formats(date: re.Match[str]) -> set[str]:
    """Returns the formats in which a date in figures can be read."""
    year = "%Y" if re.match(r"\d+\D\d+\D\d{4}", date[0]) else "%y"
    clock = ""
    if date["before"]:
        hour, half = ("%I", " %p") if date["half"] else ("%H", "")
        clock = f"{date['before']}{hour}:%M{':%S' if date['second'] else ''}{half}"
    days = (f"%m{date[1]}%d{date[1]}{year}{clock}", f"%d{date[1]}%m{date[1]}{year}{clock}")
    return {form for form in days if _reads(date[0], form)}


def _reads(date: str, form: str) -> bool:
    try:
        return datetime.strptime(date, form).year > 0  # noqa: DTZ007 -- only whether it can be read
    except ValueError:
        return False
