"""The item's message and its JSON Schema."""

from __future__ import annotations

import uuid
from dataclasses import fields
from pathlib import Path

import jsonschema
import orjson
import pytest
from pipelines.sink_samples import message, page

import crawler
from crawler.base.item import CUT_FIELDS, ID_NAMESPACE, MESSAGE_SCHEMA, Item, Media, item_id, item_schema

SCHEMA = orjson.loads((Path(crawler.__file__).parent / "base" / "item.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_file_that_ships_is_what_the_item_says():
    """`scrapy items schema > crawler/base/item.schema.json` writes it."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert item_schema() == SCHEMA
    assert SCHEMA["$id"].endswith(f":{MESSAGE_SCHEMA}")


def test_an_items_id_is_a_uuid_of_version_5():
    for fingerprint in ("", "a" * 32, "ü"):
        assert item_id(fingerprint) == str(uuid.uuid5(ID_NAMESPACE, f"{fingerprint}:0"))


@pytest.mark.parametrize(("described", "kind"), [(SCHEMA, Item), (SCHEMA["$defs"]["Media"], Media)])
def test_it_has_all_fields_in_order_and_no_others(described, kind):
    names = [field.name for field in fields(kind)]
    assert list(described["properties"]) == described["required"] == names
    assert described["additionalProperties"] is False
    assert all(entry["description"] for entry in described["properties"].values())


def test_every_field_that_a_page_can_make_long_may_be_cut():
    """A new field is marked with `MayBeCut`, or has a bound and stands here."""
    bounded = """id resource url time published plan keywords language status sha256 node fingerprint missing_pages
        truncated canonical_url sureness rendered combinations whole page_type schema""".split()
    assert sorted([*bounded, *CUT_FIELDS]) == sorted(field.name for field in fields(Item))


@pytest.mark.parametrize(
    "item",
    [
        page(),
        page(author=None, published=None, language=None, extra={}, images=[], videos=[], keywords=[]),
        page(images=[Media("https://forum.example/never-asked-for.png")]),
        page(extra={"nested": [{"any": None}]}, content="", title="", plan=""),
    ],
)
def test_real_messages_are_valid(item):
    VALIDATOR.validate(message(item))
    assert list(message(item))[:5] == ["id", "content", "resource", "url", "time"]  # the patent's


@pytest.mark.parametrize(
    "change",
    [
        {"id": "no uuid"},
        {"content": None},
        {"resource": "../etc"},
        {"url": "javascript:alert(1)"},
        {"images": [{"url": "https://forum.example/a.png"}]},
        {"extra": None},
        {"status": "200"},
        {"sha256": "AB"},
        {"fingerprint": ""},
        {"schema": MESSAGE_SCHEMA + 1},
        {"unknown": 1},
    ],
)
def test_messages_of_another_shape_are_not(change):
    assert not VALIDATOR.is_valid({**message(page()), **change})


def test_what_stands_beside_the_fields_is_no_part_of_the_message():
    item = page()
    item.visit = object()
    item.note_clean(item.title)
    assert message(item) == message(page())
