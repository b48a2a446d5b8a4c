"""Redis and the sinks' servers of one demo: those that the environment names, and own ones for the rest."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError

from crawler import config
from crawler.base.errors import UnavailableError
from crawler.base.redaction import redacted_address
from crawler.servers.kafka_clients import kafka_admin
from crawler.servers.mongo_client import mongo_client
from crawler.servers.redis import redis_async
from testbed.servers import Kafka, Mongo, Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from testbed.stop_signals import StopSignals

ADDRESSES = {"redis": "REDIS_URL", "mongo": "MONGO_URL", "kafka": "KAFKA_BOOTSTRAP_SERVERS"}  # server -> setting
KINDS: dict[str, type[Redis | Mongo | Kafka]] = {"redis": Redis, "mongo": Mongo, "kafka": Kafka}
SERVER_ERRORS = (RedisError, PyMongoError, KafkaError)
SCAN_COUNT = 1_000  # keys per step of a SCAN: about a millisecond of Redis's time


@dataclass(frozen=True, slots=True)
class Services:
    """What runs for one demo, and where.

    Attributes:
        values: Settings that say where each server is, and what keeps the demo apart from all else in it.
        own: The servers that the demo has started, by name.
        sinks: What items are delivered to; files need no server.
        left_out: Sink -> why the demo goes on without it.
    """

    values: dict[str, str]
    own: dict[str, Redis | Mongo | Kafka] = field(default_factory=dict)
    sinks: list[str] = field(default_factory=lambda: ["files", "mongo", "kafka"])
    left_out: dict[str, str] = field(default_factory=dict)


async def start_services(
    folder: Path,
    named: Mapping[str, str],
    stack: contextlib.AsyncExitStack,
    signals: StopSignals,
    note: Callable[[str], None],
) -> Services:
    """Starts the servers that the environment doesn't name; a sink that can't be started is left out.

    Args:
        folder: For the data and logs of own servers.
        named: Addresses of servers to use, by setting.
        stack: When it ends, own servers are killed, and what the demo wrote to named ones is removed.
        signals: They end what blocks.
        note: Called with a line for the user.

    Raises:
        UnavailableError: A named server doesn't answer, or Redis can't be started.
    """
    scope = f"demo-{secrets.token_hex(4)}"
    values = {"KEY_PREFIX": scope, "MONGO_DATABASE": scope, "TOPIC_PREFIX": f"{scope}."}
    values["REDIS_CLUSTER"] = str(config.REDIS_CLUSTER.of(named)) if "REDIS_URL" in named else "0"
    services = Services(values)
    for name, address in ADDRESSES.items():
        if address in named:
            values[address] = named[address]
            await remove(name, values)  # there is nothing yet: this shows that the server answers
            stack.push_async_callback(remove, name, values)
            note(f"{name}: {redacted_address(named[address])}, as {address} says; the demo's part of it is {scope}")
            continue
        try:
            server = KINDS[name](folder)
            if isinstance(server, Kafka):
                fetched = "" if server.is_fetched else "fetching Apache Kafka with Maven, once: 43 MB; then "
                note(f"kafka: {fetched}starting, which takes some seconds")
            with signals.interrupt():
                server.start()
        except UnavailableError as error:
            if name not in services.sinks:
                raise
            services.sinks.remove(name)
            services.left_out[name] = str(error)
            note(f"{name}: left out. {error}")
        else:
            stack.callback(server.kill)
            services.own[name] = server
            values[address] = server.bootstrap if isinstance(server, Kafka) else server.url
            note(f"{name}: own server, up")
    return services


async def remove(name: str, values: Mapping[str, str]) -> None:
    """Removes all that is the demo's from a named server.

    Raises:
        UnavailableError: The server doesn't answer.
    """
    try:
        if name == "redis":
            async with redis_async(values) as redis:
                names = redis.scan_iter(match=f"{values['KEY_PREFIX']}:*", count=SCAN_COUNT)
                keys: list[Any] = [key async for key in names]
                if keys:
                    await redis.unlink(*keys)
        elif name == "mongo":
            async with mongo_client(values) as mongo:
                await mongo.drop_database(values["MONGO_DATABASE"])
        else:
            with contextlib.closing(kafka_admin(values)) as admin:
                if topics := [topic for topic in admin.list_topics() if topic.startswith(values["TOPIC_PREFIX"])]:
                    admin.delete_topics(topics)
    except SERVER_ERRORS as error:
        shown = f"{ADDRESSES[name]}: {redacted_address(values[ADDRESSES[name]])}"
        raise UnavailableError(f"{shown} doesn't answer ({type(error).__name__})") from None
