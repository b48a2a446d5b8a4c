"""The text of a page: the blocks that are most likely its own, and how they are written down."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.extract.declared import folded
from crawler.extract.evidence import LINKED_SHARE, LONG_WORDS, ends_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.extract.blocks import TextBlock
    from crawler.extract.evidence import BlockEvidence

BESIDE_SHARE = 0.3  # of the scores of the blocks before and behind, in that of a block: texts have few gaps
SHARPNESS = 0.8  # of the scores, which are surer of themselves than they are right
# Below these, next to nothing that was taken of 783 pages was their text: the best F1 to expect, and the highest odds.
MIN_EXPECTED_F1, MIN_ODDS = 0.3, 0.33
MIN_WORDS_REPEATED = 4  # of a block that is left out where it stands for a second time
MAX_WORDS_LABEL = 2
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LABELS = frozenset({"p", "div", "section", "article", "footer"})  # elements in which a few words may be a label
_CELLS = frozenset({"td", "th"})


def likely_places(evidence: BlockEvidence, scores: Sequence[float]) -> list[int]:
    """Returns the places of the blocks that together are expected to be nearest to the page's text.

    With the blocks in the order of their odds, it is those up to the one at which the expected F1 of words is highest.
    So a page about which little is sure yields more of it; one of which nothing is likely to be text yields none.

    Args:
        evidence: That on the blocks of the page.
        scores: The logarithm of the odds of each block.
    """
    if not scores:
        return []
    before, behind = [scores[0], *scores[:-1]], [*scores[1:], scores[-1]]
    odds = [
        1 / (1 + math.exp(-SHARPNESS * max(-50.0, (1 - BESIDE_SHARE) * own + BESIDE_SHARE * (left + right) / 2)))
        for own, left, right in zip(scores, before, behind, strict=True)
    ]
    expected = sum(odd * count for odd, count in zip(odds, evidence.counts, strict=True))
    order = sorted(range(len(odds)), key=lambda place: -odds[place])
    best = best_size = right = size = 0.0
    for number, place in enumerate(order, 1):
        right += odds[place] * evidence.counts[place]
        size += evidence.counts[place]
        f1 = 2 * right / (size + expected) if size else 0.0
        if f1 > best:
            best, best_size = f1, number
    if best < MIN_EXPECTED_F1 or max(odds) < MIN_ODDS:
        return []
    return [place for place in sorted(order[: int(best_size)]) if not _is_of_menu(evidence, place)]


def _is_of_menu(evidence: BlockEvidence, place: int) -> bool:
    lineage = evidence.page.blocks[place].box.lineage
    return "<nav>" in lineage.path and evidence.share_linked(place) >= LINKED_SHARE


def tidied(evidence: BlockEvidence, places: list[int], title: str) -> list[int]:
    """Returns the places of a text without its title, what stands in it for a second time, and labels of nothing."""
    return _without_labels(evidence, _without_repeated(evidence, places, title))


def _without_repeated(evidence: BlockEvidence, places: list[int], title: str) -> list[int]:
    """Returns places without those of blocks that say the title, or for a second time what stands elsewhere.

    A sentence or more that is all of a text and its title as well, as of some posts, stays.
    """
    known: set[str] = set()
    key, longest = folded(title), 2 * len(title)
    once = []
    for place in places:
        written = evidence.texts[place]
        if len(written) <= longest and folded(written) == key:
            continue
        if evidence.counts[place] >= MIN_WORDS_REPEATED:
            if written in known:
                continue
            known.add(written)
        once.append(place)
    return once or [place for place in places if evidence.counts[place] >= LONG_WORDS]


def _without_labels(evidence: BlockEvidence, places: list[int]) -> list[int]:
    """Returns places without the headings and labels at their end, behind which nothing was taken.

    Headings of the same size in a row are a list, and stay.
    """
    end = len(places)
    sizes: set[str] = set()
    while end:
        tag = evidence.page.blocks[places[end - 1]].tag
        if tag in sizes:
            return places
        is_label = tag in HEADINGS or (tag in _LABELS and evidence.counts[places[end - 1]] <= MAX_WORDS_LABEL)
        if not is_label or ends_sentence(evidence.texts[places[end - 1]]):
            break
        sizes |= {tag} & HEADINGS
        end -= 1
    return places[:end]


def text_of(blocks: Iterable[TextBlock]) -> str:
    """Returns blocks as clean text: each on lines of its own, rows of tables with tabs, code as it stands."""
    return "\n".join(filter(None, map(_clean, blocks)))


def cells_of(block: TextBlock) -> list[tuple[int, int]]:
    """Returns where the cells of a row of a table begin and end in its text; none of any other block.

    Nor are there any in a row with a table in one of its cells: most of these only lay out a page.
    """
    cells = sorted((begin, end) for begin, end, element in block.inline if element.tag in _CELLS)
    is_row = len(cells) > 1 and all(end <= begin for (_, end), (begin, _) in pairwise(cells))
    return cells if is_row else []


def _clean(block: TextBlock) -> str:
    if block.inline and (cells := cells_of(block)):
        return "\t".join(text.line(block.text[begin:end]) for begin, end in cells)
    if block.tag == "pre":
        return text.verbatim(block.text)
    return text.paragraphs(block.text if "\n" in block.text else block.line)
