from __future__ import annotations

from dataclasses import fields

import jsonschema
import orjson
import pytest
from pipelines.sink_samples import page

from crawler.models import MESSAGE_SCHEMA, Media, Page
from crawler.schema import item_schema

SCHEMA = item_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_has_the_fields_of_the_item_and_no_others():
    for described, kind in ((SCHEMA, Page), (SCHEMA["$defs"]["media"], Media)):
        names = [field.name for field in fields(kind) if not field.name.startswith("_")]
        assert list(described["properties"]) == names
        assert described["required"] == names
        assert described["additionalProperties"] is False
    assert SCHEMA["properties"]["schema"]["const"] == MESSAGE_SCHEMA
    assert SCHEMA["$id"].endswith(f":{MESSAGE_SCHEMA}")


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
    VALIDATOR.validate(orjson.loads(orjson.dumps(item)))


def test_a_message_has_all_fields_in_order():
    assert list(page().message()) == list(SCHEMA["properties"])


def test_the_bytes_that_sinks_send_are_the_message():
    assert orjson.loads(orjson.dumps(page())) == page().message()


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
    assert not VALIDATOR.is_valid({**page().message(), **change})
