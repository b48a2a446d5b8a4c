"""Who takes part: how each is installed, what a run of it needs, and what it has delivered."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
import redis

from benchmarks.side_by_side import install, ours, pages
from benchmarks.side_by_side.checks import check
from benchmarks.side_by_side.measure import Command
from testbed.servers import Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.side_by_side.servers import Nginx
    from crawler.base.models import Frontier

CONCURRENCY = 64  # requests in flight, of each contender; also CONCURRENT_REQUESTS of ours
SERVERS_CORE, CRAWLER_CORE = 0, 1


@dataclass(frozen=True, slots=True)
class Round:
    """What all contenders of one run are given.

    Attributes:
        folder: Empty, and this run's own.
        nginx: Serves the pages.
        pages: How many of them are to be crawled.
    """

    folder: Path
    nginx: Nginx
    pages: int


@dataclass(frozen=True, slots=True)
class Job:
    """A run, ready to begin.

    Attributes:
        commands: Started together.
        verify: Called at the end; raises HeadroomError when a page is missing or was read wrong.
        is_done: For a crawler that doesn't end by itself: whether its work is done.
        notes: Called before `verify`; what else is worth a column.
    """

    commands: list[Command]
    verify: Callable[[], None]
    notes: Callable[[], dict[str, float]] = dict
    is_done: Callable[[], bool] | None = None


class Contender(ABC):
    """A crawler.

    Attributes:
        name: For `--only`.
        title: In the table.
    """

    name: str
    title: str

    @abstractmethod
    def install(self) -> None:
        """Makes what it needs, once.

        Raises:
            UnavailableError: It can't take part here.
        """

    @abstractmethod
    def ready(self, given: Round) -> contextlib.AbstractContextManager[Job]:
        """Prepares a run; leaving the context ends what it has started."""


@dataclass(slots=True)
class Peer(Contender):
    """A script of `peers/` in an environment of its own."""

    name: str
    title: str
    script: str
    environment: str
    _python: str = field(default="", init=False)

    def install(self) -> None:
        """Makes the environment."""
        self._python = install.peer_python(self.environment)

    @contextlib.contextmanager
    def ready(self, given: Round) -> Iterator[Job]:
        """Writes the list of pages."""
        source = given.folder / "urls.txt"
        source.write_text("".join(f"{url}\n" for url in _urls(given)))
        with self._fed(given) as fed:
            output = given.folder / "items.jsonl"
            words = [*self._program(), fed or str(source), str(output), str(CONCURRENCY)]
            yield Job(
                [Command(words, CRAWLER_CORE, directory=given.folder)],
                lambda: check(_lines(output), given.pages, given.nginx.url),
            )

    def _program(self) -> list[str]:
        return [self._python, str(install.HERE / "peers" / self.script)]

    def _fed(self, _given: Round) -> contextlib.AbstractContextManager[str]:
        """Returns a context that gives the first word, where that isn't the list of pages."""
        return contextlib.nullcontext("")


class ScrapyRedis(Peer):
    """Takes its start URLs from a list in a Redis of its own."""

    __slots__ = ()

    @contextlib.contextmanager
    def _fed(self, given: Round) -> Iterator[str]:
        with Redis(given.folder) as server, contextlib.closing(redis.Redis(port=server.port)) as client:
            client.rpush("threads:start_urls", *(orjson.dumps({"url": url}) for url in _urls(given)))
            yield server.url


class Colly(Peer):
    """A program in Go."""

    __slots__ = ()

    def install(self) -> None:
        """Builds it."""
        self._python = install.colly()

    def _program(self) -> list[str]:
        return [self._python]


