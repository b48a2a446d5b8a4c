r"""The shape of code and tables within a text: marks where they stand, and the clean text that keeps it.

Code keeps its lines and their indentation. A row of a table is one line with a tab between its cells, as where a person
copies it out of a browser. A row with a cell of several lines isn't, since many tables only lay out a page: what stands
in theirs are paragraphs. The marks are lone surrogates, which no page can hold: neither bytes nor character references
nor JSON make them. `text.line` and `text.paragraphs` drop them as they drop all that nobody sees.
"""

from __future__ import annotations

import re

from crawler.base import text

# CPython looks for a character by the lower of its bytes, and takes 30 times longer for one that ends in 00.
VERBATIM = "\ud811"  # before and behind code
CELL = "\ud812"  # before and behind a cell
ROW_BEGINS, ROW_ENDS = "\ud813", "\ud814"

_innermost_rows = re.compile(f"{ROW_BEGINS}([^{ROW_BEGINS}{ROW_ENDS}{VERBATIM}]*){ROW_ENDS}").sub


def clean(marked: str) -> str:
    """Returns the clean text of what may have marks; of what has none, that of `text.paragraphs`."""
    if ROW_BEGINS in marked:
        marked = _innermost_rows(_on_one_line, marked)
    if VERBATIM not in marked:
        return text.paragraphs(marked)
    parts = marked.split(VERBATIM)  # every other one is verbatim
    cleaned = (text.verbatim(part) if place % 2 else text.paragraphs(part) for place, part in enumerate(parts))
    return "\n".join(filter(None, cleaned))


def _on_one_line(row: re.Match[str]) -> str:
    cells = [text.paragraphs(cell) for cell in row[1].split(CELL)[1::2]]
    if len(cells) < 2 or any("\n" in cell for cell in cells):  # noqa: PLR2004 -- one cell has nothing to be parted from
        return row[1]
    return VERBATIM + "\t".join(cells) + VERBATIM
