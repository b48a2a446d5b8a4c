"""Tables for people, in which no URL, name or id is ever broken: what is copied or searched for is whole.

A row is one line, however long. A terminal shows a line that is too long for it on the next lines, too, and gives it
back as one when it is copied.
"""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

from crawler.base.text import inert, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

MIN_LAST_CHARACTERS = 12  # the least width of the last column's text; with less, rows are easier to read as lists
MIN_VALUE_CHARACTERS = 20  # the least width of a value beside its name, however narrow the terminal is
MAX_CELL_CHARACTERS = 10_000  # how much is shown of a cell; the longest text of ours, a URL, has 8,192
GAP = "  "  # stands between two columns
TAB_COLUMNS = 4  # how far tab stops are from each other: tabs part the cells of a page's table, in its code and in mail


def print_table(names: Sequence[str], rows: Iterable[Iterable[object]], *, bold_last: bool = False) -> None:
    """Prints a table, numbers to the right. Long texts belong into the last column.

    On a terminal too narrow for the columns before the last, or for a last one of numbers, a row is a list: its first
    cell, then each other one with its column's name.

    Args:
        names: Of the columns.
        rows: A cell for each column; None is an empty one.
        bold_last: The last row is a total.
    """
    from rich.cells import cell_len
    from rich.text import Text

    cells = [[cell_text(value) for value in row] for row in rows]
    columns = list(zip(*cells, strict=True)) or [()] * len(names)
    to_right = [_are_numbers(texts) for texts in columns]
    widths = [max(map(cell_len, (name, *texts))) for name, texts in zip(names, columns, strict=True)]
    least = [*widths[:-1], widths[-1] if to_right[-1] else min(widths[-1], MIN_LAST_CHARACTERS)]
    console = _console()
    if sys.stdout.isatty() and sum(least) + len(GAP) * (len(least) - 1) > console.width:
        for row in cells:
            console.print(Text(_as_list(names, row)), soft_wrap=True)
        return
    for number, row in enumerate([[*names], *cells]):
        padded = [
            " " * (width - cell_len(text)) + text if right else text + " " * (width - cell_len(text))
            for text, width, right in zip(row, widths, to_right, strict=True)
        ]
        is_bold = number == 0 or (bold_last and number == len(cells))
        console.print(Text(GAP.join(padded).rstrip(), "bold" if is_bold else ""), soft_wrap=True)


def print_pairs(pairs: Iterable[tuple[str, str]], *, to: TextIO | None = None) -> None:
    """Prints names with their values beside them, whose lines are broken between words where a terminal ends."""
    from rich.cells import cell_len
    from rich.text import Text

    shown = [(inert(name), inert(value.expandtabs(TAB_COLUMNS))) for name, value in pairs]
    width = max((cell_len(name) for name, _value in shown), default=0)
    console = _console(to)
    is_terminal = (to or sys.stdout).isatty()
    room = max(console.width - width - len(GAP), MIN_VALUE_CHARACTERS) if is_terminal else None
    for name, value in shown:
        label = name + " " * (width - cell_len(name))
        for line in _broken(value, room):
            console.print(Text.assemble((label, "bold"), GAP, line), soft_wrap=True)
            label = " " * width


def _console(to: TextIO | None = None) -> Console:
    from rich.console import Console

    return Console(file=to, highlight=False, markup=False, emoji=False)


def cell_text(value: object) -> str:
    """Returns a cell's text: one inert line, numbers with commas, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return one_line(text if len(text) <= MAX_CELL_CHARACTERS else text[:MAX_CELL_CHARACTERS] + "...")


def _are_numbers(texts: Sequence[str]) -> bool:
    return any(texts) and not any(text.strip("0123456789,.-") for text in texts)


def _as_list(names: Sequence[str], row: Sequence[str]) -> str:
    named = [f"{name} {text}" for name, text in zip(names[1:], row[1:], strict=True) if text]
    return GAP.join(filter(None, (row[0], ", ".join(named))))


def _broken(text: str, room: int | None) -> Iterator[str]:
    """Yields a text's lines, broken between words where they are longer than the room for them; None: endless room."""
    for line in text.split("\n"):
        if room is None:
            yield line
        else:
            yield from textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False) or [""]
