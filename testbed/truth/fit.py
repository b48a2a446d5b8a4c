"""Fits the weights by which pages are read without selectors to a corpus: `python -m testbed.truth.fit CORPUS OUT`.

Both fits are logistic regressions by gradient descent over all pages at once (Adam), the same each time. The types by
which blocks are fitted are those that are told for pages that were left out, since no better ones are known later.
"""

from __future__ import annotations

import argparse
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson

from crawler.extract.blocks import blocks_of
from crawler.extract.declared import Declared
from crawler.extract.evidence import (
    LEVELS,
    MAX_KEY_CHARACTERS,
    WIDE_PIECE,
    WIDE_VALUES,
    BlockEvidence,
    BlockPieces,
    BoxPieces,
)
from crawler.extract.markup import parse_html
from crawler.extract.weights import MIN_TYPE_SHARE, SLOTS, signs_of_type
from testbed.truth.corpus import TYPES, half_of, pages_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

MIN_PAGES_OF_NAME, MIN_PAGES_OF_SIGN = 12, 5  # that have it, below which it gets no weight
PENALTY, SIGN_PENALTY = 1e-3, 3e-3  # of large weights
STEPS, SIGN_STEPS = 70, 120
RATE, SIGN_RATE = 0.06, 0.03
FOLDS = 4
MIN_WEIGHT = 0.02  # smaller ones aren't written
RUN = 4  # words in a row, that a block shares with the truth


@dataclass
class Example:
    """A page with what is known of it."""

    name: str
    kind: int
    evidence: BlockEvidence
    signs: set[str]
    labels: list[float]
    keys: list[list[str]]


def labels_of(blocks: Sequence[Sequence[str]], truth: Sequence[str]) -> list[float]:
    """Returns which share of each block belongs to the truth; -1 for a block without words."""
    runs = [{tuple(truth[at : at + size]) for at in range(len(truth) - size + 1)} for size in range(1, RUN + 1)]
    flat = [word for block in blocks for word in block]
    labels, start = [], 0
    for block in blocks:
        end = start + len(block)
        if not block:
            labels.append(-1.0)
        elif len(block) >= RUN:
            pieces = [tuple(block[at : at + RUN]) for at in range(len(block) - RUN + 1)]
            labels.append(sum(piece in runs[RUN - 1] for piece in pieces) / len(pieces))
        else:  # so few words may be anywhere: the ones before or behind have to be beside them in the truth, too
            beside = (tuple(flat[max(0, end - RUN) : end]), tuple(flat[start : start + RUN]))
            labels.append(float(any(run in runs[len(run) - 1] for run in beside)))
        start = end
    return labels


def keys_of(evidence: BlockEvidence, place: int) -> list[str]:
    """Returns what a block is known by: evidence and names."""
    box = evidence.page.blocks[place].box
    text = evidence.texts[place]
    keys = [f"{piece}={column[place]}" for piece, column in enumerate(evidence.pieces)]
    first = len(keys)
    for slot, around in enumerate(evidence.boxes_around(box)):
        for piece, value in enumerate(evidence.of_box[around.place] if around is not None else ()):
            keys.append(f"{first + len(BoxPieces._fields) * slot + piece}={value:d}")
    keys += [f"around {name}" for name in box.lineage.path] + [f"own {name}" for name in box.lineage.new]
    return [*keys, f"text {text.lower()}"] if len(text) <= MAX_KEY_CHARACTERS else keys


def examples_of(folder: Path) -> list[Example]:
    """Returns the pages of a corpus, ready to fit."""
    examples = []
    for page in pages_of(folder):
        tree = parse_html(page.html)
        element = tree.select_one("title")
        evidence = BlockEvidence(blocks_of(tree), element.text if element is not None else "")
        declared = Declared(tree, page.url)
        signs = signs_of_type(evidence, page.url, declared.metas, declared.json_ld_text)
        labels = labels_of([words_of(text) for text in evidence.texts], words_of(page.text))
        keys = [keys_of(evidence, place) for place in range(len(labels))]
        examples.append(Example(page.name, TYPES.index(page.type), evidence, signs, labels, keys))
    return examples


def descend(
    gradient_of: Callable[[NDArray[np.float64]], NDArray[np.float64]], shape: tuple[int, ...], steps: int, rate: float
) -> NDArray[np.float64]:
    """Returns the weights at which a gradient vanishes, or nearly."""
    weights, mean, square = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for step in range(1, steps + 1):
        gradient = gradient_of(weights)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        pace = rate if step < 0.6 * steps else 0.3 * rate
        weights -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
    return weights


