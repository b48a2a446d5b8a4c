"""What a JSON value holds, as paths that selectors can have."""

from __future__ import annotations

import jmespath
import orjson
import pytest

from crawler.cli.json_outline import MAX_EXAMPLE_CHARACTERS, MAX_PATHS, outline


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (
            {"items": [{"id": 1, "title": "a"}, {"id": 2, "by": "b"}], "next": None},
            ["items[].id", "items[].title", "items[].by"],
        ),
        ([1, 2], ["[]"]),
        ("text", ["@"]),
        ({}, []),
        ({"a b": {"c-d": 1}}, ['"a b"."c-d"']),
        ({"flag": False, "number": 0}, ["flag", "number"]),
    ],
)
def test_each_value_is_told_by_its_path(value, paths):
    assert list(outline(value)) == paths
    for path in paths:
        assert jmespath.search(path, value) is not None


def test_however_much_it_holds_it_stays_short():
    nested = orjson.loads(b"[" * 1_000 + b"]" * 1_000)
    assert len(outline({str(number): "x" * 1_000 for number in range(1_000)} | {"deep": nested})) == MAX_PATHS
    assert all(len(example) <= MAX_EXAMPLE_CHARACTERS + 3 for example in outline({"a": "x" * 1_000}).values())
