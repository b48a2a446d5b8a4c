"""The Kafka sink: one topic per site, each message acknowledged by all replicas before its seed is finished."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from kafka.errors import (
    InvalidRecordError,
    InvalidTopicError,
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    TopicAlreadyExistsError,
)

from crawler.errors import ConfigError, UnavailableError
from crawler.pipelines.sink import Record, Sink
from crawler.servers.kafka import DELIVERY_MILLISECONDS, kafka_admin, kafka_producer, kafka_security

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafka import KafkaProducer

TOPIC_PREFIX = re.compile(r"[a-zA-Z0-9._-]{1,100}")  # Kafka takes 249 such characters, the site's name among them
REFUSED_FOR_GOOD = {
    MessageSizeTooLargeError: "message-too-large",
    RecordListTooLargeError: "message-too-large",
    InvalidRecordError: "refused-by-kafka",
    InvalidTopicError: "refused-by-kafka",
}
ACKNOWLEDGE_S = DELIVERY_MILLISECONDS / 1000 + 1  # the producer gives each message up a second earlier
CLOSE_S = 2.0  # for the producer to close at the end, when no message is on its way any more

logger = logging.getLogger(__name__)


class KafkaSink(Sink):
    """Sends each item's message to the topic `TOPIC_PREFIX + site`, with the item's fingerprint as its key.

    The library blocks, on metadata and when it connects, so it runs in threads of its own. After any outage the
    producer is replaced: a new one has neither broken sequence numbers nor forgotten messages in its queue. A message
    may arrive twice, and never not at all.
    """

    def __init__(self, settings: Mapping[str, Any], prefix: str) -> None:
        self._settings = settings
        self._prefix = prefix
        self._producer: KafkaProducer | None = None
        self._topics: set[str] = set()  # those that are known to exist
        self._opening = Lock()  # of the producer, which all threads share
        self._threads = ThreadPoolExecutor(self.in_flight, thread_name_prefix="kafka-sink")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink; a broker is first asked by a probe or a batch.

        Raises:
            ConfigError: A setting can't be used.
        """
        prefix = str(settings.get("TOPIC_PREFIX") or "")
        if not TOPIC_PREFIX.fullmatch(prefix):
            raise ConfigError("TOPIC_PREFIX", prefix, "1 to 100 of a-z A-Z 0-9 . _ -")
        kafka_security()
        return cls(settings, prefix)

    async def send(self, batch: list[Record]) -> Mapping[int, str]:
        """Sends a batch and waits for every acknowledgement.

        Returns:
            The messages that Kafka will never take.

        Raises:
            UnavailableError: Some messages weren't acknowledged; those that were are marked as done.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, batch)

    async def close(self) -> None:
        """Closes the producer."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        producer, self._producer = self._producer, None
        if producer is not None:
            await asyncio.to_thread(_discard, producer, CLOSE_S)

    def _send(self, batch: list[Record]) -> dict[int, str]:
        producer = self._open()
        refused: dict[int, str] = {}
        try:
            for topic in {self._prefix + record.site for record in batch} - self._topics:
                self._make_topic(topic)
            futures = {}
            for position, record in enumerate(batch):
                if record.done:
                    continue
                try:
                    futures[position] = producer.send(
                        self._prefix + record.site, key=record.key.encode(), value=record.value
                    )
                except tuple(REFUSED_FOR_GOOD) as error:
                    refused[position] = REFUSED_FOR_GOOD[type(error)]
            self._gather(batch, futures, refused)
        except KafkaError as error:
            self._abandon(producer)
            raise UnavailableError(f"Kafka: {type(error).__name__}") from None
        return refused

    def _gather(self, batch: list[Record], futures: dict[int, Any], refused: dict[int, str]) -> None:
        """Waits for the acknowledgements, marks what has arrived and notes what Kafka refuses.

        Raises:
            KafkaError: At least one message wasn't acknowledged; the others were waited for.
        """
        failure: KafkaError | None = None
        deadline = time.monotonic() + ACKNOWLEDGE_S
        for position, future in futures.items():
            try:
                future.get(timeout=max(0.0, deadline - time.monotonic()))
                batch[position].done = True
            except tuple(REFUSED_FOR_GOOD) as error:
                refused[position] = REFUSED_FOR_GOOD[type(error)]
            except KafkaError as error:
                failure = error
        if failure is not None:
            raise failure

    def _open(self) -> KafkaProducer:
        """Returns the producer that all batches share; connects it where there is none."""
        with self._opening:
            try:
                self._producer = self._producer or kafka_producer(self._settings)
            except ConfigError as error:  # the environment changed: the crawl waits for the operator, no seed fails
                raise UnavailableError(str(error)) from None
            return self._producer

    def _abandon(self, producer: KafkaProducer) -> None:
        """Throws a producer away that met an outage; the next batch makes a new one."""
        with self._opening:
            self._topics.clear()  # some may have been deleted meanwhile
            if self._producer is producer:
                self._producer = None
                _discard(producer, 0)

    def _make_topic(self, topic: str) -> None:
        """Makes a topic with the broker's defaults, if there is none: many brokers don't make topics by themselves.

        Where this client may make none (no right to, or a broker before 2.4), the topic must be there, or the broker
        makes it when a message comes.
        """
        with closing(kafka_admin(self._settings)) as admin:
            try:
                admin.create_topics([topic], wait_for_metadata=True)
                logger.info("kafka: made topic %s", topic)
            except TopicAlreadyExistsError:
                pass
            except KafkaError as error:
                if error.retriable:
                    raise
                logger.info("kafka: topic %s is not ours to make (%s)", topic, type(error).__name__)
        self._topics.add(topic)


def _discard(producer: KafkaProducer, timeout_s: float) -> None:
    with suppress(KafkaError):  # `_gather` waits for what it still held, and that batch is sent again
        producer.close(timeout=timeout_s)
