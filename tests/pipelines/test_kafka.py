from __future__ import annotations

import asyncio
import gc
from contextlib import closing

import orjson
import pytest
from kafka import KafkaConsumer, TopicPartition
from pipelines.sink_samples import SETTINGS, Outages, deliver_through_a_kill, message, page, pipeline, wait_in_vain

from crawler.errors import ConfigError, SinkRejectedError, UnavailableError
from crawler.pipelines import kafka as module
from crawler.pipelines.kafka import KafkaSink

CLOSED_PORT = 9  # discard; nobody listens there
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed <socket:ResourceWarning"
)  # what the library's failed connects leave


@pytest.fixture(autouse=True)
def _collect():
    """Has what the library left collected while the warning about it is off."""
    yield
    gc.collect()


def sink(bootstrap: str, prefix: str, outages: Outages | None = None):
    settings = {**SETTINGS, "KAFKA_BOOTSTRAP_SERVERS": bootstrap, "TOPIC_PREFIX": prefix}
    return pipeline("kafka", KafkaSink.from_settings(settings), outages)


@pytest.fixture
async def kafka(kafka_server, topic_prefix):
    kafka = sink(kafka_server.bootstrap, topic_prefix)
    yield kafka
    await kafka.close_spider()


def records(bootstrap: str, topic: str) -> list:
    """Reads a topic from its start to its present end with a consumer that shares nothing with the sink."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, group_id=None)) as consumer:
        partitions = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        consumer.seek_to_beginning(*partitions)
        found = []
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            for some in consumer.poll(timeout_ms=1_000).values():
                found += some
        return found


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


async def test_a_kill_during_sends_loses_nothing(monkeypatch, kafka_server, topic_prefix):
    monkeypatch.setattr("crawler.servers.kafka.REQUEST_MILLISECONDS", 1_000)
    monkeypatch.setattr("crawler.servers.kafka.DELIVERY_MILLISECONDS", 1_500)
    outages = Outages()
    kafka = sink(kafka_server.bootstrap, topic_prefix, outages)
    delivered = await deliver_through_a_kill(kafka, outages, kafka_server, 3_000)
    found = [
        orjson.loads(record.value)["id"] for record in records(kafka_server.bootstrap, f"{topic_prefix}demo_forum")
    ]
    assert set(found) == delivered
    assert len(found) < 3_000 + 4 * SETTINGS["SINK_BATCH"]  # only what was on its way can be there twice
    assert outages.told == ["kafka down", "kafka up"]


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
    with pytest.raises(UnavailableError, match="KAFKA_SSL_CAFILE"):
        await kafka.process_item(page())
    assert outages.told == ["kafka down"]
    await kafka.close_spider()
    with pytest.raises(ConfigError, match="KAFKA_SSL_CAFILE"):  # at start it is refused
        sink(f"127.0.0.1:{CLOSED_PORT}", "any.")


@pytest.mark.parametrize("prefix", ["", "a b.", "a/", "洪水", "x" * 101])
def test_a_prefix_that_cannot_be_in_a_topic_is_refused_at_start(prefix):
    assert module.TOPIC_PREFIX.fullmatch("items.")
    with pytest.raises(ConfigError, match="TOPIC_PREFIX"):
        sink("127.0.0.1:9", prefix)
