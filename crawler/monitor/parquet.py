"""Items as a Parquet file, its columns of the types that the items' schema has. It needs the extra `parquet`."""

from __future__ import annotations

import asyncio
import io
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.base.item import item_schema
from crawler.cli.output import to_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

GROUP_ROWS = 1_000  # most rows of a row group: readers take one at a time, and what is alike is packed together
GROUP_BYTES = 16_000_000  # how many bytes of JSON end a group earlier; it takes a few times that of memory
INT64 = range(-(2**63), 2**63)


def is_installed() -> bool:
    """Returns whether the extra is there."""
    return find_spec("pyarrow") is not None


class Column(NamedTuple):
    """What stands in a column, or within one.

    Attributes:
        type: pyarrow's.
        fit: Given a value of JSON, returns it as the type has it; None where it can't be that. Items come from servers
            that others write to, too: a field of another type costs that field, and not the download.
    """

    type: Any
    fit: Callable[[Any], Any]


async def parquet(items: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    """Yields a file, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = item_schema()
    columns = {
        name: _column(declaration, schema.get("$defs", {})) for name, declaration in schema["properties"].items()
    }
    fields = pa.schema([(name, column.type) for name, column in columns.items()])
    sink = _Sink()

    def write(group: list[dict[str, Any]]) -> bytes:
        rows = [{name: column.fit(item.get(name)) for name, column in columns.items()} for item in group]
        writer.write_table(pa.Table.from_pylist(rows, schema=fields))
        return sink.take()

    with pq.ParquetWriter(sink, fields, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        size = 0
        async for item in items:
            group.append(item)
            size += len(to_json(item))
            if len(group) == GROUP_ROWS or size >= GROUP_BYTES:
                yield await asyncio.to_thread(write, group)
                group, size = [], 0
        if group:
            yield await asyncio.to_thread(write, group)
    yield sink.take()  # the file's foot, and all of a file without rows


class _Sink(io.BytesIO):
    """Holds what was written until it is taken, and still tells how long the file is by now."""

    _taken_bytes = 0

    def take(self) -> bytes:
        """Returns what was written since it was last asked."""
        written = self.getvalue()
        self._taken_bytes += len(written)
        self.seek(0)
        self.truncate()
        return written

    def tell(self) -> int:
        """Returns the length of the file."""
        return self._taken_bytes + super().tell()


def _column(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Column:
    """Returns what a part of a JSON Schema becomes; what has no certain form becomes JSON."""
    import pyarrow as pa

    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = definitions[schema["$ref"].rpartition("/")[2]]
        else:  # every column may be empty
            (schema,) = (option for option in schema["anyOf"] if option.get("type") != "null")
    match schema:
        case {"format": "date-time"}:
            return Column(pa.timestamp("ms", tz="UTC"), _instant)
        case {"type": "string"}:
            return Column(pa.string(), lambda value: value if isinstance(value, str) else None)
        case {"type": "integer"}:
            return Column(pa.int64(), _integer)
        case {"type": "array", "items": items}:
            inner = _column(items, definitions)
            return Column(
                pa.list_(inner.type), lambda value: [*map(inner.fit, value)] if isinstance(value, list) else None
            )
        case {"type": "object", "properties": properties}:
            parts = {name: _column(declared, definitions) for name, declared in properties.items()}
            return Column(pa.struct([(name, part.type) for name, part in parts.items()]), partial(_struct, parts))
        case _:
            return Column(pa.string(), lambda value: None if value is None else to_json(value).decode())


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in INT64 else None


def _instant(value: Any) -> datetime | None:
    try:
        when = datetime.fromisoformat(value)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):  # the year 1 in a zone that is ahead of UTC
        return None


def _struct(parts: Mapping[str, Column], value: Any) -> dict[str, Any] | None:
    return {name: part.fit(value.get(name)) for name, part in parts.items()} if isinstance(value, dict) else None
