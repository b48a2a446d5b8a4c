"""What commands print: JSON, tables, errors, times and quantities. No text that is printed can act on the terminal."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from crawler.redaction import Redaction
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

T = TypeVar("T")
TEXT_CHARACTERS_MIN = 12  # width of a column of text, however narrow the terminal is
CELL_CHARACTERS_MAX = 10_000  # the longest text of ours, a URL, has 8,192
ERROR_CHARACTERS_MAX = 2_000  # of an error, which is one line to read: what it quotes is much shorter
GAP_CHARACTERS = 2  # between two columns


def print_error(error: Exception, settings: Mapping[str, Any]) -> None:
    """Prints an error as one line on stderr, without the secrets of the settings and the environment."""
    text = one_line(Redaction.of(settings, os.environ)(str(error)))
    print("error:", text if len(text) <= ERROR_CHARACTERS_MAX else text[:ERROR_CHARACTERS_MAX] + "...", file=sys.stderr)


def print_answer(opts: argparse.Namespace, answer: T, print_text: Callable[[T], object]) -> None:
    """Prints a command's answer, as JSON where `--json` asks for that, else with `print_text`."""
    if opts.json:
        print_json(answer)
    else:
        print_text(answer)


def print_json(value: object) -> None:
    """Prints a value of JSON types or dataclasses, indented, in UTF-8 whatever the terminal's locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(to_json(value, orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def to_json(value: object, option: int = 0) -> bytes:
    r"""Returns a value as JSON in UTF-8. Characters that don't show are escaped (`\u001b`), which means the same.

    Args:
        value: Of JSON types, or a dataclass.
        option: Of `orjson.dumps`.
    """
    encoded = orjson.dumps(value, option=option)
    text = encoded.decode()
    if text.replace("\n", "").isprintable():  # line breaks stand between values; JSON has none within strings
        return encoded
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text).encode()


def print_table(names: Sequence[str], rows: Iterable[Iterable[object]], *, bold_last: bool = False) -> None:
    """Prints a table, numbers to the right, long texts folded; on a terminal too narrow for it, a line for each row.

    Where it isn't a terminal that reads it, each row is one line, however long: what reads it then reads lines.

    Args:
        names: Of the columns.
        rows: A cell for each column; None is an empty one.
        bold_last: The last row is a total.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell_text(value) for value in row] for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, GAP_CHARACTERS, 0, 0))
    needed = unfolded = -GAP_CHARACTERS
    for index, name in enumerate(names):
        texts = [row[index] for row in cells]
        width = max(map(cell_len, (name, *texts)))
        is_number = any(texts) and not any(text.strip("0123456789,.-") for text in texts)
        least = width if is_number else min(width, TEXT_CHARACTERS_MIN)
        needed += least + GAP_CHARACTERS
        unfolded += width + GAP_CHARACTERS
        table.add_column(name, justify="right" if is_number else "left", min_width=least, overflow="fold")
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(unfolded, 1)
    if console.width < needed:
        for first, *others in cells:
            named = zip(names[1:], others, strict=True)
            rest = ", ".join(f"{name} {text}" for name, text in named if text)
            console.print(
                Text(first), Text(rest), soft_wrap=True
            )  # a row stays one line: no text begins one of its own
        return
    for number, row in enumerate(cells, 1):
        table.add_row(*map(Text, row), style="bold" if bold_last and number == len(cells) else None)
    console.print(table)


def format_time(at_ms: int, *, to_minutes: bool = False) -> str:
    """Returns a time, given in ms since the epoch, as people read it, in UTC.

    Args:
        to_minutes: Leaves the seconds out.
    """
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(f"%Y-%m-%d %H:%M{'' if to_minutes else ':%S'} UTC")
    except (ValueError, OverflowError, OSError):  # Redis isn't trusted to hold a time
        return f"{at_ms} ms"


def quantity(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 seed`, `2,000 seeds`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return one_line(text if len(text) <= CELL_CHARACTERS_MAX else text[:CELL_CHARACTERS_MAX] + "...")
