"""The text of a page as Markdown: headings, lists, quotes, tables, code and links as GitHub writes them."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.extract.document import absolute
from crawler.extract.main_text import HEADINGS, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turbohtml import Element

    from crawler.extract.blocks import Box, TextBlock

MAX_INDENTS = 8  # of lists within lists
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "del": "~~", "s": "~~"}
_LISTS = frozenset({"ul", "ol"})
_special = re.compile(r"([\\`*_\[\]<>#|])")


def markdown_of(blocks: Sequence[TextBlock], base: str) -> str:
    """Returns blocks as Markdown.

    Args:
        blocks: In the order of the page.
        base: URL to which their links are relative.
    """
    parts: list[str] = []
    table: Box | None = None
    for block in blocks:
        cells = cells_of(block)
        if not cells:
            parts.append(_block(block, base))
            table = None
            continue
        line = f"| {' | '.join(_cells(block, base, cells))} |"
        table_around = next((box for box in _lineage(block.box) if box.tag == "table"), None)
        parts.append(line if table_around is table else f"\n{line}\n|{' --- |' * len(cells)}")
        table = table_around
    return text.verbatim("\n".join(filter(None, parts)))


def as_markdown(written: str) -> str:
    """Returns plain paragraphs as Markdown that shows them as they are."""
    return "\n\n".join(_special.sub(r"\\\1", paragraph) for paragraph in written.split("\n"))


def _block(block: TextBlock, base: str) -> str:
    """Returns a block with what tells its kind before it; a blank line stands before all but the entries of a list."""
    if block.tag == "pre":
        code = text.verbatim(block.text)
        fence = "```" if "```" not in code else "~" * 4
        return f"\n{fence}\n{code}\n{fence}"
    written = _inline(block, block.inline, base, 0, len(block.text))
    if not written:
        return ""
    if block.tag in HEADINGS:
        return f"\n{'#' * int(block.tag[1])} {written}"
    entry, lists = _entry(block)
    if entry is None:
        quote = "> " if any(box.tag == "blockquote" for box in _lineage(block.box)) else ""
        return f"\n{quote}{written}"
    indent = "  " * min(len(lists) - 1, MAX_INDENTS)
    if block.box is not entry and block.tag != "li" and entry.end - entry.first > 1:
        return f"{indent}  {written}" if lists else written
    return f"{indent}{'1.' if lists and lists[0].tag == 'ol' else '-'} {written}"


def _entry(block: TextBlock) -> tuple[Box | None, list[Box]]:
    """Returns the entry of a list in which a block is, and the lists around that, innermost first."""
    around = [*_lineage(block.box)]
    entry = next((box for box in around if box.tag == "li"), None)
    return entry, [box for box in around if box.tag in _LISTS]


def _lineage(box: Box | None) -> list[Box]:
    around = []
    while box is not None:
        around.append(box)
        box = box.parent
    return around


def _cells(block: TextBlock, base: str, cells: Sequence[tuple[int, int]]) -> list[str]:
    """Returns the cells of a table's row, each on one line; an element counts in the cell in which it begins."""
    begins = [begin for begin, _ in cells]
    inline_of: list[list[tuple[int, int, Element]]] = [[] for _ in cells]
    for part in block.inline:
        inline_of[max(bisect_right(begins, part[0]) - 1, 0)].append(part)
    return [_inline(block, inline, base, begin, end) for inline, (begin, end) in zip(inline_of, cells, strict=True)]


def _inline(block: TextBlock, inline: Iterable[tuple[int, int, Element]], base: str, start: int, stop: int) -> str:
    """Returns a part of the text of a block on one line, with its links, emphasis and code.

    Args:
        block: Of which it is a part.
        inline: The elements that may stand in the part, each with where it begins and ends in the block's text.
        base: URL to which links are relative.
        start: Where the part begins in the block's text.
        stop: Where it ends.
    """
    opens: dict[int, str] = {}
    closes: dict[int, str] = {}
    code_ends: dict[int, int] = {}  # where code begins -> where it ends
    for begin, end, element in inline:  # inner ones first
        if begin < start or end > stop:
            continue
        mark = _MARKS.get(element.tag)
        if mark and block.text[begin:end].strip():
            opens[begin] = mark + opens.get(begin, "")
            closes[end] = closes.get(end, "") + mark
            if mark == "`":
                code_ends[begin] = max(end, code_ends.get(begin, 0))
        elif element.tag == "a" and (address := next(iter(absolute([element.attr("href") or ""], base)), "")):
            opens[begin] = f"[{opens.get(begin, '')}"
            closes[end] = f"{closes.get(end, '')}](<{address}>)"
    pieces, last, code_end = [opens.pop(start, "")], start, code_ends.get(start, 0)
    for place in sorted({*opens, *closes, stop}):
        piece = block.text[last:place]
        is_code = last < code_end
        pieces += [piece if is_code else _special.sub(r"\\\1", piece), closes.get(place, ""), opens.get(place, "")]
        last, code_end = place, max(code_end, code_ends.get(place, 0))
    return text.line("".join(pieces))
