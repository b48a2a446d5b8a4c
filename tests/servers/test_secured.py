"""Sinks on servers with TLS and passwords: they deliver, and a refusal ends a start at once with what to do."""

from __future__ import annotations

from contextlib import closing

import pytest
from commands.answers import error_of
from needs import started
from servers.secured import PASSWORD, USER, SecuredKafka, SecuredMongo
from waiting import PATIENCE_SECONDS

from crawler.base.errors import AccessError
from crawler.doctor.checks import GROUPS
from crawler.doctor.examination import examine
from crawler.doctor.finding import State
from crawler.pipelines.mongo import MongoSink
from crawler.servers.kafka_clients import kafka_producer
from crawler.servers.mongo_client import mongo_client

pytestmark = [
    pytest.mark.faults,  # it needs a Kafka and a Mongo of its own
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),  # as Kafka refuses its client
]


@pytest.fixture(scope="module")
def kafka(server_folder):
    with started(SecuredKafka, server_folder / "secured") as server:
        yield server


@pytest.fixture(scope="module")
def mongo(server_folder):
    with started(SecuredMongo, server_folder / "secured") as server:
        yield server


def test_kafka_takes_messages_over_tls_from_who_has_the_password(kafka):
    with closing(kafka_producer(kafka.settings)) as producer:
        assert producer.send("secured", b"x").get(PATIENCE_SECONDS).offset == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"KAFKA_SASL_PASSWORD": "wrong"}, "it closes every connection: KAFKA_SASL_* is wrong, or it wants another"),
        ({"KAFKA_SSL_CAFILE": ""}, "its certificate isn't trusted: KAFKA_SSL_CAFILE names who may sign"),
    ],
)
def test_kafka_says_what_to_do_where_it_refuses(monkeypatch, kafka, change, said):
    monkeypatch.setattr("crawler.servers.kafka_clients.BOOTSTRAP_MILLISECONDS", 15_000)
    with pytest.raises(AccessError) as error:
        kafka_producer(kafka.settings | change)
    assert str(error.value).startswith(f"Kafka at {kafka.bootstrap}: {said}")
    assert "wrong'" not in str(error.value)


def test_a_refusal_of_kafka_ends_a_start(crawl, kafka):
    settings = kafka.settings | {"KAFKA_SASL_PASSWORD": "wrong-word"}
    password = {"KAFKA_SASL_PASSWORD": settings.pop("KAFKA_SASL_PASSWORD")}
    done = crawl.run("crawl", "consumer", settings=settings | {"ITEM_SINKS": "kafka"}, environment=password)
    assert "it closes every connection" in error_of(done)
    assert "wrong-word" not in done.stderr


async def test_mongo_takes_documents_over_tls_from_who_has_the_password(mongo):
    async with mongo_client({"MONGO_URL": mongo.secured_url}) as client:
        await client["secured"]["items"].insert_one({"_id": 1})
        assert await client["secured"]["items"].count_documents({}) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((PASSWORD, "wrong-word"), "it refuses the user or the password in MONGO_URL; its authSource may be another ("),
        (
            (f"{USER}:{PASSWORD}@", ""),
            "it asks for a user and a password, and MONGO_URL has none (",
        ),
        (("tlsCAFile", "appname"), "its certificate isn't trusted: tlsCAFile in MONGO_URL names who may sign"),
    ],
)
def test_mongo_says_what_to_do_where_it_refuses(crawl, mongo, change, said):
    url = mongo.secured_url.replace(*change)
    done = crawl.run("crawl", "consumer", settings={"ITEM_SINKS": "mongo"}, environment={"MONGO_URL": url})
    assert error_of(done).startswith(f"Mongo at {mongo.url}/: {said}")
    assert "wrong-word" not in done.stderr


async def test_a_server_that_is_away_does_not_end_a_start():
    sink = MongoSink.from_settings({"MONGO_URL": "mongodb://127.0.0.1:1"})
    await sink.check_access()
    await sink.close()


async def test_the_doctor_says_who_is_refused_and_looks_no_further(kafka, mongo, redis_url):
    settings = kafka.settings | {"REDIS_URL": redis_url, "MONGO_URL": mongo.secured_url, "ITEM_SINKS": "kafka,mongo"}
    found = dict(await examine(GROUPS, settings))
    assert (found["kafka"].state, found["mongo"].state) == (State.OK, State.OK)
    assert (found["kafka-message-size"].state, found["mongo-indexes"].state) == (State.OK, State.OK)
    wrong = {"KAFKA_SASL_PASSWORD": "wrong-word", "MONGO_URL": mongo.secured_url.replace(PASSWORD, "wrong-word")}
    found = dict(await examine(GROUPS, settings | wrong))
    assert "it closes every connection: KAFKA_SASL_* is wrong" in found["kafka"].text
    assert "it refuses the user or the password in MONGO_URL" in found["mongo"].text
    assert {found[name].state for name in ("kafka", "mongo")} == {State.STOPS}
    assert "wrong-word" not in str(found)
