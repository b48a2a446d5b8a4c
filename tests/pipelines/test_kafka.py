from __future__ import annotations

import asyncio
from contextlib import closing

import orjson
import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import (
    KafkaTimeoutError,
    NotControllerError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
)
from needs import started
from pipelines.sink_samples import SETTINGS, Outages, deliver_through_a_kill, message, page, pipeline, wait_in_vain
from topics import records

from crawler.base.errors import ConfigError, SinkRejectedError
from crawler.base.item import Comment, Item
from crawler.pipelines.kafka import PROOF, KafkaSink
from crawler.worker.settling.delivery import UndeliveredError
from testbed.servers import Kafka

CLOSED_PORT = 9  # discard; nobody listens there
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed <socket:ResourceWarning"
)  # what the library's failed connects leave


def sink(bootstrap: str, prefix: str, outages: Outages | None = None, too_large: str = "fail"):
    settings = {**SETTINGS, "KAFKA_BOOTSTRAP_SERVERS": bootstrap, "TOPIC_PREFIX": prefix, "KAFKA_TOO_LARGE": too_large}
    return pipeline("kafka", KafkaSink.from_settings(settings), outages)


@pytest.fixture
async def kafka(kafka_server, topic_prefix):
    kafka = sink(kafka_server.bootstrap, topic_prefix)
    yield kafka
    await kafka.close_spider()


async def test_a_message_is_the_items_json_under_its_fingerprint(kafka, kafka_server, topic_prefix):
    pages = [page(1), page(2, resource="wiki")]
    returned = await asyncio.gather(*(kafka.process_item(one) for one in pages))
    assert returned == pages
    for one in pages:
        found = records(kafka_server.bootstrap, topic_prefix + one.resource)
        assert [(record.key, orjson.loads(record.value)) for record in found] == [
            (one.fingerprint.encode(), message(one))
        ]


async def test_a_message_that_kafka_will_never_take_fails_alone(kafka, kafka_server, topic_prefix):
    pages = [page(1), page(2, content="x" * 2_000_000), page(3)]
    results = await asyncio.gather(*(kafka.process_item(one) for one in pages), return_exceptions=True)
    assert isinstance(results[1], SinkRejectedError)
    assert results[1].reason == "message-too-large"
    found = records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    assert {orjson.loads(record.value)["title"] for record in found} == {"Thread 1", "Thread 3"}


async def test_pages_that_are_too_large_for_a_broker_only_together_arrive_by_themselves(
    kafka, kafka_server, topic_prefix
):
    topic = f"{topic_prefix}demo_forum"
    with closing(KafkaAdminClient(bootstrap_servers=kafka_server.bootstrap)) as admin:
        admin.create_topics({topic: {"configs": {"max.message.bytes": "60000"}}}, wait_for_metadata=True)
    pages = [page(number, content="x" * 10_000) for number in range(50)]
    assert await asyncio.gather(*(kafka.process_item(one) for one in pages)) == pages
    found = records(kafka_server.bootstrap, topic)
    assert {orjson.loads(record.value)["title"] for record in found} == {one.title for one in pages}


@pytest.mark.parametrize("max_bytes", ["", "60000"])
async def test_an_item_that_is_too_large_is_cut_and_says_so(kafka_server, topic_prefix, max_bytes):
    topic = f"{topic_prefix}demo_forum"
    if max_bytes:
        with closing(KafkaAdminClient(bootstrap_servers=kafka_server.bootstrap)) as admin:
            admin.create_topics({topic: {"configs": {"max.message.bytes": max_bytes}}}, wait_for_metadata=True)
    kafka = sink(kafka_server.bootstrap, topic_prefix, too_large="cut")
    text = "\u6c34" * (700_000 if not max_bytes else 70_000)
    pages = [page(1), page(2, content=text, comments=[Comment("Thanks")] * 3), page(3, content="x" * 40_000)]
    assert await asyncio.gather(*(kafka.process_item(one) for one in pages)) == pages
    await kafka.close_spider()
    found = {
        one["title"]: one for one in (orjson.loads(record.value) for record in records(kafka_server.bootstrap, topic))
    }
    assert {title: one["truncated"] for title, one in found.items()} == {
        "Thread 1": [],
        "Thread 2": ["comments", "content"],
        "Thread 3": [],
    }
    left = found["Thread 2"]["content"]
    assert set(left) == {"\u6c34"}
    assert len(text) > len(left) > len(text) / 10


