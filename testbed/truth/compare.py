"""An item beside the page that it was made of: what of it is right, what wrong, what missing."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from testbed.applications import TruePage

# Each sign of Chinese and Japanese is a word, Korean and all else goes by letters and digits that stand together.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

Item = dict[str, Any]


def words(text: str) -> Counter[str]:
    """Returns how often each word stands in a text; signs between words are none."""
    return Counter(_WORD.findall(text))


def f1(found: str, true: str) -> float:
    """Returns how alike the words of two texts are, by number: 1 if they are the same, 0 if they share none."""
    ours, theirs = words(found), words(true)
    both = (ours & theirs).total()
    return 2 * both / (ours.total() + theirs.total()) if both else float(ours == theirs)


@dataclass
class Field:
    """How often a field was right, wrong and missing, over the pages that show it.

    Attributes:
        shown: Pages that show it.
        right: Pages of which the item says just that.
        wrong: Items that say something else; also where the page says nothing.
    """

    shown: int = 0
    right: int = 0
    wrong: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, url: str, found: object, true: object, *, is_right: bool) -> None:
        """Counts one page."""
        self.shown += bool(true)
        if true and found and is_right:
            self.right += 1
        elif found:
            self.wrong += 1
            self.examples.append(f"{url}: {found!r} instead of {true!r}")
        elif true:
            self.examples.append(f"{url}: nothing instead of {true!r}")

    @property
    def right_share(self) -> float:
        """Of the pages that show it, those of which it was read right; 1 if none shows it."""
        return self.right / self.shown if self.shown else 1.0


@dataclass
class Score:
    """How the items of a crawl compare with the pages of an application.

    Attributes:
        pages: Those that there are.
        found: Those of them that became an item.
        twice: Items of a page beyond its first one.
        strange: Items that are none of the pages.
        texts: F1 of each item's text.
        comments: Whether all comments of a page were read, in order and without others.
    """

    pages: int
    found: int = 0
    twice: int = 0
    strange: list[str] = field(default_factory=list)
    title: Field = field(default_factory=Field)
    time: Field = field(default_factory=Field)
    author: Field = field(default_factory=Field)
    comments: Field = field(default_factory=Field)
    texts: dict[str, float] = field(default_factory=dict)

    @property
    def median_text(self) -> float:
        """F1 of the text in the middle; 0 without items."""
        return statistics.median(self.texts.values()) if self.texts else 0.0

    @property
    def worst_text(self) -> float:
        """F1 of the worst text; 0 without items."""
        return min(self.texts.values(), default=0.0)


def compare(items: Iterable[Item], pages: Sequence[TruePage]) -> Score:
    """Compares the items of a crawl with an application's pages.

    Args:
        items: In any order; those of one page are told by their `url`.
        pages: What the application says that it has.
    """
    by_url = {unquote(url): page for page in pages for url in (page.url, *page.other_urls)}
    score, seen = Score(len(pages)), set()
    for item in items:
        if (page := by_url.get(unquote(item["url"]))) is None:
            score.strange.append(item["url"])
            continue
        if page.url in seen:
            score.twice += 1
            continue
        seen.add(url := page.url)
        score.found += 1
        score.title.note(url, item["title"], page.title, is_right=item["title"] == page.title)
        score.time.note(url, item["published"], _time(page), is_right=is_time(item, page))
        score.author.note(url, item["author"], page.author, is_right=item["author"] == page.author)
        said = _comments([(_written(one.published), one.author, one.text, one.parent) for one in page.comments])
        read = _comments(
            [(one["published"] or "", one["author"] or "", one["text"], one["parent"]) for one in item["comments"]]
        )
        score.comments.note(url, read, said, is_right=read == said)
        score.texts[url] = f1(item["content"], page.text)
    return score


def is_time(item: Item, page: TruePage) -> bool:
    """Returns whether an item has the page's time as exactly as the page shows it, or its day if it claims no more."""
    said = item["published"] or ""
    if item["sureness"].get("published") == "day":
        return bool(said[:10] == _time(page)[:10])
    return bool(said == _time(page))


def _time(page: TruePage) -> str:
    time = page.published.replace(second=0) if page.is_to_minute else page.published
    return _written(time)


def _written(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _comments(written: Sequence[tuple[str, str, str, int | None]]) -> list[tuple[str, ...]]:
    """Returns comments in the order of their times, each with the one that it answers: pages show threads in any order.

    Args:
        written: Time, author, text, and the place among them of the one that is answered.
    """
    plain = [(time, author, " ".join(text.split())) for time, author, text, _parent in written]
    return sorted(
        (*one, *(plain[parent] if parent is not None else ())) for one, (*_, parent) in zip(plain, written, strict=True)
    )
