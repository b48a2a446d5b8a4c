"""Items in the monitor, on a real Redis and a real Mongo: found, shown as delivered, sent as files; and images."""

from __future__ import annotations

import csv
import hashlib
import io
from datetime import datetime
from urllib.parse import quote

import orjson
import pyarrow.parquet as pq
import pytest
from monitor.conftest import Running, settings_at, text_of
from pymongo import MongoClient
from telemetry.test_newest_items import NO_BOUND, message

from crawler.monitor.pages import items as module
from crawler.pipelines.mongo import MongoSink
from crawler.pipelines.sink import Record
from crawler.telemetry import newest_items

HOSTILE = "=cmd|'<script>alert(1)</script>"
BOTH, OTHER = ["洪水", "救援"], ["洪水", "灾"]
OTHER_WORDS = quote(" + ".join(OTHER))
FOUND_BY = {"plan": "flood", "keywords": BOTH, "combinations": [BOTH, OTHER], "node": "n1"}


async def keep(operator, *messages, site="news"):
    async with operator.redis.pipeline(transaction=False) as pipeline:
        newest_items.add(pipeline, operator.keys, site, messages, bytes_max=NO_BOUND)
        await pipeline.execute()


def titles(browser, query=""):
    return [row["title"] for row in orjson.loads(browser.get(f"/items.json?{query}").text)]


def moment_of(number):
    return orjson.loads(message(number))["time"]


async def test_the_newest_and_those_that_are_asked_for(browser, operator):
    await keep(operator, message(1, title="one"), message(3, title="three", **FOUND_BY))
    await keep(operator, message(2, "blog", title="two", plan="storm"), site="blog")
    viewer = browser("viewer")
    assert titles(viewer) == ["three", "two", "one"]
    assert titles(viewer, "site=blog") == ["two"]
    assert titles(viewer, "plan=flood") == titles(viewer, f"words={OTHER_WORDS}") == ["three"]
    assert titles(viewer, f"words={quote(OTHER[1])}") == titles(viewer, "plan=none") == []
    assert titles(viewer, f"until={moment_of(2)}") == ["two", "one"]
    assert titles(viewer, f"since={moment_of(2)}&until={moment_of(2)}") == ["two"]
    page = text_of(viewer.get("/items?site=news").text)
    assert "news three flood 洪水 + 救援 0" in page
    for wrong in ("since=yesterday", "skip=-1", "skip=x", "before=9999-99-99"):
        assert viewer.get(f"/items?{wrong}").status == 400
    assert browser().get("/items.json", accept="application/json").status == 401


async def test_older_ones_follow_and_each_comes_once(browser, operator, monkeypatch):
    monkeypatch.setattr(module, "SHOWN", 3)
    at_once = [orjson.dumps(orjson.loads(message(5)) | {"id": f"same-{n}", "title": f"same-{n}"}) for n in range(7)]
    await keep(operator, *at_once, *(message(n, title=str(n)) for n in (1, 2, 9)))
    viewer, seen, address = browser("viewer"), [], "/items?site=news"
    while address:
        page = viewer.get(address).text
        seen += titles(viewer, address.partition("?")[2])
        address = page.partition('<a href="/items?')[2].partition('"')[0].replace("&amp;", "&")
        address = address and f"/items?{address}"
        assert len(seen) <= 10
    assert seen[0] == "9"
    assert sorted(seen) == sorted(["1", "2", "9", *(f"same-{n}" for n in range(7))])


async def test_an_item_as_it_was_delivered(browser, operator):
    whole = {
        "title": HOSTILE,
        "content": "a\n  <b>",
        "status": 200,
        "sha256": "f" * 64,
        "fingerprint": "0" * 32,
        "x": [1],
    }
    await keep(operator, message(1, images=[{"url": "http://a.test/i.png", "error": "http-404"}], **FOUND_BY, **whole))
    viewer = browser("viewer")
    page = viewer.get("/item?id=news-1").text
    assert "<script>alert" not in page
    assert "a\n  &lt;b&gt;" in page
    assert '<a href="/seed?url=http%3A//news.test/1">' in page
    assert 'href="http://news.test' not in page  # no request to a crawled host
    assert "<img" not in page
    text = text_of(page)
    for shown in ("洪水 + 救援 · 洪水 + 灾", "Node n1", "http://a.test/i.png: http-404", '"x": [ 1 ]'):
        assert shown in text
    assert orjson.loads(viewer.get("/item.json?id=news-1").text)[0]["content"] == "a\n  <b>"
    assert viewer.get("/item?id=none").status == 404
    for address in ("/items", "/item?id=news-1"):
        assert "<script>alert" not in viewer.get(address).text


