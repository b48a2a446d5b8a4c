"""The JSON Schema of the message that leaves through files, Kafka and MongoDB, for those who read it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import orjson


def item_schema() -> dict[str, Any]:
    """Returns the message's JSON Schema (draft 2020-12), which ships with the package and works from a zipped egg."""
    schema: dict[str, Any] = orjson.loads(files("crawler").joinpath("item.schema.json").read_bytes())
    return schema