@dataclass(slots=True)
class Ours(Contender):
    """`scrapy crawl`, on a frontier that holds all pages.

    Attributes:
        settings: For `-s`.
        workers: On as many cores, from the crawler's on; with two, the servers share the first.
        frontiers: How many there are, each in a Redis of its own with an equal part of the pages; workers take them in
            turns.
        profile: File for what `sampler.py` sees in the worker; None: it isn't looked into.
    """

    name: str
    title: str
    settings: Mapping[str, object] = field(default_factory=dict)
    workers: int = 1
    frontiers: int = 1
    spider: str = "consumer"
    profile: Path | None = None
    frontier: ClassVar[Frontier] = "content"
    _python: str = field(default="", init=False)

    def install(self) -> None:
        """Makes the environment."""
        self._python = install.our_python()

    @contextlib.contextmanager
    def ready(self, given: Round) -> Iterator[Job]:
        """Starts Redis and fills the frontier."""
        with contextlib.ExitStack() as servers:
            filled = [self._filled(given, servers, number) for number in range(self.frontiers)]
            urls = [server.url for server in filled]
            environment: dict[str, str] = {}
            settings = {**self.settings, **self._sinks(given, servers, environment)}
            words = ours.words(self._python, self.spider, settings, self.profile)
            commands = [
                Command(
                    words,
                    (CRAWLER_CORE + number) % 2,
                    {**environment, "REDIS_URL": urls[number % self.frontiers]},
                    install.ROOT,
                )
                for number in range(self.workers)
            ]
            work = ours.RedisWork([server.port for server in filled])
            yield Job(
                commands,
                lambda: self._verify(given, urls, environment),
                lambda: work.per_page(given.pages),
                self._is_done(given, urls),
            )

    def _filled(self, given: Round, servers: contextlib.ExitStack, number: int) -> Redis:
        """Starts a Redis and fills its frontier with its part of the pages."""
        server = servers.enter_context(Redis(given.folder / f"frontier-{number}"))
        asyncio.run(ours.fill(server.url, self.frontier, self._part(given, number), given.nginx.url))
        return server

    def _part(self, given: Round, number: int) -> range:
        """Returns the pages of a frontier."""
        return range(number, given.pages, self.frontiers)

    def _is_done(self, _given: Round, _redis_urls: list[str]) -> Callable[[], bool] | None:
        return None  # STOP_WHEN_DONE

    def _sinks(
        self, given: Round, _servers: contextlib.ExitStack, _environment: dict[str, str]
    ) -> Mapping[str, object]:
        return {"ITEM_SINKS": "files", "ITEMS_DIR": given.folder / "items"}

    def _verify(self, given: Round, redis_urls: list[str], _environment: Mapping[str, str]) -> None:
        check(ours.file_items(given.folder / "items"), given.pages, given.nginx.url)
        self._check_ledgers(given, redis_urls)

    def _check_ledgers(self, given: Round, redis_urls: list[str]) -> None:
        for number, url in enumerate(redis_urls):
            asyncio.run(ours.check_ledger(url, self.frontier, len(self._part(given, number))))


class OursDelivering(Ours):
    """Delivers to Kafka and Mongo."""

    __slots__ = ()

    def _sinks(self, given: Round, servers: contextlib.ExitStack, environment: dict[str, str]) -> Mapping[str, object]:
        from testbed.servers import Kafka, Mongo

        kafka, mongo = Kafka(given.folder), Mongo(given.folder)
        servers.enter_context(kafka)
        servers.enter_context(mongo)
        environment |= {"KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap, "MONGO_URL": mongo.url, "MONGO_DATABASE": "bench"}
        return {"ITEM_SINKS": "kafka,mongo", "TOPIC_PREFIX": "bench."}

    def _verify(self, given: Round, redis_urls: list[str], environment: Mapping[str, str]) -> None:
        check(ours.mongo_items(environment), given.pages, given.nginx.url)
        ours.check_kafka({**environment, "TOPIC_PREFIX": "bench."}, given.pages)
        self._check_ledgers(given, redis_urls)


class OursSearching(Ours):
    """The producer: each page is one of results, whose links are offered."""

    __slots__ = ()
    frontier = "nav"

    def _is_done(self, given: Round, redis_urls: list[str]) -> Callable[[], bool]:
        # It would wait for consumers.
        return lambda: sum(asyncio.run(ours.finished(url, "nav")) for url in redis_urls) >= given.pages

    def _verify(self, given: Round, redis_urls: list[str], _environment: Mapping[str, str]) -> None:
        self._check_ledgers(given, redis_urls)
        threads = {number for index in range(given.pages) for number in pages.thread(index).links}
        asyncio.run(ours.check_offers(redis_urls[0], given.pages * pages.LINKS, len(threads)))


BARE = "aiohttp"  # what the ratios are of
OURS: tuple[Ours, ...] = (
    Ours("files", "**Headroom**, files"),
    Ours("public", "**Headroom**, files, public engine", {"FAST_ENGINE": False}),
    OursDelivering("kafka", "**Headroom**, Kafka and Mongo"),
    OursSearching("producer", "**Headroom**, producer", spider="producer"),
    Ours("apart", "**Headroom**, files, 2 consumers, a Redis each", workers=2, frontiers=2),
    Ours("two", "**Headroom**, files, 2 consumers, one Redis", workers=2),
)
CONTENDERS: tuple[Contender, ...] = (
    Peer(BARE, "aiohttp + parsel", "bare_parsel.py", "parsel"),
    Peer("turbohtml", "aiohttp + turbohtml", "bare_turbohtml.py", "turbohtml"),
    *OURS,
    Colly("colly", "colly (Go)", "colly", "colly"),
    Peer("crawlee", "crawlee, impit", "crawlee_crawl.py", "crawlee"),
    Peer("tuned", "Scrapy, tuned", "scrapy_tuned.py", "scrapy"),
    Peer("scrapy", "Scrapy", "scrapy_plain.py", "scrapy"),
    ScrapyRedis("scrapy-redis", "scrapy-redis", "scrapy_redis_spider.py", "scrapy-redis"),
)


def _urls(given: Round) -> Iterator[str]:
    return (given.nginx.url + pages.path(number) for number in range(given.pages))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in lines:
            yield orjson.loads(line)