def fit_types(examples: Sequence[Example]) -> dict[str, NDArray[np.float64]]:
    """Returns the weights of signs for each type."""
    counts = Counter(sign for example in examples for sign in example.signs)
    places = {sign: at for at, sign in enumerate(sorted(s for s, n in counts.items() if n >= MIN_PAGES_OF_SIGN))}
    given = np.zeros((len(examples), len(places) + 1))
    given[:, -1] = 1
    for row, example in enumerate(examples):
        given[row, [places[sign] for sign in example.signs if sign in places]] = 1
    kinds = np.eye(len(TYPES))[[example.kind for example in examples]]

    def gradient_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = given @ weights
        likely = np.exp(sums - sums.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        return np.asarray(given.T @ (likely - kinds) / len(examples) + SIGN_PENALTY * weights)

    fitted = descend(gradient_of, (len(places) + 1, len(TYPES)), SIGN_STEPS, SIGN_RATE)
    return {sign: fitted[at] for sign, at in (*places.items(), ("any", len(places)))}


def shares_of(signs: dict[str, NDArray[np.float64]], example: Example) -> NDArray[np.float64]:
    """Returns how likely each type is."""
    sums = sum((signs[sign] for sign in (*sorted(example.signs), "any") if sign in signs), np.zeros(len(TYPES)))
    likely = np.exp(sums - sums.max())
    return np.asarray(likely / likely.sum())


def fit_blocks(examples: Sequence[Example], shares: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    """Returns the weights of what blocks are known by; those that a type adds have its place before a bar."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update({key for keys in example.keys for key in keys})
    known = {key for key, count in counts.items() if "=" in key.partition(" ")[0] or count >= MIN_PAGES_OF_NAME}
    places: dict[str, int] = {}
    columns, values, rows = array("i"), array("f"), array("i")
    labels: list[float] = []
    importance: list[float] = []
    for example in examples:
        likely = [(kind, share) for kind, share in enumerate(shares[example.name]) if share >= MIN_TYPE_SHARE]
        roots = np.sqrt(example.evidence.counts) * (np.array(example.labels) >= 0)
        roots = roots / max(1.0, roots.sum())
        for keys, label, root in zip(example.keys, example.labels, roots, strict=True):
            row = len(labels)
            for key in filter(known.__contains__, keys):
                columns.append(places.setdefault(key, len(places)))
                values.append(1.0)
                rows.append(row)
                if "=" in key.partition(" ")[0]:
                    for kind, share in likely:
                        columns.append(places.setdefault(f"{kind}|{key}", len(places)))
                        values.append(share)
                        rows.append(row)
            labels.append(min(1.0, max(0.0, label)))
            importance.append(root)
    at, value, row_of = (np.frombuffer(one, dtype=one.typecode) for one in (columns, values, rows))
    wanted, weight_of = np.array(labels), np.array(importance) / sum(importance)

    def gradient_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(row_of, weights[at] * value, len(wanted)) + weights[-1]
        error = (1 / (1 + np.exp(-sums)) - wanted) * weight_of
        gradient = np.bincount(at, error[row_of] * value, len(weights)) + PENALTY * weights
        gradient[-1] = error.sum()
        return np.asarray(gradient)

    fitted = descend(gradient_of, (len(places) + 1,), STEPS, RATE)
    return {"bias": float(fitted[-1])} | {key: float(fitted[place]) for key, place in places.items()}


def written(signs: dict[str, NDArray[np.float64]], blocks: dict[str, float]) -> dict[str, object]:
    """Returns the weights as `crawler.extract.weights.Weights` reads them."""
    pieces = len(BlockPieces._fields) + len(BoxPieces._fields) * SLOTS
    tables = [
        [[0.0] * (WIDE_VALUES if piece == WIDE_PIECE else LEVELS) for piece in range(pieces)]
        for _ in range(1 + len(TYPES))
    ]
    names: dict[str, dict[str, float]] = {"around": {}, "own": {}, "text": {}}
    for key, weight in blocks.items():
        kind, bar, rest = key.partition("|")
        table, name = (tables[int(kind) + 1], rest) if bar and kind.isdigit() else (tables[0], key)
        head, _, tail = name.partition(" ")
        if head in names and tail:
            if abs(weight) >= MIN_WEIGHT:
                names[head][tail] = round(weight, 2)
        elif name != "bias":
            piece, _, value = name.partition("=")
            table[int(piece)][int(value)] = round(weight, 2)
    return {
        "types": list(TYPES),
        "signs": {
            sign: [round(float(one), 2) for one in weights]
            for sign, weights in signs.items()
            if np.abs(weights).max() >= 3 * MIN_WEIGHT
        },
        "bias": round(blocks["bias"], 3),
        "tables": tables,
        "around": names["around"],
        "own": names["own"],
        "texts": names["text"],
    }


def fit(examples: Sequence[Example]) -> dict[str, object]:
    """Returns the weights that fit pages best."""
    shares: dict[str, NDArray[np.float64]] = {}
    for fold in range(FOLDS):
        signs = fit_types([example for at, example in enumerate(examples) if at % FOLDS != fold])
        shares |= {example.name: shares_of(signs, example) for example in examples[fold::FOLDS]}
    return written(fit_types(examples), fit_blocks(examples, shares))


def main(arguments: Iterable[str] | None = None) -> None:
    """Fits and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", choices=["seen", "unseen"], help="of the pages, to fit to; all if not given")
    options = parser.parse_args(None if arguments is None else list(arguments))
    examples = [one for one in examples_of(options.corpus) if options.half in (None, half_of(one.name))]
    options.out.write_bytes(orjson.dumps(fit(examples)) + b"\n")


if __name__ == "__main__":
    main()