@pytest.mark.parametrize("place", ["mongo", "files"])
async def test_an_item_that_is_too_large_refers_to_the_whole(kafka_server, topic_prefix, tmp_path, place):
    settings = SETTINGS | {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap, "TOPIC_PREFIX": topic_prefix}
    settings |= {"KAFKA_TOO_LARGE": "reference", "FILES_STORE": str(tmp_path)}
    kafka = pipeline("kafka", KafkaSink.from_settings(settings | {"ITEM_SINKS": f"{place},kafka"}))
    pages = [page(1), page(2, content="\u6c34" * 700_000)]
    assert await asyncio.gather(*(kafka.process_item(one) for one in pages)) == pages
    await kafka.close_spider()
    found = records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    small, cut = sorted((orjson.loads(record.value) for record in found), key=lambda one: one["title"])
    assert (small["truncated"], small["whole"]) == ([], None)
    assert cut["truncated"] == ["content"]
    if place == "mongo":
        assert cut["whole"] == f"mongo:items/{pages[1].id}"
        assert list(tmp_path.iterdir()) == []
    else:
        kind, _, path = cut["whole"].partition(":")
        assert kind == "file"
        assert orjson.loads((tmp_path / path).read_bytes()) == message(pages[1])


def refuse_topic(monkeypatch, name, error):
    """Has Kafka refuse to make a topic, in words of its own."""
    make, wait = KafkaAdminClient.create_topics, KafkaProducer.partitions_for

    def partitions_for(producer, topic):  # the tests' broker makes topics that are asked for
        if name in topic:
            raise KafkaTimeoutError
        return wait(producer, topic)

    def create_topics(admin, topics, **options):
        if any(name in topic for topic in topics):
            raise error
        return make(admin, topics, **options)

    monkeypatch.setattr(KafkaProducer, "partitions_for", partitions_for)
    monkeypatch.setattr(KafkaAdminClient, "create_topics", create_topics)


@pytest.mark.parametrize("error", [PolicyViolationError("names must begin with x"), ZeroDivisionError()])
async def test_a_topic_that_cannot_be_made_fails_its_own_items_alone(monkeypatch, kafka_server, topic_prefix, error):
    refuse_topic(monkeypatch, "wiki", error)
    outages = Outages()
    kafka = sink(kafka_server.bootstrap, topic_prefix, outages)
    pages = [page(1), page(2, resource="wiki"), page(3)]
    results = await asyncio.gather(*(kafka.process_item(one) for one in pages), return_exceptions=True)
    assert [type(result) for result in results] == [Item, SinkRejectedError, Item]
    with pytest.raises(SinkRejectedError):
        await kafka.process_item(pages[1])  # with nothing beside it
    await kafka.close_spider()
    found = records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    assert {orjson.loads(record.value)["title"] for record in found} == {"Thread 1", "Thread 3"}
    assert not outages.told