async def test_items_with_values_of_other_kinds_are_shown(browser, operator):
    junk = [[None, 5], {"a": {"b": 1}}, 1e308, [["x"]]]
    names = ("plan", "node", "title", "combinations", "images", "language", "content")
    for number, value in enumerate(junk):
        await keep(operator, message(number, **dict.fromkeys(names, value)))
    viewer = browser("viewer")
    addresses = ["/items", "/items.csv", "/items?words=x", *(f"/item?id=news-{number}" for number in range(len(junk)))]
    assert {viewer.get(address).status for address in addresses} == {200}


async def test_all_of_them_as_files(browser, operator, running, monkeypatch):
    monkeypatch.setattr(module, "DOWNLOAD_LINES", 2)
    await keep(operator, *(message(n, title=HOSTILE, **FOUND_BY) for n in range(5)))
    viewer = browser("viewer")
    lines = viewer.get("/items-download.jsonl?plan=flood")
    assert [orjson.loads(line)["id"] for line in lines.text.splitlines()] == [f"news-{n}" for n in (4, 3, 2, 1, 0)]
    assert "attachment" in lines.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(viewer.get("/items-download.csv").text.removeprefix("\ufeff"))))
    assert {row["title"] for row in rows} == {f"'{HOSTILE}"}
    assert (rows[0]["keywords"], rows[0]["combinations"]) == ("洪水 救援", '[["洪水","救援"],["洪水","灾"]]')
    assert viewer.get("/items-download.csv?plan=none").text.startswith("\ufeffid,")
    assert viewer.get("/items-download.jsonl?plan=none").text == ""


async def test_all_of_them_as_parquet(browser, operator, monkeypatch):
    """Its columns have types; a field of another type, as anybody may write it to Redis, costs that field alone."""
    monkeypatch.setattr("crawler.monitor.parquet.GROUP_ROWS", 2)
    image = {"url": "http://a.test/1.png", "path": None, "sha256": None, "bytes": 2**31, "error": "404"}
    comment = {"text": "So it is.", "author": None, "published": "2026-11-23T08:00:00Z", "parent": None, "likes": 3}
    await keep(operator, *(message(n, title=HOSTILE, **FOUND_BY) for n in range(4)))
    await keep(
        operator, message(4, images=[image], comments=[comment], extra={"views": [1]}, sureness={"title": "guess"})
    )
    odd = {"status": 2**63, "images": {"url": 1}, "published": "0001-01-01T00:00:00+14:00", "keywords": [7, "x"]}
    await keep(operator, message(5, **odd), site="odd")
    viewer = browser("viewer")
    assert "/items-download.parquet?" in viewer.get("/items").text
    file = pq.ParquetFile(io.BytesIO(viewer.get("/items-download.parquet").body))
    assert file.num_row_groups == 3
    rows = file.read().to_pylist()
    assert [row["id"] for row in rows] == [f"news-{n}" for n in (5, 4, 3, 2, 1, 0)]
    assert rows[2]["title"] == HOSTILE
    assert rows[2]["combinations"] == [BOTH, OTHER]
    assert rows[1]["time"] == datetime.fromisoformat(moment_of(4))
    assert rows[1]["images"] == [image]
    assert rows[1]["comments"] == [comment | {"published": datetime.fromisoformat(comment["published"])}]
    assert (rows[1]["extra"], rows[1]["sureness"]) == ('{"views":[1]}', '{"title":"guess"}')
    assert [rows[0][name] for name in ("status", "images", "published", "keywords")] == [None, None, None, [None, "x"]]
    none = pq.ParquetFile(io.BytesIO(viewer.get("/items-download.parquet?plan=none").body))
    assert (none.metadata.num_rows, none.schema_arrow.names) == (0, list(module.FIELDS))


async def test_without_its_extra_parquet_is_refused(browser, operator, monkeypatch):
    monkeypatch.setattr("crawler.monitor.parquet.is_installed", lambda: False)
    viewer = browser("viewer")
    assert "Parquet" not in viewer.get("/items").text
    answer = viewer.get("/items-download.parquet")
    assert (answer.status, "Parquet needs an extra" in answer.text) == (404, True)


