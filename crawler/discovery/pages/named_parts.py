"""Elements of a page that are named for what they hold: an author, a time. And whether their texts can be that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from crawler.discovery.pages import selectors
from crawler.discovery.pages.page import ancestors, width
from crawler.extract.dates import to_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NAME_WIDTH_MIN, NAME_WIDTH_MAX = 2, 60  # how wide an author's name is; a single letter stands for a picture
LETTERS_WIDTH_MIN = 4  # what names a page has letters as wide as that
TIME_CHARACTERS_MAX = 100  # a longer text says more than when
NAMED_SHARE = 0.9  # the least share of rows that have a part which each of them should have
ELEMENTS_MAX = 2_000  # the most elements of a page or a row that are looked at
_UTC = ZoneInfo("UTC")
_TIME_NAME = re.compile(r"date|time|publish|posted|日期|时间", re.IGNORECASE)
_AUTHOR_NAME = re.compile(
    r"author|byline|user-?_?name|(?:^|[-_ ])(?:user|poster|writer|creator|nick|nickname|by)(?:$|[-_ ])", re.IGNORECASE
)
# A name with one of these is of something else that is said of an author.
_OF_AUTHOR = re.compile(r"rank|title|status|role|badge|group|count|avatar|posts|date|time", re.IGNORECASE)
_LABELS = frozenset({"dt", "label", "legend", "th"})  # elements that say what stands beside them
_AUTHOR_PATH = re.compile(r"/(?:authors?|users?|members?|profiles?|people|space|u)(?:[/=.?-]|\d|$)", re.IGNORECASE)


def time_of(element: Any, language: str, attribute: str = "datetime") -> str:
    """Returns when an element says that something was; empty if it says no time that can be read.

    Args:
        element: With a text.
        language: BCP 47 tag of its page.
        attribute: Goes before the text, if the element has it.
    """
    written = element.attr(attribute) or element.text.strip()
    is_short = len(written) <= TIME_CHARACTERS_MAX and any(map(str.isdigit, written))
    return str((is_short and to_utc(written, _UTC, language=language)) or "")


def name_of(element: Any) -> str:
    """Returns the text of an element if it may be a person's name; else an empty one."""
    written = " ".join(element.text.split())
    may_be = NAME_WIDTH_MIN <= width(written) <= NAME_WIDTH_MAX and any(map(str.isalpha, written))
    return written if may_be and not to_utc(written, _UTC) else ""


def is_telling(words: str) -> bool:
    """Returns whether words may name a page: they have letters, and are no date."""
    letters = "".join(filter(str.isalpha, words))
    return width(letters) >= LETTERS_WIDTH_MIN and not to_utc(words, _UTC)


def authors(top: Any) -> Iterator[Any]:
    """Yields the elements within another one that are named for an author, and have a text that may be a name."""
    for element in top.select("*")[:ELEMENTS_MAX]:
        if element.tag in _LABELS:
            continue
        leads = element.tag == "a" and _AUTHOR_PATH.search(element.attr("href") or "")
        if (leads or _is_called_author(element) or element.tag == "address") and name_of(element):
            yield element


def _is_called_author(element: Any) -> bool:
    return any(_AUTHOR_NAME.search(name) and not _OF_AUTHOR.search(name) for name in _names(element).split())


def times(top: Any, language: str, attribute: str = "datetime") -> Iterator[Any]:
    """Yields the elements within another one that say a time: first those that have it in an attribute.

    What is only named for a time may be a link or a line around such an element, with a text that leaves out seconds.
    """
    elements = top.select("*")[:ELEMENTS_MAX]
    exact = [element for element in elements if element.attr(attribute)]
    named = [element for element in elements if element.tag == "time" or _TIME_NAME.search(_names(element))]
    return (element for element in dict.fromkeys([*exact, *named]) if time_of(element, language, attribute))


def selector_in(tops: Sequence[Any], elements: Iterator[Any], value_of: Callable[[Any], str]) -> str:
    """Returns the selector of one of some elements by which most of other ones have a value, too; empty for none.

    Args:
        tops: Elements or pages in which it is looked for; the first has the elements.
        elements: Within the first one.
        value_of: Returns the value of what the selector finds first; empty: it is none.
    """
    tried: set[str] = set()
    for element in elements:
        for css in selectors_within(element, tops[0]):
            if css in tried:
                continue
            tried.add(css)
            matches = [top.select_one(css) for top in tops]
            values = [value_of(match) if match is not None else "" for match in matches]
            if sum(map(bool, values)) >= NAMED_SHARE * len(tops):
                return css
    return ""


def selectors_within(element: Any, top: Any = None) -> list[str]:
    """Returns selectors of an element by its own names and by those of what is around it, within another one if any."""
    own = selectors.steps(element)
    tag = selectors.tag_of(element)
    around = []
    for outer in ancestors(element):
        if outer == top:
            break
        around += [step for step in selectors.steps(outer)[:2] if step != outer.tag]
    return [
        *(step for step in own if step != tag),
        *(f"{step} {tag}" for step in around if tag),
        *([tag] if tag else []),
    ]


def _names(element: Any) -> str:
    return " ".join([*selectors.classes(element), element.attr("rel") or "", element.attr("itemprop") or ""])