async def test_a_topic_that_cannot_be_made_now_is_waited_for_and_the_others_items_arrive(
    monkeypatch, kafka_server, topic_prefix
):
    outages = Outages()
    kafka = sink(kafka_server.bootstrap, topic_prefix, outages)
    with monkeypatch.context() as patch:
        refuse_topic(patch, "wiki", NotControllerError())
        pages = [page(1), page(2, resource="wiki"), page(3)]
        putting = [asyncio.create_task(kafka.process_item(one)) for one in pages]
        await outages.down.wait()
        assert len(records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")) == 2
    await asyncio.gather(*putting)
    await kafka.close_spider()
    assert len(records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")) == 2
    assert outages.told == ["kafka down", "kafka up"]


async def test_where_only_items_may_be_sent_the_last_one_shows_that_kafka_takes_others(
    monkeypatch, kafka_server, topic_prefix
):
    refuse_topic(monkeypatch, PROOF, TopicAuthorizationFailedError())
    outages, too_large = Outages(), page(2, content="x" * 2_000_000)
    kafka = sink(kafka_server.bootstrap, topic_prefix, outages)
    await kafka.process_item(page(1))
    with pytest.raises(SinkRejectedError, match="message-too-large"):
        await kafka.process_item(too_large)
    await kafka.close_spider()
    assert not outages.told
    found = records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    assert {orjson.loads(record.value)["title"] for record in found} == {"Thread 1"}


# -- A broker that grants rights ---------------------------------------------------------------------------------------


class Guarded(Kafka):
    """A broker that refuses what no access control list (ACL) grants, where there is one."""

    def _format(self):
        super()._format()
        with self._properties.open("a") as properties:
            properties.write("authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n")
            properties.write("allow.everyone.if.no.acl.found=true\n")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with started(Guarded, tmp_path_factory.mktemp("guarded")) as server:
        yield server


def allow(server, user, name, pattern=ACLResourcePatternType.LITERAL):
    """Grants a user all that can be done to a topic, or to all whose names begin so; to others what they had not."""
    topic = ResourcePattern(ResourceType.TOPIC, name, pattern)
    with closing(KafkaAdminClient(bootstrap_servers=server.bootstrap)) as admin:
        admin.create_acls([ACL(f"User:{user}", "*", ACLOperation.ALL, ACLPermissionType.ALLOW, topic)])


async def test_a_worker_that_may_write_nothing_waits_until_it_may_write_its_item(guarded, topic_prefix):
    allow(guarded, "somebody-else", topic_prefix, ACLResourcePatternType.PREFIXED)
    outages = Outages()
    kafka = sink(guarded.bootstrap, topic_prefix, outages)
    putting = asyncio.create_task(kafka.process_item(page(1)))
    await outages.down.wait()
    assert f"Kafka refuses messages, to {topic_prefix}{PROOF} too: " in outages.whys[0]
    assert "AuthorizationFailed" in outages.whys[0]
    allow(guarded, "ANONYMOUS", f"{topic_prefix}demo_forum")  # it may write its items, and nothing else
    async with asyncio.timeout(60):
        await putting
    await kafka.close_spider()
    assert outages.told == ["kafka down", "kafka up"]
    assert len(records(guarded.bootstrap, f"{topic_prefix}demo_forum")) == 1


async def test_a_worker_that_may_write_one_topic_fails_the_items_of_another(guarded, topic_prefix):
    allow(guarded, "somebody-else", topic_prefix, ACLResourcePatternType.PREFIXED)
    allow(guarded, "ANONYMOUS", f"{topic_prefix}demo_forum")
    kafka = sink(guarded.bootstrap, topic_prefix)
    refused, *taken = await asyncio.gather(
        *(kafka.process_item(one) for one in (page(1, resource="wiki"), page(2), page(3))), return_exceptions=True
    )
    assert isinstance(refused, SinkRejectedError)
    assert [type(one) for one in taken] == [Item, Item]
    await kafka.close_spider()


@pytest.mark.faults  # its Kafka is killed while a process sends
async def test_a_kill_during_sends_loses_nothing(monkeypatch, kafka_server, topic_prefix):
    monkeypatch.setattr("crawler.servers.kafka_clients.REQUEST_MILLISECONDS", 1_000)
    monkeypatch.setattr("crawler.servers.kafka_clients.DELIVERY_MILLISECONDS", 1_500)
    outages = Outages()
    kafka = sink(kafka_server.bootstrap, topic_prefix, outages)
    delivered = await deliver_through_a_kill(kafka, outages, kafka_server, 3_000)
    found = [
        orjson.loads(record.value)["id"] for record in records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    ]
    assert set(found) == delivered
    assert len(found) < 3_000 + 4 * SETTINGS["SINK_BATCH"]  # only what was on its way can be there twice
    assert outages.told[::2] == ["kafka down"] * (len(outages.told) // 2)  # more than once on a slow machine
    assert outages.told[1::2] == ["kafka up"] * (len(outages.told) // 2)
    assert outages.told


async def test_unreachable_at_start_is_told_and_waited_for():
    outages = Outages()
    kafka = sink(f"127.0.0.1:{CLOSED_PORT}", "any.", outages)
    await wait_in_vain(kafka, outages, f"Kafka at 127.0.0.1:{CLOSED_PORT}")
    assert outages.told == ["kafka down"]


async def test_security_that_breaks_later_makes_the_crawl_wait(monkeypatch):
    outages = Outages()
    outages.stopping = True
    kafka = sink(f"127.0.0.1:{CLOSED_PORT}", "any.", outages)
    monkeypatch.setenv("KAFKA_SECURITY_PROTOCOL", "SSL")
    monkeypatch.setenv("KAFKA_SSL_CAFILE", "/nonexistent/ca.pem")
    with pytest.raises(UndeliveredError, match="KAFKA_SSL_CAFILE"):
        await kafka.process_item(page())
    assert outages.told == ["kafka down"]
    await kafka.close_spider()
    with pytest.raises(ConfigError, match="KAFKA_SSL_CAFILE"):  # at start it is refused
        sink(f"127.0.0.1:{CLOSED_PORT}", "any.")


@pytest.mark.parametrize("prefix", ["", "a b.", "a/", "洪水", "x" * 101])
def test_a_prefix_that_cannot_be_in_a_topic_is_refused_at_start(prefix):
    with pytest.raises(ConfigError, match="TOPIC_PREFIX"):
        sink("127.0.0.1:9", prefix)
