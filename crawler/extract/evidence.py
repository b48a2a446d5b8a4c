"""What tells the blocks of a page's own text from the rest: where they stand, how long they are, what is linked.

Each piece of evidence is a small whole number: the place of its weight in a table (`weights.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.extract.blocks import Box, PageBlocks

PIECES, BOX_PIECES = 25, 7  # of evidence: on a block, and on each box around it
LEVELS = 24  # values of a piece of evidence
WIDE_PIECE, WIDE_VALUES = 23, 88  # the one that has more
LONG_WORDS = 15  # of a block that is a sentence or more
LINKED_SHARE = 0.4  # of the text of such a block
LIST_LEVEL = 4  # logarithm of how many boxes are alike in a list: 3
BIG_LEVEL = 14  # logarithm of the words of a big box: 96
MAX_KEY_CHARACTERS = 40  # of a block that is known by its whole text, such as "Read more"
MAX_COUNTED = 7  # commas in a block, that are told apart
_TAGS = {
    tag: place
    for place, tag in enumerate(
        "other p div li h1 h2 h3 h4 h5 h6 td th dt dd pre blockquote figcaption section article span body".split()
    )
}
_words = re.compile(r"\w+").findall
_sentence_end = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*\s*$").search


class BlockEvidence:
    """The evidence on all blocks of a page.

    Args:
        page: Its blocks.
        title: What the page calls itself in its head; may be empty.

    Attributes:
        texts: Of the blocks, on one line each.
        counts: Their words.
        total: The words of the page.
    """

    def __init__(self, page: PageBlocks, title: str) -> None:
        self.page = page
        self.texts = [" ".join(block.text.split()) for block in page.blocks]
        self._words = [_words(text.lower()) for text in self.texts]
        self.counts = [*map(len, self._words)]
        self._shares = [min(1.0, block.linked / max(1, len(block.text))) for block in page.blocks]
        both = [*zip(self.counts, self._shares, strict=True)]
        is_long = [count >= LONG_WORDS and share < LINKED_SHARE for count, share in both]
        self._sum_words = [0, *accumulate(self.counts)]
        self._sum_linked = [0.0, *accumulate(count * share for count, share in both)]
        self._sum_long = [0, *accumulate(map(int, is_long))]
        self.total = self._sum_words[-1]
        self.long_words = sum(count for count, is_one in zip(self.counts, is_long, strict=True) if is_one)
        self._title = {*_words(title.lower())}
        self._repeated = Counter(self.texts)
        self._alike = Counter((box.parent, box.kind) for box in page.boxes)
        self.of_box = [*map(self._of_box, page.boxes)]
        self._big = self._enclosing(0, BIG_LEVEL)
        self._listed = self._enclosing(4, LIST_LEVEL)
        self._heading = next((place for place, block in enumerate(page.blocks) if block.tag == "h1"), -1)
        self._first_long = is_long.index(True) if any(is_long) else len(is_long)
        self._last_long = len(is_long) - 1 - is_long[::-1].index(True) if any(is_long) else -1
        self._has_main = any("main" in box.names or "<main>" in box.names for box in page.boxes)
        self._articles = min(2, sum(box.tag == "article" for box in page.boxes))

    def words_in(self, box: Box) -> int:
        """Returns how many words a box has."""
        return self._sum_words[box.end] - self._sum_words[box.first]

    def share_linked(self, place: int) -> float:
        """Returns which part of the text of a block is in links."""
        return self._shares[place]

    def boxes_around(self, box: Box) -> tuple[Box | None, ...]:
        """Returns a box, the two around it, the innermost that is one of a list, and the innermost big one."""
        parent = box.parent or box
        return box, parent, parent.parent or parent, self._listed[box.place], self._big[box.place]

    def of(self, place: int) -> tuple[int, ...]:
        """Returns the evidence on a block, without that on the boxes around it."""
        blocks, box = self.page.blocks, self.page.blocks[place].box
        text, count = self.texts[place], self.counts[place]
        last = len(blocks) - 1
        before, behind = (place - 1) if place else -1, (place + 1) if place < last else -1
        heading = 0 if self._heading < 0 else 1 if place == self._heading else 2 if place < self._heading else 3
        between = 0 if place < self._first_long else 2 if place > self._last_long else 1
        linked = _tenths(self._shares[place]) if blocks[place].linked else 10
        size = _logarithm(count)
        is_sentence = _sentence_end(text) is not None
        path = box.path
        return (
            _TAGS.get(blocks[place].tag, 0),
            size,
            linked,
            is_sentence,
            min(text.count(",") + text.count("\uff0c"), MAX_COUNTED),
            _tenths(sum(map(str.isdigit, self._words[place])) / max(1, count)),
            _tenths(self._sum_words[place] / max(1, self.total)),
            3 * heading + between,
            _logarithm(place - self._heading) if 0 <= self._heading < place else 0,
            _tenths(len(self._title.intersection(self._words[place])) / max(1, count)),
            min(self._repeated[text], 3),
            2 * self._has_main + ("main" in path or "<main>" in path),
            2 * self._articles + ("<article>" in path),
            self.counts[before].bit_length() if before >= 0 else 0,
            self.counts[behind].bit_length() if behind >= 0 else 0,
            _TAGS.get(blocks[before].tag, 0) if before >= 0 else 0,
            _TAGS.get(blocks[behind].tag, 0) if behind >= 0 else 0,
            _tenths(self._shares[before]) if before >= 0 else 0,
            _tenths(self._shares[behind]) if behind >= 0 else 0,
            _logarithm(place),
            _logarithm(last + 1 - place),
            _logarithm(self.total),
            min(box.depth // 2, 15),
            min(count.bit_length(), 7) * 11 + linked,
            12 * is_sentence + size // 2,
        )

    def _of_box(self, box: Box) -> tuple[int, ...]:
        """Returns the evidence on a box."""
        words = self.words_in(box)
        linked = self._sum_linked[box.end] - self._sum_linked[box.first]
        return (
            _logarithm(words),
            _tenths(linked / max(1, words)),
            _tenths(words / max(1, self.total)),
            _logarithm(self._sum_long[box.end] - self._sum_long[box.first]),
            _logarithm(self._alike[box.parent, box.kind]),
            _TAGS.get(box.tag, 0),
            _logarithm(box.end - box.first),
        )

    def _enclosing(self, piece: int, level: int) -> list[Box | None]:
        """Returns for each box the innermost, of it and those around it, with enough of a piece of evidence."""
        innermost: list[Box | None] = []
        for box, evidence in zip(self.page.boxes, self.of_box, strict=True):
            around = innermost[box.parent.place] if box.parent is not None else None
            innermost.append(box if evidence[piece] >= level else around)
        return innermost


def _logarithm(number: int) -> int:
    """Returns twice the logarithm of a number to the base of 2, roughly."""
    length = number.bit_length()
    return min(2 * length - (length > 1 and not number >> (length - 2) & 1), LEVELS - 1)


def _tenths(share: float) -> int:
    return min(int(share * 10), 9)
