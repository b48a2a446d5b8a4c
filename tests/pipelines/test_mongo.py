from __future__ import annotations

import asyncio

import pytest
from pipelines.sink_samples import SETTINGS, Outages, deliver_through_a_kill, message, page, pipeline, wait_in_vain
from pymongo import AsyncMongoClient

from crawler.errors import ConfigError, SinkRejectedError
from crawler.pipelines.mongo import COLLECTION, DOCUMENT_MAX_BYTES, MongoSink

CLOSED_PORT = 9  # discard; nobody listens there


@pytest.fixture
async def database(mongo_server, mongo_database):
    async with AsyncMongoClient(mongo_server.url) as client:
        yield client[mongo_database]


def sink(url: str, database: str, outages: Outages | None = None):
    settings = {**SETTINGS, "MONGO_URL": url, "MONGO_DATABASE": database}
    return pipeline("mongo", MongoSink.from_settings(settings), outages)


@pytest.fixture
async def mongo(mongo_server, mongo_database):
    mongo = sink(mongo_server.url, mongo_database)
    yield mongo
    await mongo.close_spider()


async def documents(database) -> list[dict]:
    return [document async for document in database[COLLECTION].find().sort("title")]


async def test_a_document_is_the_message_under_its_id(mongo, database):
    pages = [page(1), page(2, resource="wiki")]
    returned = await asyncio.gather(*(mongo.process_item(one) for one in pages))
    assert returned == pages
    assert await documents(database) == [{"_id": one.id, **message(one)} for one in pages]


async def test_what_is_delivered_twice_stands_there_once(mongo, database):
    await asyncio.gather(*(mongo.process_item(page(number % 10)) for number in range(200)))
    await mongo.process_item(page(3, content="again"))
    found = await documents(database)
    assert len(found) == 10
    assert [document["content"] for document in found if document["title"] == "Thread 3"] == ["again"]


async def test_the_indexes_are_there(mongo, database):
    await mongo.process_item(page())
    keys = {
        tuple(field for field, _ in index["key"]) for index in (await database[COLLECTION].index_information()).values()
    }
    assert keys == {("_id",), ("fingerprint",), ("plan",), ("resource", "time")}


async def test_an_index_that_cannot_be_made_stops_nothing(mongo, database, caplog):
    await database[COLLECTION].create_index("plan", unique=True)  # under the name that ours would have
    await mongo.process_item(page())
    assert len(await documents(database)) == 1
    assert "no index on plan" in caplog.text


async def test_keys_of_extra_cannot_act_as_operators_or_paths(mongo, database):
    extra = {"$where": "sleep(1)", "a.b": {"$set": {"x.y": 1}}, "list": [{"$gt": ""}], "": 0, "nul\0": 1}
    await mongo.process_item(page(extra=extra))
    assert (await documents(database))[0]["extra"] == {
        "＄where": "sleep(1)",
        "a．b": {"＄set": {"x．y": 1}},
        "list": [{"＄gt": ""}],
        "": 0,
        "nul\ufffd": 1,
    }


async def test_what_mongo_cannot_hold_fails_alone(mongo, database):
    deep: dict = {}
    for _ in range(150):
        deep = {"deeper": deep}
    pages = [
        page(1),
        page(2, content="x" * DOCUMENT_MAX_BYTES),
        page(3, extra={"number": 2**63}),
        page(4, extra=deep),
        page(5),
    ]
    results = await asyncio.gather(*(mongo.process_item(one) for one in pages), return_exceptions=True)
    reasons = [result.reason for result in results if isinstance(result, SinkRejectedError)]
    assert reasons == ["document-too-large", "not-encodable", "not-encodable"]
    assert [document["title"] for document in await documents(database)] == ["Thread 1", "Thread 5"]


async def test_what_an_index_of_the_operator_refuses_fails_alone(mongo, database):
    await database[COLLECTION].create_index("url", unique=True)
    results = await asyncio.gather(
        *(mongo.process_item(page(number, url="https://same.example/")) for number in range(3)), return_exceptions=True
    )
    reasons = [result.reason for result in results if isinstance(result, SinkRejectedError)]
    assert reasons == ["refused-by-mongo"] * 2
    assert len(await documents(database)) == 1


async def test_a_kill_during_writes_loses_nothing_and_doubles_nothing(
    monkeypatch, mongo_server, mongo_database, database
):
    monkeypatch.setattr("crawler.servers.mongo.SELECT_MILLISECONDS", 500)
    outages = Outages()
    mongo = sink(mongo_server.url, mongo_database, outages)
    delivered = await deliver_through_a_kill(mongo, outages, mongo_server, 2_000)
    assert sorted(document["_id"] for document in await documents(database)) == sorted(delivered)
    assert outages.told == ["mongo down", "mongo up"]


async def test_unreachable_at_start_is_told_and_waited_for(monkeypatch, caplog):
    monkeypatch.setattr("crawler.servers.mongo.SELECT_MILLISECONDS", 100)
    outages = Outages()
    mongo = sink(f"mongodb://user:secret@127.0.0.1:{CLOSED_PORT}", "any", outages)
    await wait_in_vain(mongo, outages, f"Mongo at mongodb://127.0.0.1:{CLOSED_PORT}")
    assert outages.told == ["mongo down"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize("name", ["", "a b", "a/b", "$a", "a.b"])
def test_a_database_name_that_cannot_be_is_refused_at_start(name):
    with pytest.raises(ConfigError, match="MONGO_DATABASE"):
        sink("mongodb://127.0.0.1", name)
