"""The word that a further plan wants an item: its message and its JSON Schema."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import jsonschema
import orjson
import pytest

import crawler
from crawler.base.also import ALSO_SCHEMA, Also, also_schema
from crawler.base.item import item_id
from crawler.base.models import Seed

SCHEMA = orjson.loads((Path(crawler.__file__).parent / "base" / "also.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
WORDS = {"keywords": ("洪水", "dike"), "further_keywords": (("flood",),)}
SEED = Seed("https://forum.example/thread/1", "second", "demo_forum", **WORDS)


def test_the_file_that_ships_is_what_the_class_says():
    """`scrapy items schema --also > crawler/base/also.schema.json` writes it."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert also_schema() == SCHEMA
    assert SCHEMA["$id"] == f"urn:headroom:also:{ALSO_SCHEMA}"
    assert list(SCHEMA["properties"]) == SCHEMA["required"] == [field.name for field in fields(Also)]


def test_it_names_the_item_and_what_the_plan_asked():
    message = orjson.loads(orjson.dumps(Also.of(SEED)))
    VALIDATOR.validate(message)
    assert message["id"] == item_id(SEED.fingerprint.hex())
    assert (message["plan"], message["keywords"], message["url"]) == ("second", ["洪水", "dike"], SEED.url)
    assert message["combinations"] == [["洪水", "dike"], ["flood"]]
    assert Also.of(SEED, "an id").id == "an id"


@pytest.mark.parametrize("change", [{"id": "x"}, {"plan": None}, {"url": "ftp://x.test/"}, {"more": 1}, {"schema": 2}])
def test_other_messages_are_invalid(change):
    message = orjson.loads(orjson.dumps(Also.of(SEED))) | change
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(message)