async def test_images_come_from_the_media_store_alone_and_are_images(running, redis_url, users, operator, tmp_path):
    def store(content, ending=".png"):
        name = hashlib.sha256(content).hexdigest()
        path = f"{name[:2]}/{name}{ending}"
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
        return path

    good, script = store(b"GIF89a\x02\x00\x02\x00 rest"), store(b"<svg xmlns='x'><script/></svg>", ".svg")
    (tmp_path / "secret").write_bytes(b"\x89PNG\r\n\x1a\n secret")
    outside = f"aa/{'a' * 64}.png"
    (tmp_path / "aa").mkdir(exist_ok=True)
    (tmp_path / outside).symlink_to("/etc/hostname")
    with Running(settings_at(redis_url, FILES_STORE=str(tmp_path)), users) as monitor:
        viewer = monitor.browser("viewer")
        await keep(operator, message(1, images=[{"url": "http://a.test/i.png", "path": good}]))
        assert f'<img src="/media?path={good}"' in viewer.get("/item?id=news-1").text
        image = viewer.get(f"/media?path={good}")
        assert (image.status, image.headers["content-type"]) == (200, "image/gif")
        assert image.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert image.headers["x-content-type-options"] == "nosniff"
        for path in (script, outside, "secret", "../secret", f"bb/{'b' * 64}.png", "", f"{good}%00", f"/{good}"):
            assert viewer.get(f"/media?path={path}").status == 404, path
        assert monitor.browser().get(f"/media?path={good}", accept="*/*").status == 401


@pytest.fixture
def mongo_monitor(redis_url, users, mongo_server, mongo_database):
    """A monitor of a crawl whose items go to Mongo, with its settings; and a browser that is signed in."""
    settings = settings_at(redis_url, ITEM_SINKS="mongo", MONGO_URL=mongo_server.url, MONGO_DATABASE=mongo_database)
    with Running(settings, users) as monitor:
        yield settings, monitor.browser("viewer")


async def deliver(settings, *messages):
    sink = MongoSink.from_settings(settings)
    assert not await sink.send([Record("news", "0" * 32, item) for item in messages])
    await sink.close()


async def test_with_mongo_all_items_are_found_by_its_indexes(mongo_monitor, mongo_server, mongo_database):
    settings, viewer = mongo_monitor
    fields = {"plan": "", "keywords": [], "combinations": []}
    some = [message(n, title=str(n), **(fields if n % 2 else fields | FOUND_BY)) for n in range(6)]
    await deliver(settings, *some, message(9, "blog", title="blog", **fields))
    assert titles(viewer) == ["blog", "5", "4", "3", "2", "1", "0"]
    assert titles(viewer, "site=blog") == ["blog"]
    assert titles(viewer, "plan=flood") == titles(viewer, f"words={OTHER_WORDS}") == ["4", "2", "0"]
    assert titles(viewer, f"site=news&since={moment_of(2)}&until={moment_of(4)}") == ["4", "3", "2"]
    assert len(viewer.get("/items-download.jsonl?site=news").text.splitlines()) == 6
    columns = pq.ParquetFile(io.BytesIO(viewer.get("/items-download.parquet?site=news").body)).read().to_pydict()
    assert columns["time"] == [datetime.fromisoformat(moment_of(n)) for n in (5, 4, 3, 2, 1, 0)]
    item = orjson.loads(viewer.get("/items-download.jsonl?site=blog").text)
    assert not {"_id", "gaps"} & item.keys()
    assert "blog" in viewer.get("/item?id=blog-9").text
    assert viewer.get("/items?site[$ne]=x&site=%24ne").status == 200
    with MongoClient(mongo_server.url) as client:
        found = client[mongo_database]["items"].index_information().values()
    keys = {tuple(name for name, _direction in index["key"]) for index in found}
    assert {("time",), ("plans", "time"), ("resource", "time"), ("combinations", "time")} <= keys


async def test_a_mongo_that_is_away_is_said(redis_url, users, operator):
    url = "mongodb://u:hunter22@127.0.0.1:1/?serverSelectionTimeoutMS=200"
    with Running(settings_at(redis_url, ITEM_SINKS="mongo", MONGO_URL=url), users) as monitor:
        viewer = monitor.browser("viewer")
        for address in ("/items", "/item?id=x", "/items-download.csv"):
            answer = viewer.get(address)
            assert answer.status == 503
            assert "Mongo at" in answer.text
            assert "hunter22" not in answer.text
        assert viewer.get("/").status == 200
