"""Finds the comments below a page, or the posts of a thread: rows of one name, each with a text and whose or when."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from crawler.discovery.pages import named_parts, selectors
from crawler.discovery.pages.page import ParsedPage, ancestors, width, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROWS_MIN = 2  # one page at least has so many rows: a single one doesn't show what repeats
ROWS_MAX = 100  # the most rows of a page that are looked at
SELECTORS_MAX = 30  # the most selectors of rows that are tried
DISTINCT_SHARE = 0.5  # the least share of rows with texts of their own: texts that are alike are labels or buttons
BODY_SHARE = 0.3  # the least share of what a row shows that its text is
_IS_ROW = re.compile(
    r"comment|repl(?:y|ies)|answer|respon[sd]|(?:^|[-_.#])(?:posts?|messages?|msg)(?:$|[-_])|kommentar|antwort|回复|评论",
    re.IGNORECASE,
).search
BODIES_TRIED = 6  # how many selectors of each block of a row are tried as that of its text
_IN_LINES = frozenset({"a", "span"})  # tags of what stands within a line, and is no text by itself
_MENUS = frozenset({"nav", "aside", "footer", "form"})


@dataclass(frozen=True, slots=True)
class CommentRows:
    """Rows that may be comments.

    Attributes:
        rules: The key `comments` of a site file.
        pages: On each page, the rows in their order, each with the element of its text.
    """

    rules: dict[str, str]
    pages: tuple[tuple[tuple[Any, Any], ...], ...]

    @property
    def body(self) -> str:
        """The selector of a row's text, within the row."""
        return self.rules["text"].removeprefix("css:")

    @property
    def each(self) -> str:
        """The selector of the rows."""
        return self.rules["each"].removeprefix("css:")


def find(pages: Sequence[ParsedPage]) -> CommentRows | None:
    """Returns the rows that may be comments; None if there are none.

    Those that say whose and when each is go before others, then those with the longest texts.
    """
    candidates = [rows for css in _row_selectors(pages) if (rows := _rows(css, pages))]
    return max(candidates, key=_worth, default=None)


def _worth(rows: CommentRows) -> tuple[int, int]:
    return len(rows.rules), sum(width(body.text) for page in rows.pages for _row, body in page)


def _row_selectors(pages: Sequence[ParsedPage]) -> list[str]:
    """Returns selectors of what is named for comments, of what is right around or within it, the commonest first."""
    counts: Counter[str] = Counter()
    for page in pages:
        for element in page.tree.select("[class], [id], [itemprop]"):
            steps = [step for step in selectors.steps(element) if _IS_ROW(step)]
            if steps and not any(outer.tag in _MENUS for outer in (element, *ancestors(element))):
                counts.update(steps)
                counts.update(selectors.steps(element.parent)[:1])  # the row of a text that is named so
                counts.update({f"{steps[0]} > {child.tag}" for child in element.select("*") if child.parent == element})
    # What is within two others of the same name is counted in each, and so is tried first.
    several = [css for css, count in counts.most_common() if count >= ROWS_MIN or ">" in css]
    return several[:SELECTORS_MAX]


def _rows(css: str, pages: Sequence[ParsedPage]) -> CommentRows | None:
    """Returns the rows that a selector finds, if each has a text; with its author and time, if most say them."""
    selected = [page.tree.select(css)[:ROWS_MAX] for page in pages]
    rows = [row for page_rows in selected for row in page_rows]
    if max(map(len, selected), default=0) < ROWS_MIN or any(_is_headed_by_link(row) for row in rows):
        return None
    language = next((page.language for page in pages), "")
    author = named_parts.selector_in(rows, named_parts.authors(rows[0]), named_parts.name_of)
    time = _time(rows, language)
    text = _body(rows, [part.partition("::")[0] for part in (author, time) if part])
    if not text:
        return None
    selects = {"each": css, "text": text, "author": author, "published": time}
    rules = {name: f"css:{select}" for name, select in selects.items() if select}
    return CommentRows(rules, tuple(tuple((row, row.select_one(text)) for row in page_rows) for page_rows in selected))


def _time(rows: Sequence[Any], language: str) -> str:
    """Returns the selector of when each row was written, as its text or its `title` says; empty for none."""
    for attribute, ending in (("datetime", ""), ("title", "::attr(title)")):
        times = named_parts.times(rows[0], language, attribute)
        value_of = partial(named_parts.time_of, language=language, attribute=attribute)
        if css := named_parts.selector_in(rows, times, value_of):
            return css + ending
    return ""


def _body(rows: Sequence[Any], others: Sequence[str]) -> str:
    """Returns the selector of the longest text that each row has besides its author and time; empty for none."""
    best, longest = "", 0
    for css in dict.fromkeys(
        css for block in _blocks(rows[0]) for css in named_parts.selectors_within(block, rows[0])[:BODIES_TRIED]
    ):
        bodies = [row.select_one(css) for row in rows]
        if not all(body is not None and body.text.strip() for body in bodies):
            continue
        heads = [row.select_one(other) for row in rows for other in others]
        holds = any(within(head, body) for body in bodies for head in heads if head is not None)
        texts = [" ".join(body.text.split()) for body in bodies if body is not None]
        size = sum(map(width, texts))
        is_told = len(set(texts)) >= DISTINCT_SHARE * len(texts)
        if not holds and is_told and size > longest and size >= BODY_SHARE * sum(width(row.text) for row in rows[:1]):
            best, longest = css, size
    return best


def _blocks(row: Any) -> Iterator[Any]:
    """Yields the elements of a row that hold some of its text, without those of one line."""
    whole = width(row.text)
    return (
        block for block in row.select("*") if width(block.text) >= BODY_SHARE * whole and block.tag not in _IN_LINES
    )


def _is_headed_by_link(row: Any) -> bool:
    """Returns whether a row's heading leads to another page, as those of a list of articles do."""
    link = row.select_one("h1 a[href], h2 a[href], h3 a[href], h4 a[href]")
    return link is not None and "#" not in (link.attr("href") or "")
