"""Where the monitor finds items: in Mongo where that is a sink, else among the newest ones, which Redis keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.base.errors import UnavailableError
from crawler.base.redaction import redacted_address
from crawler.telemetry import newest_items

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from crawler.monitor.connection import Connection

MONGO_MILLISECONDS = 10_000  # how long one step of a reading may take: with its indexes Mongo takes some milliseconds
BATCH = 100  # most items that Mongo sends at once: half a megabyte
OWN_FIELDS = ("_id", "gaps")  # fields of documents in Mongo that items haven't


@dataclass(frozen=True, slots=True)
class WantedItems:
    """Which items are wanted: those for which all of it holds.

    Attributes:
        site: Its name; empty: of all sites.
        plan: A plan that wants them; empty: of all plans and of none.
        combination: The words whose search found them; empty: any.
        since: Fetched then or later, as items write it; empty: whenever.
        until: Fetched then or earlier.
    """

    site: str = ""
    plan: str = ""
    combination: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


class ItemStore(ABC):
    """Items for people to look at."""

    @abstractmethod
    def read(self, wanted: WantedItems) -> AsyncGenerator[dict[str, Any], None]:
        """Yields items as their messages are, the newest first.

        Raises:
            HeadroomError: The server is away or refuses.
        """

    @abstractmethod
    async def read_one(self, identity: str) -> dict[str, Any] | None:
        """Returns the item with an id; None where there is none.

        Raises:
            HeadroomError: The server is away or refuses.
        """

    async def close(self) -> None:  # noqa: B027 -- one without connections of its own has nothing to close
        """Disconnects."""


def item_store(settings: Mapping[str, Any], connection: Connection) -> ItemStore:
    """Returns where items are, as ITEM_SINKS says."""
    return MongoItems(settings) if "mongo" in config.ITEM_SINKS.of(settings) else RedisItems(connection)


class RedisItems(ItemStore):
    """The newest items of each site, in Redis."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, wanted: WantedItems) -> AsyncGenerator[dict[str, Any], None]:
        """Yields items, the newest first."""
        until_ms = int(datetime.fromisoformat(wanted.until).timestamp() * 1000) if wanted.until else None
        async with self._connection.operator() as operator:
            newest = newest_items.read(operator.redis, operator.keys, site=wanted.site, until_ms=until_ms)
            async with aclosing(newest) as items:
                async for item in items:
                    if _is_wanted(item, wanted):
                        yield item

    async def read_one(self, identity: str) -> dict[str, Any] | None:
        """Returns an item."""
        async with self._connection.operator() as operator:
            return await newest_items.read_one(operator.redis, operator.keys, identity)


def _is_wanted(item: Mapping[str, Any], wanted: WantedItems) -> bool:
    return (
        (not wanted.plan or item.get("plan") == wanted.plan)
        and (not wanted.combination or [*wanted.combination] in _list(item.get("combinations")))
        and item["time"] >= wanted.since
        and (not wanted.until or item["time"] <= wanted.until)
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class MongoItems(ItemStore):
    """The items of the Mongo sink. It connects when it is first asked."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        from crawler.pipelines.mongo import COLLECTION  # late: the library takes a quarter of a second
        from crawler.servers.mongo_client import mongo_client

        self._client = mongo_client(settings)
        self._items = self._client[config.MONGO_DATABASE.of(settings)][COLLECTION]
        self._where = f"Mongo at {redacted_address(config.MONGO_URL.of(settings))}"

    async def read(self, wanted: WantedItems) -> AsyncGenerator[dict[str, Any], None]:
        """Yields items, the newest first."""
        from pymongo.errors import PyMongoError

        cursor = self._items.find(_query(wanted), sort=[("time", -1)], batch_size=BATCH, max_time_ms=MONGO_MILLISECONDS)
        try:
            async with cursor:
                async for document in cursor:
                    yield _item(document)
        except PyMongoError as error:
            raise UnavailableError(f"{self._where}: {type(error).__name__}") from None

    async def read_one(self, identity: str) -> dict[str, Any] | None:
        """Returns an item."""
        from pymongo.errors import PyMongoError

        try:
            document = await self._items.find_one({"_id": identity}, max_time_ms=MONGO_MILLISECONDS)
        except PyMongoError as error:
            raise UnavailableError(f"{self._where}: {type(error).__name__}") from None
        return _item(document) if document else None

    async def close(self) -> None:
        """Disconnects."""
        await self._client.close()


def _query(wanted: WantedItems) -> dict[str, Any]:
    """Returns the query of Mongo. Values that come from people are compared, never taken for operators."""
    query: dict[str, Any] = {}
    if wanted.site:
        query["resource"] = {"$eq": wanted.site}
    if wanted.plan:
        query["plans"] = {"$eq": wanted.plan}
    if wanted.combination:
        query["combinations"] = {"$eq": [*wanted.combination]}
    times = {"$gte": wanted.since, "$lte": wanted.until}
    if bounds := {operator: when for operator, when in times.items() if when}:
        query["time"] = bounds
    return query


def _item(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in OWN_FIELDS}


def moment(text: str) -> str:
    """Returns a moment that somebody wrote, UTC where it names no zone, as items write it.

    Raises:
        ValueError: It is none.
    """
    when = datetime.fromisoformat(text)
    utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
