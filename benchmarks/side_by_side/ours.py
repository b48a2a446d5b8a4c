"""Our own runs: `scrapy crawl consumer` or `producer` as anybody starts them, on a frontier filled beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import redis as redis_client
from pymongo import MongoClient

from benchmarks.side_by_side import pages
from benchmarks.side_by_side.install import HERE
from crawler import config, sites
from crawler.base.errors import HeadroomError
from crawler.base.models import Seed
from crawler.pipelines.mongo import COLLECTION
from crawler.plans.operator import Operator
from testbed.audit import topic_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.base.models import Frontier
    from crawler.frontier.ledger import Account

SITES_FOLDER = str(HERE / "sites")
SITE, PLAN = "side_by_side", "bench"
SETTINGS: dict[str, object] = {
    "STOP_WHEN_DONE": True,
    "ALLOW_PRIVATE_ADDRESSES": True,  # the pages are on loopback
    "NODE_CPU_LIMIT_PERCENT": 100,  # the run is meant to fill its core
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "FILES_STORE": "",  # links are delivered as `images`; nothing of them is fetched
}


async def fill(redis_url: str, frontier: Frontier, numbers: Collection[int], base: str) -> None:
    """Offers pages, by their numbers, so that a run only crawls.

    Raises:
        HeadroomError: Redis didn't take them all for new.
    """
    loaded = sites.load(SITE, SITES_FOLDER).named(SITE, base)
    async with Operator.connect({"REDIS_URL": redis_url}, begin=True) as operator:
        await operator.registry.save_sites((loaded,))
        seeds = [Seed(base + pages.path(index), PLAN, SITE, frontier) for index in numbers]
        fresh = sum(await operator.queues[frontier].offer(seeds))
    if fresh != len(numbers):
        raise HeadroomError(f"{fresh} seeds were new, expected {len(numbers)}")


async def finished(redis_url: str, frontier: Frontier) -> int:
    """Returns how many seeds the ledger calls finished."""
    return (await _account(redis_url, frontier)).finished


async def check_ledger(redis_url: str, frontier: Frontier, number: int) -> None:
    """Asks the ledger whether all pages were finished.

    Raises:
        HeadroomError: They weren't, or the ledger doesn't reconcile with a recount.
    """
    account = await _account(redis_url, frontier)
    if account.finished != number or account.difference:
        raise HeadroomError(f"expected {number} finished seeds: {account.as_dict()}")


async def check_offers(redis_url: str, offered: int, different: int) -> None:
    """Asks the ledger whether a producer has offered what stands on its pages.

    Args:
        offered: Links on all pages.
        different: Pages that they lead to.

    Raises:
        HeadroomError: It hasn't.
    """
    account = await _account(redis_url, "content")
    if (account.offered, account.ready) != (offered, different):
        raise HeadroomError(f"expected {offered} offers, {different} of them new: {account.as_dict()}")


def check_kafka(settings: Mapping[str, str], number: int) -> None:
    """Reads the topic.

    Raises:
        HeadroomError: It doesn't hold an item of every page.
    """
    found = len(topic_ids(settings, config.TOPIC_PREFIX.of(settings) + SITE))
    if found != number:
        raise HeadroomError(f"Kafka has {found} items, expected {number}")


def mongo_items(settings: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """Yields what Mongo holds."""
    with MongoClient[dict[str, Any]](settings["MONGO_URL"]) as client:
        for message in client[config.MONGO_DATABASE.of(settings)][COLLECTION].find():
            yield item(message)


async def _account(redis_url: str, frontier: Frontier) -> Account:
    async with Operator.connect({"REDIS_URL": redis_url}) as operator:
        return (await operator.ledger(PLAN))[PLAN, SITE][frontier]


def words(python: str, spider: str, settings: Mapping[str, object], profile: Path | None = None) -> list[str]:
    """Returns the command that starts a worker; it is run in `ROOT`, which has the code.

    Args:
        python: Of an environment that has what the code needs.
        spider: `consumer` or `producer`.
        settings: For `-s`, besides `SETTINGS`.
        profile: File for what `sampler.py` sees in it; None: it runs as always.
    """
    options = [word for key, value in {**SETTINGS, **settings}.items() for word in ("-s", f"{key}={value}")]
    program = ["-m", "scrapy"] if profile is None else [str(HERE / "sampler.py"), str(profile)]
    return [python, *program, "crawl", spider, *options]


def item(message: Mapping[str, Any]) -> dict[str, object]:
    """Returns a message of ours in the form of `pages.item`."""
    usual = {name: message[name] for name in ("url", "title", "author", "published", "content")}
    return {**usual, **message["extra"], "links": [image["url"] for image in message["images"]]}


def file_items(folder: Path) -> Iterator[dict[str, object]]:
    """Yields what the files sink has written."""
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as lines:
            for line in lines:
                yield item(orjson.loads(line))


class RedisWork:
    """What Redis does for a crawl.

    Args:
        ports: Of Redis servers that do nothing else.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._before_s = 0.0
        for client in self._clients():
            client.config_resetstat()
            self._before_s += _cpu_s(client)

    def per_page(self, number: int) -> dict[str, float]:
        """Returns, for a page: round trips, commands with those that scripts call, and processor time in us."""
        reads = calls = 0
        cpu_s = -self._before_s
        for client in self._clients():
            cpu_s += _cpu_s(client)
            stats: Any = client.info("stats")
            commands: Any = client.info("commandstats")
            reads += int(stats["total_reads_processed"])
            calls += sum(one["calls"] for one in commands.values())
        return {
            "Redis reads": reads / number,
            "Redis commands": calls / number,
            "Redis CPU us": 1_000_000 * cpu_s / number,
        }

    def _clients(self) -> Iterator[redis_client.Redis]:
        """Yields a client of each, closed behind it."""
        for port in self._ports:
            with redis_client.Redis(port=port) as client:
                yield client


def _cpu_s(client: redis_client.Redis) -> float:
    used: Any = client.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])
