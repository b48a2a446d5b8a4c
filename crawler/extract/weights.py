"""The weights of evidence: which type of page it is, and how likely each block is to be part of its text.

They are in `weights.json`, fitted to pages whose text and type are known (`testbed/truth/fit.py`). Both are logistic
regressions: what speaks for something is a sum, and each weight can be looked up.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate, chain, pairwise
from operator import getitem
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from crawler.extract.blocks import NAMES_ASKED_FOR, names_in
from crawler.extract.evidence import MAX_KEY_CHARACTERS, BlockPieces, BoxPieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.item import PageType
    from crawler.extract.blocks import Box, Lineage
    from crawler.extract.evidence import BlockEvidence

SLOTS = 5  # boxes around a block on which there is evidence
MIN_TYPE_SHARE = 0.05  # of a type that counts
MAX_SIGNS_CHARACTERS = 20_000  # of JSON-LD, that are looked at
_letters = re.compile(r"[a-z]+").findall
_declared_types = re.compile(r'"@type"\s*:\s*"(\w{1,40})"').findall


def signs_of_type(evidence: BlockEvidence, url: str, metas: dict[str, str], json_ld: str) -> set[str]:
    """Returns the signs by which the type of a page is told.

    Args:
        evidence: On its blocks.
        url: Its address.
        metas: The contents of its `<meta>`, by name.
        json_ld: What it declares in JSON-LD, as written.
    """
    parts = urlsplit(url)
    path = parts.path.strip("/").lower()
    last = path.rpartition("/")[2]
    signs = {
        f"depth {min(4, len(path.split('/')) if path else 0)}",
        f"hyphens {min(6, last.count('-'))}",
        f"og {metas.get('og:type', '')}",
        f"words {evidence.total.bit_length()}",
        f"blocks {len(evidence.texts).bit_length()}",
        f"long words {evidence.long_words.bit_length()}",
        f"long share {10 * evidence.long_words // max(1, evidence.total)}",
        f"alike {max((of_box.alike for of_box in evidence.of_box), default=0)}",
    }
    signs.update(f"path {word}" for word in _letters(path))
    signs.update(f"host {word}" for word in _letters((parts.hostname or "").lower())[:-1])
    signs.update(f"meta {name}" for name in metas)
    signs.update(f"declared {name}" for name in _declared_types(json_ld[:MAX_SIGNS_CHARACTERS]))
    signs.update(f"name {name}" for name in evidence.names)
    if any(map(str.isdigit, path)):
        signs.add("number in path")
    if parts.query:
        signs.add("query")
    return signs


class Weights:
    """Weights as they are written.

    Args:
        written: `types`: their names; `signs`: for each sign the weight for each type; `bias`; `tables`: those
            for any page, and what each type adds to them: for each piece of evidence the weight of each value, first
            those of a block, then those of each box around it; `around`, `own`, `texts`: weights of the names of all
            boxes around a block, of those of its own box, and of short texts.
    """

    def __init__(self, written: dict[str, Any]) -> None:
        self.types: list[PageType] = written["types"]
        self._signs: dict[str, list[float]] = written["signs"]
        self._bias: float = written["bias"]
        tables: list[list[list[float]]] = written["tables"]
        self._ends = [*accumulate(map(len, tables[0]), initial=0)]
        self._flat, *self._flat_of_types = [[*chain.from_iterable(table)] for table in tables]
        self._around: dict[str, float] = written["around"]
        self._own: dict[str, float] = written["own"]
        self._texts: dict[str, float] = written["texts"]
        named = (sign.removeprefix("name ") for sign in self._signs if sign.startswith("name "))
        self._names = NAMES_ASKED_FOR.union(named, self._around, self._own)
        self.names_of = lru_cache(maxsize=20_000)(self._names_of)

    def _names_of(self, tag: str, classes: str, html_id: str, role: str) -> frozenset[str]:
        """Returns those names of a box that have a weight, or that other parts of the reading ask for."""
        return names_in(tag, classes, html_id, role) & self._names

    def type_shares(self, signs: set[str]) -> list[float]:
        """Returns how likely each type is, in the order of `types`."""
        known = filter(None, map(self._signs.get, signs))
        sums = [*map(sum, zip(self._signs["any"], *known, strict=True))]
        highest = max(sums)
        likely = [math.exp(one - highest) for one in sums]
        total = sum(likely)
        return [one / total for one in likely]

    def scores(self, evidence: BlockEvidence, shares: Sequence[float]) -> list[float]:
        """Returns the logarithm of the odds that each block is part of the page's text."""
        tables = self._mixed(shares)
        size = len(BoxPieces._fields)
        starts = range(len(BlockPieces._fields), len(tables), size)
        box_scores = self._box_scores(evidence, [tables[start : start + size] for start in starts])
        of_texts = (
            self._texts.get(text.lower(), 0.0) if len(text) <= MAX_KEY_CHARACTERS else 0.0 for text in evidence.texts
        )
        of_boxes = (box_scores[block.box] for block in evidence.page.blocks)
        columns = (map(table.__getitem__, column) for table, column in zip(tables, evidence.pieces, strict=False))
        return [*map(sum, zip(of_boxes, of_texts, *columns, strict=True))]

    def _box_scores(self, evidence: BlockEvidence, slot_tables: list[list[list[float]]]) -> dict[Box, float]:
        """Returns what the boxes around its blocks say of each box that has blocks of its own."""
        of_box = evidence.of_box
        slots: list[tuple[dict[BoxPieces, float], list[list[float]]]] = [({}, tables) for tables in slot_tables]
        names = self._names_scores(evidence.page.boxes)
        own: dict[Lineage, float] = {}
        scores: dict[Box, float] = {}
        for box in {block.box: None for block in evidence.page.blocks}:
            lineage = box.lineage
            if lineage not in own:
                own[lineage] = self._bias + sum(filter(None, map(self._own.get, lineage.new)))
            total = own[lineage] + names[box.place]
            for around, (known, tables) in zip(evidence.boxes_around(box), slots, strict=True):
                if around is not None:
                    pieces = of_box[around.place]
                    if (score := known.get(pieces)) is None:
                        score = known[pieces] = sum(map(getitem, tables, pieces))
                    total += score
            scores[box] = total
        return scores

    def _names_scores(self, boxes: Sequence[Box]) -> list[float]:
        """Returns for each box what its names and those of the boxes around it say."""
        scores: list[float] = []
        known: dict[Lineage, float] = {}
        for box in boxes:
            lineage, parent = box.lineage, box.parent
            if lineage not in known:
                above = scores[parent.place] if parent is not None else 0.0
                is_looked_at = parent is None or lineage.path is not parent.lineage.path
                known[lineage] = above + sum(filter(None, map(self._around.get, lineage.new if is_looked_at else ())))
            scores.append(known[lineage])
        return scores

    def _mixed(self, shares: Sequence[float]) -> list[list[float]]:
        """Returns the tables of a page that may be of several types."""
        flat = self._flat
        for share, of_type in zip(shares, self._flat_of_types, strict=True):
            if share >= MIN_TYPE_SHARE:
                flat = [weight + share * more for weight, more in zip(flat, of_type, strict=True)]
        return [flat[start:end] for start, end in pairwise(self._ends)]


@cache
def weights() -> Weights:
    """Returns the weights that ship."""
    return Weights(orjson.loads(resources.files(__package__).joinpath("weights.json").read_bytes()))
