"""What commands print for people: tables that fit the terminal, moments, amounts. No text can act on a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from crawler.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAST_CHARACTERS = 12  # of a column of text, however narrow the terminal
MOST_CHARACTERS = 10_000  # of a cell; the longest of ours, a URL, has 8,192
GAP = 2  # characters between two columns


def print_table(names: Sequence[str], rows: Iterable[Iterable[object]], *, bold_last: bool = False) -> None:
    """Prints a table. Numbers stand to the right, text folds; a terminal too narrow for it gets lists instead.

    Args:
        names: Of the columns.
        rows: A cell for each column; None is an empty one.
        bold_last: The last row is a total.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    needed = -GAP
    for index, name in enumerate(names):
        texts = [row[index].plain for row in cells]
        width = max(map(cell_len, (name, *texts)))
        is_number = any(texts) and not any(text.strip("0123456789,.-") for text in texts)
        least = width if is_number else min(width, LEAST_CHARACTERS)
        needed += least + GAP
        table.add_column(name, justify="right" if is_number else "left", min_width=least, overflow="fold")
    console = Console(highlight=False, markup=False, emoji=False)
    if console.width < needed:
        for row in cells:
            pairs = zip(names[1:], row[1:], strict=True)
            rest = Text(", ".join(f"{name} {value}" for name, value in pairs if value.plain))
            console.print(row[0], rest, soft_wrap=True)  # a row is a line: no text begins one of its own
        return
    for number, row in enumerate(cells, 1):
        table.add_row(*row, style="bold" if bold_last and number == len(cells) else None)
    console.print(table)


def moment(at_ms: int) -> str:
    """Returns a time in ms since the epoch as people read it, in UTC."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):  # Redis isn't trusted
        return f"{at_ms} ms"


def amount(number: int, thing: str) -> str:
    """Returns a number with its noun: `1 seed`, `2,000 seeds`."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _cell(value: object) -> Text:
    if value is None:
        return Text("")
    if isinstance(value, int):
        return Text(f"{value:,}")
    text = str(value)
    return Text(one_line(text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "..."))
