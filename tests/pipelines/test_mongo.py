from __future__ import annotations

import asyncio
import logging
import random

import pytest
from pipelines.mongo_wire import MongoWire
from pipelines.sink_samples import SETTINGS, Outages, deliver_through_a_kill, message, page, pipeline, wait_in_vain
from pymongo import AsyncMongoClient

from crawler.base.errors import ConfigError, SinkRejectedError
from crawler.pipelines.mongo import COLLECTION, INDEXES, MAX_DOCUMENT_BYTES, PROOF, MongoSink

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
    assert await documents(database) == [
        {"_id": one.id, **message(one), "gaps": 0, "plans": ["flood-2026"]} for one in pages
    ]


def version(gaps: int, time: int, **fields):
    """A version of one page, with as many gaps, fetched at that minute."""
    item = page(time=f"2026-11-21T14:{time:02}:00.000Z", title=f"{gaps} {time}", content="$title", **fields)
    item.gaps = gaps
    return item


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ((0, 1), (0, 2), (0, 2)),
        ((0, 2), (0, 1), (0, 2)),
        ((0, 1), (1, 2), (0, 1)),
        ((2, 9), (1, 1), (1, 1)),
        ((1, 1), (1, 1), (1, 1)),
    ],
)
async def test_the_version_with_fewer_gaps_stays_then_the_newer_one(mongo, database, first, second, stays):
    await mongo.process_item(version(*first))
    await mongo.process_item(version(*second))
    [document] = await documents(database)
    assert (document["title"], document["gaps"]) == (version(*stays).title, stays[0])
    assert document["content"] == "$title"


async def test_all_plans_of_a_page_survive_whatever_version_stays(mongo, database):
    await database[COLLECTION].update_one({"_id": page().id}, {"$addToSet": {"plans": "early"}}, upsert=True)
    await mongo.process_item(version(0, 2, plan="first"))
    assert (await documents(database))[0]["plans"] == ["first", "early"]
    await mongo.process_item(version(0, 1, plan="older"))
    await mongo.process_item(version(0, 1, plan="older"))
    assert (await documents(database))[0]["plans"] == ["first", "early", "older"]
    await mongo.process_item(version(0, 3, plan="early"))
    await mongo.process_item(version(0, 4, plan=""))
    [document] = await documents(database)
    assert (document["plan"], document["plans"], document["title"]) == ("", ["early", "first", "older"], "0 4")


async def test_of_versions_that_come_at_once_the_best_stays_with_the_plans_of_all(
    mongo_server, mongo_database, database
):
    workers = [sink(mongo_server.url, mongo_database) for _ in range(4)]
    versions = [version(gaps, time, plan=f"plan-{gaps}-{time}") for gaps in (2, 1, 0) for time in range(1, 11)]
    random.Random(1).shuffle(versions)
    await asyncio.gather(*(workers[at % 4].process_item(one) for at, one in enumerate(versions)))
    await asyncio.gather(*(worker.close_spider() for worker in workers))
    [document] = await documents(database)
    assert document["title"] == "0 10"
    assert document["plans"][0] == "plan-0-10"
    assert sorted(document["plans"]) == sorted(one.plan for one in versions)


async def test_the_indexes_are_there(mongo, database):
    await mongo.process_item(page())
    keys = {
        tuple(field for field, _ in index["key"]) for index in (await database[COLLECTION].index_information()).values()
    }
    assert keys == {("_id",), *INDEXES}


async def test_an_index_that_cannot_be_made_stops_nothing(mongo, database, caplog):
    await database[COLLECTION].create_index("fingerprint", unique=True)  # under the name that ours would have
    await mongo.process_item(page())
    assert len(await documents(database)) == 1
    assert "no index on fingerprint" in caplog.text


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


async def test_a_number_that_mongo_cannot_hold_keeps_its_digits(mongo, database):
    await mongo.process_item(page(1, extra={"least": -(2**63), "views": 2**63, "all": [2**64 - 1]}))
    (document,) = await documents(database)
    assert document["extra"] == {"least": -(2**63), "views": str(2**63), "all": [str(2**64 - 1)]}


async def test_what_mongo_cannot_hold_fails_alone(mongo, database):
    deep: dict = {}
    for _ in range(150):
        deep = {"deeper": deep}
    pages = [
        page(1),
        page(2, content="x" * MAX_DOCUMENT_BYTES),
        page(4, extra=deep),
        page(5),
    ]
    results = await asyncio.gather(*(mongo.process_item(one) for one in pages), return_exceptions=True)
    reasons = [result.reason for result in results if isinstance(result, SinkRejectedError)]
    assert reasons == ["document-too-large", "not-encodable"]
    assert [document["title"] for document in await documents(database)] == ["Thread 1", "Thread 5"]


