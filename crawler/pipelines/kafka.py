"""The Kafka sink: one topic per site, each message acknowledged by all replicas before its seed is finished."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kafka.errors import (
    IllegalStateError,
    InvalidRecordError,
    InvalidTopicError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    TopicAlreadyExistsError,
)

from crawler import config
from crawler.base import log_events, reasons
from crawler.base.errors import AccessError, ConfigError, UnavailableError
from crawler.base.redaction import redacted_address
from crawler.base.seldom import Seldom
from crawler.pipelines.cut import cut
from crawler.pipelines.sink import Record, Sink, server_words
from crawler.pipelines.whole_items import WholeItems
from crawler.servers.kafka_clients import (
    DELIVERY_MILLISECONDS,
    MESSAGE_BYTES,
    kafka_admin,
    kafka_producer,
    kafka_security,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kafka import KafkaProducer

    from crawler.base.log_events import EventLogger
    from crawler.base.reasons import Reason

# Behind the prefix, the topic that shows whether Kafka takes messages; no site's name has a dot.
PROOF = "headroom.proof"
ALSO_SUFFIX = ".also"  # the end of the topics that tell further plans of items; no site's name has a dot
# Errors that leave the producer as it was; after any other it is replaced.
OF_ONE_MESSAGE = {
    MessageSizeTooLargeError: reasons.MESSAGE_TOO_LARGE,
    RecordListTooLargeError: reasons.MESSAGE_TOO_LARGE,
    InvalidRecordError: reasons.REFUSED_BY_KAFKA,
    InvalidTopicError: reasons.REFUSED_BY_KAFKA,
}
ACKNOWLEDGE_SECONDS = DELIVERY_MILLISECONDS / 1000 + 1  # the producer gives each message up a second earlier
MAX_CUTS = 8  # how often one message is halved at most: from 1 MiB down to 4 KiB, the least that a topic may allow
FRAME_BYTES = 1_000  # what a message takes beside its value: its key, headers and lengths
CLOSE_SECONDS = 2.0  # how long the producer may take to close at the end, when no message is on its way any more

logger: EventLogger = logging.getLogger(__name__)


class KafkaSink(Sink):
    """Sends each item's message to the topic `TOPIC_PREFIX + site`, with the item's fingerprint as its key.

    The word that further plans want an item goes to the topic `TOPIC_PREFIX + site + ".also"`.

    The library blocks, on metadata and when it connects, so it runs in threads of its own. After any outage the
    producer is replaced: a new one has neither broken sequence numbers nor forgotten messages in its queue. A message
    may arrive twice, and never not at all.
    """

    takes_also: ClassVar[bool] = True

    def __init__(self, settings: Mapping[str, Any], prefix: str, *, cuts: bool, whole_items: WholeItems | None) -> None:
        self._settings = settings
        self._prefix = prefix
        self._cuts = cuts
        self._whole_items = whole_items
        self._producer: KafkaProducer | None = None
        self._topics: set[str] = set()  # the topics that are known to exist
        self._last_taken: Record | None = None
        self._warn = Seldom(logger.warning)
        self._last_refusal = ""  # why Kafka refused last, in its words
        self._opening = Lock()  # held while the producer is opened, which all threads share
        self._threads = ThreadPoolExecutor(self.in_flight, thread_name_prefix="kafka-sink")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink; a broker is first asked by a probe or a batch.

        Raises:
            ConfigError: A setting can't be used.
        """
        kafka_security(settings)
        too_large = config.KAFKA_TOO_LARGE.of(settings)
        return cls(
            settings,
            config.TOPIC_PREFIX.of(settings),
            cuts=too_large != "fail",
            whole_items=WholeItems.from_settings(settings) if too_large == "reference" else None,
        )

    @classmethod
    def place(cls, settings: Mapping[str, Any]) -> str:
        """Returns the topics, and where they are."""
        servers = config.KAFKA_BOOTSTRAP_SERVERS.of(settings)
        where = ",".join(redacted_address(server.strip()) for server in servers)
        return f"topic {config.TOPIC_PREFIX.of(settings)}SITE (TOPIC_PREFIX) at {where}"

    async def send(self, batch: list[Record]) -> Mapping[int, Reason]:
        """Sends a batch and waits for every acknowledgement.

        Returns:
            The messages that Kafka refused.

        Raises:
            UnavailableError: Some messages weren't acknowledged; those that were are marked as done.
        """
        refused = await self._send_in_thread(batch)
        self._last_taken = next((record for record in batch if record.done), self._last_taken)
        return refused

    async def check_access(self) -> None:
        """Connects once.

        Raises:
            AccessError: The brokers refuse this client.
        """
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._open)
        except AccessError:
            raise
        except UnavailableError as error:
            logger.debug("kafka: %s", error)  # an outage, which the crawl waits for

    async def prove(self) -> None:
        """Sends a message to the topic `PROOF`; where this client may not, the last message that was taken, once more.

        Whoever reads must be prepared for messages that come twice, but not for some that say nothing.

        Raises:
            UnavailableError: Kafka is away, or refuses both. It may be that none was taken before.
        """
        if not await self._send_in_thread([Record(PROOF, "proof", b"{}")]):
            return
        last = self._last_taken
        if last is None or await self._send_in_thread([replace(last, done=False)]):
            raise UnavailableError(f"Kafka refuses messages, to {self._prefix}{PROOF} too: {self._last_refusal}")

    async def close(self) -> None:
        """Closes the producer."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        producer, self._producer = self._producer, None
        if producer is not None:
            await asyncio.to_thread(_discard, producer, CLOSE_SECONDS)

    async def _send_in_thread(self, batch: list[Record]) -> Mapping[int, Reason]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, batch)

    def _send(self, batch: list[Record]) -> dict[int, Reason]:
        producer = self._open()
        positions: dict[str, list[int]] = {}
        for position, record in enumerate(batch):
            if not record.done:
                suffix = ALSO_SUFFIX if record.is_also else ""
                positions.setdefault(self._prefix + record.site + suffix, []).append(position)
        futures: dict[int, Any] = {}
        errors: dict[int, KafkaError] = {}
        for topic, of_topic in positions.items():
            try:
                self._find_topic(topic, producer)
                partition = _only(producer.partitions_for(topic))
            except KafkaError as error:
                errors |= dict.fromkeys(of_topic, error)
                continue
            for position in of_topic:
                record = batch[position]
                try:
                    futures[position] = producer.send(
                        topic, key=record.key.encode(), value=record.value, partition=partition
                    )
                except KafkaError as error:
                    errors[position] = error
        deadline = time.monotonic() + ACKNOWLEDGE_SECONDS
        for position, future in futures.items():
            try:
                future.get(timeout=max(0.0, deadline - time.monotonic()))
                batch[position].done = True
            except KafkaError as error:
                errors[position] = error
        if any(OF_ONE_MESSAGE.get(type(errors.get(position))) == reasons.MESSAGE_TOO_LARGE for position in futures):
            producer = self._replace(producer)
        return self._refusals(self._cut_too_large(batch, errors, producer) if self._cuts else errors, producer)

    def _replace(self, producer: KafkaProducer) -> KafkaProducer:
        """Returns a new producer: after a message that the broker found too large, the library fails all others so."""
        self._abandon(producer)
        return self._open()

    def _cut_too_large(
        self, batch: list[Record], errors: Mapping[int, KafkaError], producer: KafkaProducer
    ) -> dict[int, KafkaError]:
        """Sends what was too large once more, cut; returns the errors that are left.

        A broker also refuses messages that are too large only together. Each of them comes back alone.
        """
        left: dict[int, KafkaError] = {}
        for position, error in errors.items():
            record = batch[position]
            is_to_blame = len(batch) == 1 or len(record.value) > MESSAGE_BYTES - FRAME_BYTES
            refusal: KafkaError | None = error
            if (
                is_to_blame
                and not record.is_also
                and record.site != PROOF
                and OF_ONE_MESSAGE.get(type(error)) == reasons.MESSAGE_TOO_LARGE
            ):
                refusal = self._send_cut(record, producer)
            if refusal is not None:
                left[position] = refusal
        return left

    def _send_cut(self, record: Record, producer: KafkaProducer) -> KafkaError | None:
        """Sends a message that was too large, cut until it is taken; returns why it isn't.

        Raises:
            UnavailableError: The whole item can't be kept now.
        """
        whole = self._whole_items.keep(record.value) if self._whole_items else record.value
        max_bytes = min(len(record.value), 2 * (MESSAGE_BYTES - FRAME_BYTES))
        refusal: KafkaError = MessageSizeTooLargeError()
        for _ in range(MAX_CUTS):
            max_bytes //= 2
            value = cut(whole, max_bytes)
            if value is None:
                return refusal
            try:
                future = producer.send(self._prefix + record.site, key=record.key.encode(), value=value)
                future.get(timeout=ACKNOWLEDGE_SECONDS)
            except KafkaError as error:
                refusal = error
                if OF_ONE_MESSAGE.get(type(error)) != reasons.MESSAGE_TOO_LARGE:
                    return error
                producer = self._replace(producer)
            else:
                record.done = True
                return None
        return refusal

    def _refusals(self, errors: Mapping[int, KafkaError], producer: KafkaProducer) -> dict[int, Reason]:
        """Returns the messages that Kafka refused, by position, out of those that weren't acknowledged.

        Raises:
            UnavailableError: Some errors may pass by themselves, or are the producer's.
        """
        kinds = {type(error): error for error in errors.values()}
        if kinds.keys() - OF_ONE_MESSAGE.keys():
            self._abandon(producer)
        for error in kinds.values():
            if error.retriable or isinstance(error, IllegalStateError):
                raise UnavailableError(f"Kafka: {_words(error)}")
            self._last_refusal = _words(error)
            self._warn(log_events.KAFKA_REFUSES, self._last_refusal)
        return {
            position: OF_ONE_MESSAGE.get(type(error), reasons.REFUSED_BY_KAFKA) for position, error in errors.items()
        }

    def _open(self) -> KafkaProducer:
        """Returns the producer that all batches share; connects it where there is none."""
        with self._opening, _operators_errors():
            self._producer = self._producer or kafka_producer(self._settings)
            return self._producer

    def _abandon(self, producer: KafkaProducer) -> None:
        """Throws a producer away that met an outage; the next batch makes a new one."""
        with self._opening:
            self._topics.clear()  # some may have been deleted meanwhile
            if self._producer is producer:
                self._producer = None
                _discard(producer, 0)

    def _find_topic(self, topic: str, producer: KafkaProducer) -> None:
        """Returns when a topic is there; makes it if need be.

        Where this client may make none (no right to, or a broker before 2.4), the topic must be there, or the broker
        makes it when it is asked for.

        Raises:
            KafkaError: It isn't there. The error says why it wasn't made, or that nobody knows it yet.
        """
        if topic in self._topics:
            return
        refusal = self._make_topic(topic)
        try:
            producer.partitions_for(topic)  # waits for it
        except KafkaTimeoutError:
            if refusal is not None:
                raise refusal from None
            raise
        self._topics.add(topic)

    def _make_topic(self, topic: str) -> KafkaError | None:
        """Makes a topic with the broker's defaults, if there is none: many brokers don't make topics by themselves.

        Returns:
            Why it can't be made; None: it is there.

        Raises:
            KafkaError: It can't be made now.
        """
        with _operators_errors():
            admin = kafka_admin(self._settings)
        with closing(admin):
            try:
                admin.create_topics([topic], wait_for_metadata=False)  # the producer waits for it
                logger.info(log_events.KAFKA_TOPIC_MADE, topic)
            except TopicAlreadyExistsError:
                pass
            except KafkaError as error:
                if error.retriable:
                    raise
                logger.info(log_events.KAFKA_TOPIC_NOT_OURS, topic, _words(error))
                return error
        return None


@contextmanager
def _operators_errors() -> Iterator[None]:
    """Has the crawl wait for the operator when the environment has changed so that no client can be built."""
    try:
        yield
    except ConfigError as error:
        raise UnavailableError(str(error)) from None


def _only(partitions: Collection[int]) -> int | None:
    """Returns a topic's only partition; None where it has several, of which the library chooses by the message's key.

    To hash a key takes the library 7 us, a sixth of all that it does for a message.
    """
    return next(iter(partitions)) if len(partitions) == 1 else None


def _words(error: KafkaError) -> str:
    return server_words(str(error))  # begins with the error's name


def _discard(producer: KafkaProducer, timeout_s: float) -> None:
    """Closes a producer. `_send` waits for what it still held, and that batch is sent again."""
    try:
        producer.close(timeout=timeout_s)
    except KafkaError:  # the library stops there, and would try again when the object is collected: its thread lives on
        producer._sender.force_close()  # noqa: SLF001 -- there is no public way
        producer._closed = True  # noqa: SLF001 -- likewise
