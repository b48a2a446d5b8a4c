"""A table of the monitor as others read it: JSON, and CSV that spreadsheets open without harm."""

from __future__ import annotations

import csv
import io
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from crawler.cli.output import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMULA = frozenset("=+-@\t\r\n")  # a cell that begins with one of these would be worked out by a spreadsheet
BYTE_ORDER_MARK = "\ufeff"  # spreadsheets know UTF-8 by it


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Rows with the same keys.

    Attributes:
        name: What a file of it is called.
        columns: The keys, in their order; of CSV the head.
        rows: Each with a value of JSON's types for each key.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[dict[str, Any]]

    def as_json(self) -> Response:
        """Returns an array of objects."""
        rows = [{column: row[column] for column in self.columns} for row in self.rows]
        return Response(to_json(rows), media_type="application/json")

    def as_csv(self) -> Response:
        """Returns a line for each row. Lists are joined by blanks, and formulas made texts."""
        text = io.StringIO()
        text.write(BYTE_ORDER_MARK)
        writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180 has these line ends
        writer.writerow(self.columns)
        writer.writerows([cell(row[column]) for column in self.columns] for row in self.rows)
        headers = {"content-disposition": f'attachment; filename="{self.name}.csv"'}
        return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


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
