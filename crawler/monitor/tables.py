"""A table of the monitor as others read it: JSON, and CSV that spreadsheets open without harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from crawler.cli.csv_text import csv_text
from crawler.cli.output import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        headers = {"content-disposition": f'attachment; filename="{self.name}.csv"'}
        return Response(csv_text(self.columns, self.rows), media_type="text/csv; charset=utf-8", headers=headers)