async def test_what_an_index_of_the_operator_refuses_fails_alone(mongo, database):
    await database[COLLECTION].create_index("url", unique=True)
    results = await asyncio.gather(
        *(mongo.process_item(page(number, url="https://same.example/")) for number in range(3)), return_exceptions=True
    )
    reasons = [result.reason for result in results if isinstance(result, SinkRejectedError)]
    assert reasons == ["refused-by-mongo"] * 2
    assert len(await documents(database)) == 1


def writes(command) -> list[dict]:
    """The writes of a command; empty when it is none."""
    return command.get("documents") or command.get("updates") or []


SECRET = "what the page said"
REFUSALS = {
    "one by one": lambda count: {
        "ok": 1,
        "n": 0,
        "nModified": 0,
        "writeErrors": [
            {"index": index, "code": 371, "errmsg": f"User writes blocked: {{content: '{SECRET}'}}"}
            for index in range(count)
        ],
    },
    "as a whole": lambda _count: {
        "ok": 0,
        "code": 8000,
        "codeName": "AtlasError",
        "errmsg": f"you are over your space quota, in '{SECRET}'",
    },
}


@pytest.mark.parametrize("how", REFUSALS)
async def test_a_server_that_takes_no_writes_is_waited_for_whatever_its_code(
    mongo_server, mongo_database, database, caplog, how
):
    outages = Outages()
    caplog.set_level(logging.DEBUG)  # as Scrapy's loggers have it
    async with MongoWire(mongo_server.port) as wire:
        wire.rule = lambda command: REFUSALS[how](len(written)) if (written := writes(command)) else None
        mongo = sink(wire.url, mongo_database, outages)
        putting = [asyncio.create_task(mongo.process_item(page(number, content=SECRET))) for number in range(5)]
        await outages.down.wait()
        assert not any(put.done() for put in putting)
        wire.rule = lambda _command: None
        await asyncio.gather(*putting)
        await mongo.close_spider()
    assert len(await documents(database)) == 5
    assert outages.told == ["mongo down", "mongo up"]
    [warning] = [record.getMessage() for record in caplog.records if "down, its items wait" in record.getMessage()]
    assert "371: User writes blocked" in warning or "AtlasError 8000: you are over your space quota" in warning
    assert SECRET not in caplog.text


NOT_ALLOWED = {"ok": 0, "code": 13, "codeName": "Unauthorized", "errmsg": "not authorized to execute command"}


@pytest.mark.parametrize("may_write", ["all", "items"])
@pytest.mark.parametrize("how", REFUSALS)
async def test_a_document_that_mongo_refuses_alone_stops_no_claims(
    mongo_server, mongo_database, database, how, may_write
):
    def refuse(command):
        if may_write == "items" and PROOF in (command.get("update"), command.get("delete")):
            return NOT_ALLOWED
        poisoned = any("Thread 1" in str(one) for one in writes(command))
        return REFUSALS[how](len(writes(command))) if poisoned else None

    outages = Outages()
    async with MongoWire(mongo_server.port) as wire:
        wire.rule = refuse
        mongo = sink(wire.url, mongo_database, outages)
        with pytest.raises(SinkRejectedError, match="refused-by-mongo"):
            await mongo.process_item(page(1))
        first, second = await asyncio.gather(
            mongo.process_item(page(1)), mongo.process_item(page(2)), return_exceptions=True
        )
        await mongo.close_spider()
    assert isinstance(first, SinkRejectedError)
    assert second == page(2)
    assert [document["title"] for document in await documents(database)] == ["Thread 2"]
    assert await database[PROOF].count_documents({}) == 0
    assert not outages.told


@pytest.mark.faults  # its Mongo is killed while a process writes
async def test_a_kill_during_writes_loses_nothing_and_doubles_nothing(
    monkeypatch, mongo_server, mongo_database, database
):
    monkeypatch.setattr("crawler.servers.mongo_client.SELECT_MILLISECONDS", 500)
    outages = Outages()
    mongo = sink(mongo_server.url, mongo_database, outages)
    delivered = await deliver_through_a_kill(mongo, outages, mongo_server, 2_000)
    assert sorted(document["_id"] for document in await documents(database)) == sorted(delivered)
    assert outages.told == ["mongo down", "mongo up"]


async def test_unreachable_at_start_is_told_and_waited_for(monkeypatch, caplog):
    monkeypatch.setattr("crawler.servers.mongo_client.SELECT_MILLISECONDS", 100)
    outages = Outages()
    mongo = sink(f"mongodb://user:secret@127.0.0.1:{CLOSED_PORT}", "any", outages)
    await wait_in_vain(mongo, outages, f"Mongo at mongodb://127.0.0.1:{CLOSED_PORT}")
    assert outages.told == ["mongo down"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize("name", ["", "a b", "a/b", "$a", "a.b"])
def test_a_database_name_that_cannot_be_is_refused_at_start(name):
    with pytest.raises(ConfigError, match="MONGO_DATABASE"):
        sink("mongodb://127.0.0.1", name)
