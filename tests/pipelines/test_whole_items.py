"""Where the whole of an item is kept that is too large for Kafka."""

import re

import orjson
import pytest
from pipelines.sink_samples import message, page

from crawler.base.errors import ConfigError, UnavailableError
from crawler.pipelines.whole_items import WholeItems


def kept(store, item):
    """Keeps an item; returns its message with the reference."""
    settings = {"ITEM_SINKS": "kafka", "FILES_STORE": str(store)}
    return orjson.loads(WholeItems.from_settings(settings).keep(orjson.dumps(item)))


def test_a_file_holds_the_whole_message_and_the_last_version_of_a_page(tmp_path):
    for text in ("before", "after"):
        item = page(1, content=text)
        found = kept(tmp_path, item)
        assert found == message(item) | {"whole": found["whole"]}
    (file,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert found["whole"] == f"file:{file.relative_to(tmp_path)}"
    assert orjson.loads(file.read_bytes())["content"] == "after"


@pytest.mark.parametrize("name", ["../../../etc/cron.d/x", "/etc/x", "\0", "", "a/b", "x" * 5_000])
def test_nothing_of_a_page_is_a_path(tmp_path, name):
    store = tmp_path / "store"
    assert re.fullmatch(r"file:items/[0-9a-f]{2}/[0-9a-f]{32}\.json", kept(store, page(1, id=name))["whole"])
    assert [one.name for one in tmp_path.iterdir()] == ["store"]


def test_a_folder_that_takes_nothing_holds_the_item_back(tmp_path):
    (tmp_path / "items").write_text("in the way")
    with pytest.raises(UnavailableError, match="media store takes no whole items"):
        kept(tmp_path, page(1))


@pytest.mark.parametrize("settings", [{"FILES_STORE": ""}, {"FILES_STORE": "s3://bucket/media"}])
def test_without_a_place_the_crawl_does_not_start(settings):
    with pytest.raises(ConfigError, match="KAFKA_TOO_LARGE"):
        WholeItems.from_settings(settings | {"ITEM_SINKS": "kafka"})


def test_a_sink_of_ones_own_in_the_place_of_mongo_is_no_place(tmp_path):
    settings = {"ITEM_SINKS": "mongo,kafka", "SINKS": {"mongo": "own.Sink"}, "FILES_STORE": str(tmp_path)}
    whole = orjson.loads(WholeItems.from_settings(settings).keep(orjson.dumps(page(1))))["whole"]
    assert whole.startswith("file:")
