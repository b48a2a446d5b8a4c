"""What tells the blocks of a page's own text from the rest: where they stand, how long they are, what is linked.

Each piece of evidence is a small whole number: the place of its weight in a table (`weights.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from itertools import accumulate, compress
from typing import TYPE_CHECKING, NamedTuple

from crawler.extract.blocks import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.extract.blocks import Box, PageBlocks

LEVELS = 24  # values of a piece of evidence
LONG_WORDS = 15  # of a block that is a sentence or more
LINKED_SHARE = 0.4  # of the text of such a block
LIST_LEVEL = 4  # logarithm of how many boxes are alike in a list: 3
BIG_LEVEL = 14  # logarithm of the words of a big box: 96
MAX_KEY_CHARACTERS = 40  # of a block that is known by its whole text, such as "Read more"
MAX_COUNTED = 7  # commas in a block, that are told apart
BIG_SHARE = 0.5  # of the words of a page, in a box that isn't beside its text
# Words of the boxes in which a page tells of other pages, or of its site.
_BESIDE = frozenset(
    """<aside> <nav> <footer> aside nav navbar navigation menu sidebar footer related recommended breadcrumb breadcrumbs
    cookie cookies consent modal popup newsletter widget comment comments""".split()
)
_WIDGET = frozenset({"widget"})
_BESIDE_TAGS = frozenset({"<aside>", "<footer>", "footer"})  # which may as well say within an article whose it is
_TAGS = {
    tag: place
    for place, tag in enumerate(
        "other p div li h1 h2 h3 h4 h5 h6 td th dt dd pre blockquote figcaption section article span body".split()
    )
}
_names_in = lru_cache(maxsize=20_000)(names_in)
_words = re.compile(r"\w+").findall
# Chinese and Japanese have no blanks between words, most of which have two characters.
_words_without_blanks = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\W\u3040-\u30ff\u3400-\u9fff]+").findall
_digit = re.compile(r"\d").search
_SENTENCE_ENDS = tuple(".!?\u2026:;\u3002\uff01\uff1f")
_BEHIND_SENTENCES = " \"'\u201d\u2019)]"


class BlockPieces(NamedTuple):
    """The evidence on the blocks of a page: each piece has its values for all of them.

    Numbers of words and blocks are logarithms, shares are tenths; `linked` of a block without links is 10.
    """

    tag: list[int]  # of the element that breaks the line before a block, its place in `_TAGS`
    words: list[int]  # how many words it has
    linked: list[int]  # which share of its characters is in links
    is_sentence: list[int]  # whether it ends as a sentence does
    commas: list[int]  # how many commas it has
    numbers: list[int]  # which share of its words are numbers
    words_before: list[int]  # which share of the page's words stand before it
    order: list[int]  # where it stands by the page's heading and by its first and last long block
    behind_heading: list[int]  # how many blocks are between the heading and it
    of_title: list[int]  # which share of its words the page's title has
    repeated: list[int]  # how often its text stands on the page
    in_main: list[int]  # whether it stands in what is named `main`, and whether the page has that
    in_article: list[int]  # whether it stands in an `<article>`, and how many of these the page has
    words_of_previous: list[int]  # how many bits the number of words of the block before it has
    words_of_next: list[int]  # how many bits the number of words of the block behind it has
    tag_of_previous: list[int]  # the `tag` of the block before it
    tag_of_next: list[int]  # the `tag` of the block behind it
    linked_of_previous: list[int]  # which share of the block before it is in links; 0 without any
    linked_of_next: list[int]  # which share of the block behind it is in links; 0 without any
    blocks_before: list[int]  # how many blocks the page has before it
    page_words: list[int]  # how many words the page has
    words_and_linked: list[int]  # its words and its share in links together
    sentence_and_words: list[int]  # whether it is a sentence, and its words, together


class BoxPieces(NamedTuple):
    """The evidence on a box."""

    words: int  # how many words it has, as a logarithm
    linked: int  # how many tenths of its words are in links
    share: int  # how many tenths of the page's words it has
    long_blocks: int  # how many long blocks it has, as a logarithm
    alike: int  # how many boxes are like it, as a logarithm
    tag: int  # its place in `_TAGS`
    blocks: int  # how many blocks it has, as a logarithm


WIDE_PIECE, WIDE_VALUES = BlockPieces._fields.index("words_and_linked"), 88  # the one that has more than `LEVELS`
_NOTHING = BoxPieces(0, 0, 0, 0, 0, 0, 0)


class BlockEvidence:
    """The evidence on all blocks of a page.

    Args:
        page: Its blocks.
        title: What the page calls itself in its head; may be empty.

    Attributes:
        texts: Of the blocks, on one line each.
        has_digit: Whether each has a digit, as all have that tell a time.
        counts: Their words.
        total: The words of the page.
        of_box: For each box its evidence.
    """

    def __init__(self, page: PageBlocks, title: str) -> None:
        self.page = page
        self.texts = [block.line for block in page.blocks]
        self.has_digit = [_digit(text) is not None for text in self.texts]
        self._words = [words_of(text.lower()) for text in self.texts]
        self.counts = [*map(len, self._words)]
        self._shares = [
            block.linked / len(block.text) if 0 < block.linked < len(block.text) else float(block.linked > 0)
            for block in page.blocks
        ]
        both = [*zip(self.counts, self._shares, strict=True)]
        is_long = [count >= LONG_WORDS and share < LINKED_SHARE for count, share in both]
        self._sum_words = [*accumulate(self.counts, initial=0)]
        self._sum_linked = [*accumulate((count * share for count, share in both), initial=0.0)]
        self._sum_long = [*accumulate(map(int, is_long), initial=0)]
        self.total = self._sum_words[-1]
        self.long_words = sum(compress(self.counts, is_long))
        self._title = {*words_of(title.lower())}
        self._repeated = Counter(self.texts)
        self.of_box, self._listed, self._big = self._of_boxes()
        self._heading = next((place for place, block in enumerate(page.blocks) if block.box.tag == "h1"), -1)
        self._first_long = is_long.index(True) if any(is_long) else len(is_long)
        self._last_long = len(is_long) - 1 - is_long[::-1].index(True) if any(is_long) else -1
        names: set[str] = set().union(*{box.lineage.new for box in page.boxes})
        self.names = names
        self._has_main = not names.isdisjoint(("main", "<main>"))
        self._articles = min(2, sum(box.tag == "article" for box in page.boxes))

    def words_in(self, box: Box) -> int:
        """Returns how many words a box has."""
        return self._sum_words[box.end] - self._sum_words[box.first]

    def is_beside(self, box: Box, names: frozenset[str] = _BESIDE) -> bool:
        """Returns whether a box tells of other pages or of the site.

        The names of a big box, such as `has-sidebar` of the whole page, say nothing of what stands in it.

        Args:
            box: Of the page.
            names: Words of boxes that do.
        """
        around: Box | None = box
        while around is not None and self.words_in(around) <= BIG_SHARE * self.total:
            element = around.element
            named = f"{around.classes} {element.attr('itemprop') or ''}"
            own = _names_in(around.tag, named, element.attr("id") or "", element.attr("role") or "")
            beside = own & names if "elementor" not in own else own & names - _WIDGET  # all its parts are widgets
            if beside and not ("<article>" in around.lineage.path and beside <= _BESIDE_TAGS):
                return True
            around = around.parent
        return False

    def share_linked(self, place: int) -> float:
        """Returns which part of the text of a block is in links."""
        return self._shares[place]

    def boxes_around(self, box: Box) -> tuple[Box | None, ...]:
        """Returns a box, the two around it, the innermost that is one of a list, and the innermost big one."""
        parent = box.parent or box
        return box, parent, parent.parent or parent, self._listed[box.place], self._big[box.place]

    @cached_property
    def pieces(self) -> BlockPieces:
        """The evidence on blocks."""
        blocks, counts = self.page.blocks, self.counts
        tags = [_TAGS.get(block.box.tag, 0) for block in blocks]
        if not blocks:
            return BlockPieces(*([] for _ in BlockPieces._fields))
        total, size = self.total or 1, len(blocks)
        logs, places = _logs(counts), _logs(range(size))
        shares = [int(share * 10) if share < 1 else 9 for share in self._shares]
        linked = [share if block.linked else 10 for share, block in zip(shares, blocks, strict=True)]
        bits = [count.bit_length() for count in counts]
        sentences = [*map(int, map(ends_sentence, self.texts))]
        main, articles = 2 * self._has_main, 2 * self._articles
        paths = [block.box.lineage.path for block in blocks]
        heading, first, last = self._heading, self._first_long, self._last_long
        title, most = self._title, 10 * len(self._title)  # of more words, less than a tenth can be of the title
        behind_heading = size - heading if heading >= 0 else 0
        return BlockPieces(
            tag=tags,
            words=logs,
            linked=linked,
            is_sentence=sentences,
            commas=[min(text.count(",") + text.count("\uff0c"), MAX_COUNTED) for text in self.texts],
            numbers=[
                _tenths(sum(map(str.isdigit, words)) / (len(words) or 1)) if has_digit else 0
                for words, has_digit in zip(self._words, self.has_digit, strict=True)
            ],
            words_before=[10 * before // total for before in self._sum_words[:-1]],
            order=[
                (0 if heading < 0 else 3 if place == heading else 6 if place < heading else 9)
                + (0 if place < first else 2 if place > last else 1)
                for place in range(size)
            ],
            behind_heading=[0] * (size - behind_heading) + places[:behind_heading],
            of_title=[
                _tenths(len(title.intersection(words)) / len(words)) if 0 < len(words) <= most else 0
                for words in self._words
            ],
            repeated=[min(self._repeated[text], 3) for text in self.texts],
            in_main=[main + ("main" in path or "<main>" in path) for path in paths],
            in_article=[articles + ("<article>" in path) for path in paths],
            words_of_previous=[0, *bits[:-1]],
            words_of_next=[*bits[1:], 0],
            tag_of_previous=[0, *tags[:-1]],
            tag_of_next=[*tags[1:], 0],
            linked_of_previous=[0, *shares[:-1]],
            linked_of_next=[*shares[1:], 0],
            blocks_before=places,
            page_words=[_log(self.total)] * size,
            words_and_linked=[min(bit, 7) * 11 + share for bit, share in zip(bits, linked, strict=True)],
            sentence_and_words=[12 * is_one + log // 2 for is_one, log in zip(sentences, logs, strict=True)],
        )

    def _of_boxes(self) -> tuple[list[BoxPieces], list[Box | None], list[Box | None]]:
        """Returns the evidence on each box, the innermost around it that is one of a list, and the innermost big one.

        There is none on boxes without blocks, about which nobody asks.
        """
        boxes, sum_words, sum_linked, sum_long = self.page.boxes, self._sum_words, self._sum_linked, self._sum_long
        kinds = [(box.parent, box.tag, box.classes) for box in boxes]
        alike_logs = {kind: _log(count) for kind, count in Counter(kinds).items()}
        total = self.total or 1
        known: dict[tuple[int, ...], BoxPieces] = {}  # many boxes are as others are
        pieces: list[BoxPieces] = []
        listed: list[Box | None] = []
        big: list[Box | None] = []
        span, of_span = (0, 0), (0, 0, 0, 0, 0)
        for box, kind in zip(boxes, kinds, strict=True):
            parent, first, end = box.parent, box.first, box.end
            if first == end:
                pieces.append(_NOTHING)
                listed.append(None)
                big.append(None)
                continue
            if span != (first, end):  # many boxes have nothing but another one
                span, words = (first, end), sum_words[end] - sum_words[first]
                of_span = (
                    _log(words),
                    _tenths((sum_linked[end] - sum_linked[first]) / (words or 1)),
                    _tenths(words / total),
                    _log(sum_long[end] - sum_long[first]),
                    _log(end - first),
                )
            words_log, linked, share, long_log, blocks_log = of_span
            alike_log = alike_logs[kind]
            values = words_log, linked, share, long_log, alike_log, _TAGS.get(box.tag, 0), blocks_log
            if (of_box := known.get(values)) is None:
                of_box = known[values] = BoxPieces(*values)
            pieces.append(of_box)
            listed.append(box if alike_log >= LIST_LEVEL else listed[parent.place] if parent is not None else None)
            big.append(box if words_log >= BIG_LEVEL else big[parent.place] if parent is not None else None)
        return pieces, listed, big


def ends_sentence(text: str) -> bool:
    """Returns whether a text on one line ends as a sentence does, or as what leads to a list."""
    return text.rstrip(_BEHIND_SENTENCES).endswith(_SENTENCE_ENDS)


def words_of(text: str) -> list[str]:
    """Returns the words of a text, in any language."""
    return _words(text) if text.isascii() else _words_without_blanks(text)


def _logarithm(number: int) -> int:
    """Returns twice the logarithm of a number to the base of 2, roughly."""
    length = number.bit_length()
    return min(2 * length - (length > 1 and not number >> (length - 2) & 1), LEVELS - 1)


_LOGARITHMS = [*map(_logarithm, range(2**12))]  # the last is the highest level


def _log(number: int) -> int:
    return _LOGARITHMS[number] if number < len(_LOGARITHMS) else _LOGARITHMS[-1]


def _logs(numbers: Sequence[int]) -> list[int]:
    return [_LOGARITHMS[number] if number < len(_LOGARITHMS) else _LOGARITHMS[-1] for number in numbers]


def _tenths(share: float) -> int:
    return int(share * 10) if share < 1 else 9
