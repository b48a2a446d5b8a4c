"""Kafka: does it let us in, can each site's topic be had, and does it keep and take what is sent to it?"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from crawler import config
from crawler.base.redaction import redacted_address
from crawler.doctor.finding import Finding, advice, loss, not_tried, ok, stop, worst
from crawler.doctor.stored_sites import stored_sites
from crawler.pipelines.kafka import ALSO_SUFFIX, PROOF
from crawler.servers.kafka_clients import MESSAGE_BYTES, kafka_admin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping

SAFE_REPLICAS = 3  # fewer aren't safe: of three, one may be down, another be lost, and the items are still there
SAFE_IN_SYNC = 2


@dataclass(frozen=True, slots=True)
class Topic:
    """How a topic is kept, or how a new one would be.

    Attributes:
        name: Empty for one that would be made.
        replicas: Copies of its partition that has fewest.
        in_sync: Those of them that are in step, of the partition that has fewest; None for one that would be made.
        in_sync_min: Copies that must have a message before it is acknowledged; None: this client may not know.
        message_max_bytes: Of a message, or of a batch of them; None likewise.
        loses_leaders: Whether a copy that lacks messages may take the leader's place.
    """

    name: str
    replicas: int
    in_sync: int | None
    in_sync_min: int | None
    message_max_bytes: int | None
    loses_leaders: bool

    @classmethod
    def of(cls, name: str, replicas: int, in_sync: int | None, values: Mapping[str, Mapping[str, Any]]) -> Self:
        """Returns a topic by its configuration, as the library gives it."""

        def value(key: str) -> str | None:
            return values.get(key, {}).get("value")

        in_sync_min, size = value("min.insync.replicas"), value("max.message.bytes")
        return cls(
            name,
            replicas,
            in_sync,
            int(in_sync_min) if in_sync_min else None,
            int(size) if size else None,
            value("unclean.leader.election.enable") == "true",
        )

    @property
    def shown(self) -> str:
        """The topic in an answer."""
        return f"topic {self.name}" if self.name else "a topic that is made by the brokers' defaults"


@dataclass(frozen=True, slots=True)
class ExaminedKafka:
    """What the brokers say of the topics that items go to.

    Attributes:
        where: KAFKA_BOOTSTRAP_SERVERS.
        topics: Those of stored sites that are there, and one that would be made.
        wanted: How many topics stored sites have.
        refused: Those of them that aren't there and can't be made, with the reason.
        unasked: Why it isn't known whether those that aren't there can be made; empty: it is.
    """

    where: str
    brokers: int
    topics: tuple[Topic, ...]
    wanted: int
    refused: Mapping[str, str]
    unasked: str = ""


@contextlib.asynccontextmanager
async def open_kafka(settings: Mapping[str, Any]) -> AsyncIterator[ExaminedKafka]:
    """Asks the brokers; in a thread, since their library blocks."""
    prefix = config.TOPIC_PREFIX.of(settings)
    names = {prefix + site for site in await stored_sites(settings) or ()}
    yield await asyncio.to_thread(_ask, settings, names, prefix + PROOF)


def _ask(settings: Mapping[str, Any], wanted: Collection[str], proof: str) -> ExaminedKafka:
    with contextlib.closing(kafka_admin(settings)) as admin:
        there = {topic["name"]: topic for topic in admin.describe_topics()}
        creatable, refused, unasked = _would_be_made(admin, sorted({*wanted, proof} - there.keys()))
        of_sites = {*wanted, *(name + ALSO_SUFFIX for name in wanted)}  # what lies in `proof` may be lost
        topics = [*_described(admin, {name: there[name] for name in sorted(of_sites & there.keys())}), *creatable]
        return ExaminedKafka(
            ",".join(map(redacted_address, config.KAFKA_BOOTSTRAP_SERVERS.of(settings))),
            len(admin.describe_cluster()["brokers"]),
            tuple(topics),
            len(wanted),
            {name: why for name, why in refused.items() if name in wanted},
            unasked,
        )


def _described(admin: KafkaAdminClient, there: Mapping[str, Any]) -> Iterator[Topic]:
    """Yields topics that are there."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in there]
    configs = admin.describe_configs(resources, config_filter="all").get("topic", {}) if resources else {}
    for name, topic in there.items():
        replicas = min((len(partition["replica_nodes"]) for partition in topic["partitions"]), default=0)
        in_sync = min((len(partition["isr_nodes"]) for partition in topic["partitions"]), default=0)
        yield Topic.of(name, replicas, in_sync, configs.get(name, {}))


