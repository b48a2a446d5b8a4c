"""What a page lists of itself by labels, such as `Reported by:` in a table, or `Date` above a letter.

A value ends where its cell, its line or its entry does, so that the next label is never part of it. Tables of several
rows tell of several things; only one with a single row below its head is taken as the properties of the page.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from crawler.extract.declared import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.extract.blocks import Box, TextBlock

MAX_LABEL, MAX_VALUE = 30, 120  # characters
MAX_CELLS = 50  # of a row
MAX_LETTER_LINES = 20  # of code, that may be the head of a letter
AUTHOR_LABELS = frozenset(
    """reportedby reporter submittedby submitter openedby createdby creator postedby writtenby author autor auteur
    autore from gemeldetvon erstelltvon rapport\u00e9par informador autora
    \u4f5c\u8005 \u62a5\u544a\u4eba \u63d0\u4ea4\u8005 \u5831\u544a\u8005""".split()
)
DATE_LABELS = frozenset(
    """published publishedon publicationdate dateofpublication datepublished posted postedon submitted submittedon
    created createdon opened
    ver\u00f6ffentlicht publi\u00e9le publicado \u53d1\u5e03\u65f6\u95f4 \u53d1\u5e03\u65e5\u671f
    \u767c\u5e03\u6642\u9593 \u767c\u5e03\u65e5\u671f \u516c\u958b\u65e5""".split()
)
# These count beside an author alone: elsewhere they may be of anything that the text tells of.
_DATE_LABELS_BESIDE_AUTHOR = frozenset(
    "date datum fecha data \u65e5\u671f \u65f6\u95f4 \u65e5\u4ed8 \ub0a0\uc9dc".split()
)
_CELLS = frozenset({"td", "th"})
_colon = re.compile(r"\s*[:\uff1a]\s*")


def properties_of(blocks: Sequence[TextBlock]) -> dict[str, str]:
    """Returns the values that some blocks list for an author or a date, by label, folded; of several the first."""
    listed: dict[str, str] = {}
    for label, value in _pairs(blocks):
        key = folded(label) if len(label) <= MAX_LABEL else ""
        if key in AUTHOR_LABELS | DATE_LABELS | _DATE_LABELS_BESIDE_AUTHOR and 0 < len(value) <= MAX_VALUE:
            listed.setdefault(key, value)
    if AUTHOR_LABELS.isdisjoint(listed):
        return {label: value for label, value in listed.items() if label not in _DATE_LABELS_BESIDE_AUTHOR}
    if "from" in listed and "date" not in listed:  # a letter has both
        del listed["from"]
    return listed


def of_author(properties: dict[str, str]) -> Iterator[str]:
    """Yields the values that are names; of a letter's sender without the address."""
    for label, value in properties.items():
        if label in AUTHOR_LABELS:
            yield value.partition("<")[0].strip(' "') if label == "from" else value


def of_date(properties: dict[str, str]) -> Iterator[str]:
    """Yields the values that are times."""
    return (value for label, value in properties.items() if label not in AUTHOR_LABELS)


def _pairs(blocks: Sequence[TextBlock]) -> Iterator[tuple[str, str]]:
    """Yields labels with their values: of cells, entries and lines."""
    rows: dict[Box, list[list[str]]] = {}  # the rows of cells, by table
    for place, block in enumerate(blocks):
        if block.tag == "pre":
            head = block.text.strip().partition("\n\n")[0].split("\n")[:MAX_LETTER_LINES]
            yield from (_at_colon(line.partition("\t")[0]) for line in head)
        elif cells := _cells(block):
            names = [name for name, _is_label in cells]
            yield from (
                (name, value) for (name, is_label), (value, is_next) in pairwise(cells) if is_label and not is_next
            )
            if len(cells) > 1 and (table := _table(block)) is not None:
                rows.setdefault(table, []).append(names)
        elif block.tag == "dt" and place + 1 < len(blocks):
            yield _plain(block.text).rstrip(":\uff1a "), _plain(blocks[place + 1].text)
        else:
            yield from (_at_colon(_plain(line)) for line in block.text.split("\n"))
    yield from _of_single_rows(rows.values())


def _of_single_rows(tables: Iterable[list[list[str]]]) -> Iterator[tuple[str, str]]:
    for table in tables:
        if len(table) == 2 and len(table[0]) == len(table[1]):  # noqa: PLR2004 -- its head and one row
            yield from zip(*table, strict=True)


def _cells(block: TextBlock) -> list[tuple[str, bool]]:
    """Returns the cells of a block that is a row of a table, and whether each is a label."""
    cells = sorted((begin, end, element.tag == "th") for begin, end, element in block.inline if element.tag in _CELLS)[
        :MAX_CELLS
    ]
    texts = [(_plain(block.text[begin:end]), is_head) for begin, end, is_head in cells]
    return [(written.rstrip(":\uff1a "), is_head or written.endswith((":", "\uff1a"))) for written, is_head in texts]


def _table(block: TextBlock) -> Box | None:
    box: Box | None = block.box
    while box is not None and box.tag != "table":
        box = box.parent
    return box


def _at_colon(line: str) -> tuple[str, str]:
    """Returns what stands before the first colon of a line, and behind it."""
    parts = _colon.split(line, maxsplit=1)
    return (parts[0].strip(), parts[1].strip()) if len(parts) > 1 else ("", "")


def _plain(written: str) -> str:
    return " ".join(written.split())
