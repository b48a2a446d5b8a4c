"""The servers that a demo needs: those that the user named, and own ones for the rest, started side by side."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psutil
from kafka.errors import KafkaError
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError

from crawler import settings
from crawler.errors import UnavailableError
from crawler.redaction import redacted_address
from crawler.servers.kafka import kafka_admin
from crawler.servers.mongo import mongo_client
from crawler.servers.redis import redis_async
from testbed.servers import Forum, Kafka, Mongo, Redis

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from testbed.servers import Server

ADDRESSES = {"redis": "REDIS_URL", "mongo": "MONGO_URL", "kafka": "KAFKA_BOOTSTRAP_SERVERS"}
# What separates a demo from all else in a server that isn't its own.
ROOMS = {"redis": "KEY_PREFIX", "mongo": "MONGO_DATABASE", "kafka": "TOPIC_PREFIX"}
OPTIONAL = ("mongo", "kafka")  # sinks that a demo can do without
KILL_LOOK_SECONDS = 0.05  # between two looks whether a start has noticed that it was ended

_servers_logger = logging.getLogger("testbed.servers")


class Services:
    """Redis, the forum, and the sinks' servers.

    Own servers keep the settings' usual names; in a server that the user named, the demo keeps to a prefix, database
    and topics of its own, which `leave` removes.

    Attributes:
        values: The settings that say where the servers are, for connections and workers.
        left_out: Sink -> why it doesn't take part; known when `ready` has returned.

    Args:
        folder: For data and logs of own servers.
        named: Addresses that the user gave, by setting.
        tell: Called with a line that the user should see; from any thread.
    """

    def __init__(self, folder: Path, named: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self.named = {name: named[key] for name, key in ADDRESSES.items() if named.get(key)}
        self.left_out: dict[str, str] = {}
        self._tell = tell
        self._own: dict[str, Server] = {}
        room = f"demo-{secrets.token_hex(4)}"
        names = {"redis": room, "mongo": room, "kafka": f"{room}."}
        self.values: dict[str, str] = {}
        self.forum = self._own["forum"] = Forum(folder)
        for name, key in ADDRESSES.items():
            self.values[ROOMS[name]] = names[name] if name in self.named else str(getattr(settings, ROOMS[name]))
            if name in self.named:
                self.values[key] = self.named[name]
                continue
            try:
                self.values[key] = self._build(name, folder)
            except UnavailableError as error:
                self._leave_out(name, error)
        self.values["REDIS_CLUSTER"] = str(settings.REDIS_CLUSTER) if "redis" in self.named else "0"
        self._entered: set[str] = set()  # named servers that hold, or may hold, something of ours
        self._executor = ThreadPoolExecutor(len(self._own), thread_name_prefix="start")
        self._starts: dict[str, Future[None]] = {}
        self._news = _News(tell)

    @property
    def sinks(self) -> tuple[str, ...]:
        """What ITEM_SINKS says: files, and the servers that nothing is known against."""
        return ("files", *(name for name in OPTIONAL if name not in self.left_out))

    def begin(self) -> None:
        """Starts the own servers, side by side; `ready` waits for them."""
        _servers_logger.addHandler(self._news)
        _servers_logger.setLevel(logging.INFO)
        for name, server in self._own.items():
            self._starts[name] = self._executor.submit(self._start, server)

    async def ready(self, name: str) -> None:
        """Waits until a server answers. An own one of `OPTIONAL` that can't be started is left out instead.

        Raises:
            UnavailableError: It can't be started, or it was named and doesn't answer.
        """
        if name in self.named:
            await self._check(name)
            self._entered.add(name)
            self._tell(f"{name}: {redacted_address(self.named[name])}, as {ADDRESSES[name]} says")
        elif name in self._starts:
            try:
                await asyncio.wrap_future(self._starts[name])
            except UnavailableError as error:
                self._leave_out(name, error)

    def kill(self) -> None:
        """Ends every process that this one has started, whether its start is over or not."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        here = psutil.Process()
        while wait(self._starts.values(), KILL_LOOK_SECONDS).not_done:
            for child in here.children():  # a server's start may be waiting for another program, such as Maven
                child.kill()
        for server in self._own.values():
            server.kill()
        _servers_logger.removeHandler(self._news)

    async def leave(self) -> None:
        """Removes what the demo wrote to servers that the user named."""
        goodbyes: dict[str, Callable[[], Awaitable[None]]] = {
            "redis": self._forget_keys,
            "mongo": self._drop_database,
            "kafka": lambda: asyncio.to_thread(self._delete_topics),
        }
        for name in sorted(self._entered):
            try:
                await goodbyes[name]()
            except (UnavailableError, RedisError, PyMongoError, KafkaError) as error:
                self._tell(f"{name}: {self.values[ROOMS[name]]} is left there: {type(error).__name__}")

    def _build(self, name: str, folder: Path) -> str:
        """Returns the address of an own server, which isn't started yet."""
        if name == "redis":
            self._own[name] = redis = Redis(folder)
            return redis.url
        if name == "mongo":
            self._own[name] = mongo = Mongo(folder)
            return mongo.url
        self._own[name] = kafka = Kafka(folder)
        return kafka.bootstrap

    def _leave_out(self, name: str, error: UnavailableError) -> None:
        if name not in OPTIONAL:
            raise error
        self.left_out[name] = str(error)
        self._tell(f"{name}: left out. {error}")

    def _start(self, server: Server) -> None:
        began = time.monotonic()
        server.start()
        self._tell(f"{server.name}: own server, up after {time.monotonic() - began:.1f} s")

    async def _check(self, name: str) -> None:
        """Asks a named server for a sign of life: a demo that waits for a wrong address explains nothing."""
        address = redacted_address(self.named[name])
        try:
            if name == "redis":
                async with redis_async(self.values) as redis:
                    await redis.ping()
            elif name == "mongo":
                async with mongo_client(self.values) as mongo:
                    await mongo.admin.command("ping")
            else:
                await asyncio.to_thread(lambda: kafka_admin(self.values).close())
        except (RedisError, PyMongoError) as error:
            raise UnavailableError(f"{ADDRESSES[name]}: {address} doesn't answer ({type(error).__name__})") from None

    async def _forget_keys(self) -> None:
        async with redis_async(self.values) as redis:
            ours = f"{self.values['KEY_PREFIX']}:*"
            keys: list[Any] = [key async for key in redis.scan_iter(match=ours, count=1_000)]
            if keys:
                await redis.unlink(*keys)

    async def _drop_database(self) -> None:
        async with mongo_client(self.values) as mongo:
            await mongo.drop_database(self.values["MONGO_DATABASE"])

    def _delete_topics(self) -> None:
        with closing(kafka_admin(self.values)) as admin:
            prefix = self.values["TOPIC_PREFIX"]
            if topics := [topic for topic in admin.list_topics() if topic.startswith(prefix)]:
                admin.delete_topics(topics)


class _News(logging.Handler):
    """Hands on what servers log about their start, such as a download."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Tells the record's text."""
        self._tell(record.getMessage())