def _would_be_made(admin: KafkaAdminClient, names: list[str]) -> tuple[list[Topic], dict[str, str], str]:
    """Asks for topics without having them made.

    Returns:
        How one would be; why others can't be made; and why that isn't known, where the brokers don't say.
    """
    if not names:
        return [], {}, ""
    try:
        answers = admin.create_topics(names, validate_only=True, raise_errors=False)["topics"]
    except KafkaError as error:  # a broker before 2.4 can't be asked
        return [], {}, str(error)
    errors = {answer["name"]: for_code(answer["error_code"]) for answer in answers if answer["error_code"]}
    errors = {name: error for name, error in errors.items() if error is not TopicAlreadyExistsError}  # by now
    unasked = next((error.__name__ for error in errors.values() if error.retriable), "")  # a worker tries again
    refused = {name: error.__name__ for name, error in errors.items() if not error.retriable}
    topics = [
        Topic.of("", answer["replication_factor"], None, answer.get("configs") or {})
        for answer in answers
        if not answer["error_code"]
    ]
    return topics[:1], refused, unasked


async def brokers(examined: ExaminedKafka) -> Finding:
    """Looks at whether anybody answers."""
    return ok(f"{'1 broker' if examined.brokers == 1 else f'{examined.brokers} brokers'} ({examined.where})")


async def topics(examined: ExaminedKafka) -> Finding:
    """Looks at whether each stored site's items have a topic, or get one."""
    if examined.refused:
        name, why = next(iter(examined.refused.items()))
        return loss(
            f"topic {name} isn't there and can't be made ({why}; so are {len(examined.refused)} of {examined.wanted}): "
            "its site's items are refused and their pages fail; make it, or grant Create"
        )
    if examined.unasked:
        return not_tried(f"some aren't there, and the brokers don't say whether they can be made: {examined.unasked}")
    if not examined.wanted:
        return ok("no site is stored yet; each gets its topic with its first item")
    return ok(f"each of {examined.wanted} stored sites has its topic, or gets it with its first item")


async def replication(examined: ExaminedKafka) -> Finding:
    """Looks at how many brokers have each item."""
    return worst(
        (finding for topic in examined.topics for finding in _kept(topic, examined.brokers)),
        f"{SAFE_REPLICAS} copies or more, of which {SAFE_IN_SYNC} acknowledge",
    )


def _kept(topic: Topic, brokers: int) -> Iterator[Finding]:
    if topic.in_sync_min is not None and topic.in_sync_min > topic.replicas:
        yield stop(
            f"{topic.shown} wants {topic.in_sync_min} copies in sync (min.insync.replicas) and has {topic.replicas}: "
            "it takes nothing; give it more copies, or lower that number"
        )
    elif topic.in_sync is not None and topic.in_sync < (topic.in_sync_min or 1):
        yield stop(
            f"{topic.shown} wants {topic.in_sync_min or 1} copies in sync, and {topic.in_sync} are: it takes nothing "
            "until more brokers are there; claims stop"
        )
    elif topic.in_sync is not None and topic.in_sync < topic.replicas:
        yield advice(
            f"{topic.shown} has {topic.in_sync} of its {topic.replicas} copies in sync: see which broker is away"
        )
    if topic.loses_leaders:
        yield loss(
            f"{topic.shown} lets a copy that lacks items take the place of the leader: they are lost, though their "
            "pages are finished; set unclean.leader.election.enable=false"
        )
    if topic.replicas < SAFE_IN_SYNC:
        more = "" if brokers >= SAFE_REPLICAS else f", on {SAFE_REPLICAS} brokers (now {brokers})"
        yield advice(
            f"{topic.shown} has one copy: a power cut or a lost disk of its broker takes items whose pages are "
            f"finished; give it {SAFE_REPLICAS}{more}, and min.insync.replicas={SAFE_IN_SYNC}"
        )
    elif topic.in_sync_min is not None and topic.in_sync_min < SAFE_IN_SYNC:
        yield advice(
            f"{topic.shown} acknowledges an item that one broker alone has, while the others are behind; set "
            f"min.insync.replicas={SAFE_IN_SYNC}"
        )
    elif topic.in_sync_min is None:
        yield not_tried(f"{topic.shown}: this user may not read its configuration (DescribeConfigs)")


async def message_size(examined: ExaminedKafka) -> Finding:
    """Looks at whether the largest items are taken."""
    return worst(map(_takes, examined.topics), f"items of up to {MESSAGE_BYTES:,} bytes are taken")


def _takes(topic: Topic) -> Finding:
    if topic.message_max_bytes is None:
        return not_tried(f"{topic.shown}: this user may not read its configuration (DescribeConfigs)")
    if topic.message_max_bytes < MESSAGE_BYTES:
        return loss(
            f"{topic.shown} refuses items of more than {topic.message_max_bytes:,} bytes, whose pages then fail as "
            f"message-too-large; the crawl sends up to {MESSAGE_BYTES:,}: set max.message.bytes={2 * MESSAGE_BYTES}"
        )
    return ok("")
