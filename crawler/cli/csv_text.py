"""Tables as CSV that spreadsheets open without harm."""

from __future__ import annotations

import csv
import io
import unicodedata
from typing import TYPE_CHECKING, Any

from crawler.cli.output import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORMULA = frozenset("=+-@\t\r\n")  # a cell that begins with one of these would be worked out by a spreadsheet
BYTE_ORDER_MARK = "\ufeff"  # spreadsheets know UTF-8 by it


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns a line for the columns and one for each row. Lists are joined by blanks, and formulas made texts."""
    text = io.StringIO()
    text.write(BYTE_ORDER_MARK)
    writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180 has these line ends
    writer.writerow(columns)
    writer.writerows([cell(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Returns a value as a cell has it: a list of texts joined by blanks, other lists and objects as JSON."""
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and not any(isinstance(part, list | dict) for part in value):
        text = " ".join(map(str, value))
    else:
        text = to_json(value).decode()
    begin = unicodedata.normalize("NFKC", text.lstrip(" ")[:1])  # some take wide and small forms of them likewise
    return f"'{text}" if begin in FORMULA else text
