"""What an application has of a page: what a crawl of it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


class Remark(NamedTuple):
    """A comment, as it is shown.

    Attributes:
        published: In UTC, as exactly as the page shows it.
        parent: The place, among the page's comments, of the one that it answers; None: the page itself.
    """

    author: str
    published: datetime
    text: str
    parent: int | None = None


class TruePage(NamedTuple):
    """A page.

    Attributes:
        url: Where search results lead for it.
        text: What a reader reads of the article itself.
        published: In UTC; of a wiki's page, its last edit.
        is_to_minute: Whether the page shows its time without seconds.
        author: Who wrote it; empty: the page doesn't say.
        comments: In the order in which they were written.
        other_urls: Under which the same page stands, too.
    """

    url: str
    title: str
    text: str
    published: datetime
    is_to_minute: bool = False
    author: str = ""
    comments: tuple[Remark, ...] = ()
    other_urls: tuple[str, ...] = ()
