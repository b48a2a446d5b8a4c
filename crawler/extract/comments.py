"""The comments below a page, as a site's rules say: a row for each, in the order of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.base.item import Comment

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_COMMENTS = 1_000  # of an item, where its site has no other number
# A number as it stands, `1,234` too; of `1.2k` or `2 Mio` nobody knows the rest, but `3 Kommentare` are three.
_number = re.compile(
    r"(?<![\d.,])(?:\d{1,3}(?:[,.\u00a0 ]\d{3})+|\d{1,15})"
    r"(?![\d.,]*\s?(?:(?:[kK]|[mM](?:il\w*|io|ln|rd)?)(?![^\W\d_])|[\u4e07\u842c\u5343]))"
).search
_not_digit = re.compile(r"\D").sub


@dataclass(frozen=True, slots=True)
class ReadComment:
    """A comment as it was read.

    Attributes:
        parent: Place, among the comments of its page, of the comment that it stands in; None for none.
        key: What other comments call it by; empty if the site doesn't say.
        answers: The `key` of the comment that it answers; empty if the site doesn't say.
    """

    text: str
    author: str | None = None
    published: str | None = None
    likes: int | None = None
    parent: int | None = None
    key: str = ""
    answers: str = ""


def count_in(written: str) -> int | None:
    """Returns the first number in a text; None if there is none, or one that was rounded."""
    match = _number(text.line(written))
    return int(_not_digit("", match[0])) if match else None


def joined(pages: Sequence[Sequence[ReadComment]]) -> tuple[ReadComment, ...]:
    """Returns the comments of several pages as those of one; none is left out, be it like another one.

    What a comment answers is looked for on its own page first: some sites number the comments of each page anew.
    """
    comments: list[ReadComment] = []
    for page in pages:
        start, places = len(comments), _places(page)
        for comment in page:
            answered = places.get(comment.answers) if comment.answers else None
            if answered is not None:
                comments.append(replace(comment, parent=start + answered, answers=""))
            elif comment.parent is not None:
                comments.append(replace(comment, parent=start + comment.parent))
            else:
                comments.append(comment)
    return tuple(comments)


def in_item(comments: Sequence[ReadComment]) -> list[Comment]:
    """Returns comments as an `Item` has them; one whose parent isn't among them answers the page."""
    places = _places(comments)
    return [
        Comment(
            comment.text,
            comment.author,
            str(comment.published) if comment.published else None,
            places.get(comment.answers, comment.parent) if comment.answers else comment.parent,
            comment.likes,
        )
        for comment in comments
    ]


def _places(comments: Sequence[ReadComment]) -> dict[str, int]:
    """Returns the place of the first comment of each key."""
    return {comment.key: place for place, comment in reversed([*enumerate(comments)]) if comment.key}
