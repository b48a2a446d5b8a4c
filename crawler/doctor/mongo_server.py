"""MongoDB: does it let us in, is what it acknowledges safe, and are items found quickly?"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pymongo.errors import OperationFailure, PyMongoError

from crawler import config
from crawler.base.errors import UnavailableError
from crawler.base.redaction import redacted_address
from crawler.doctor.finding import Finding, advice, loss, ok
from crawler.pipelines.mongo import COLLECTION, INDEXES, PROOF, refusal
from crawler.servers.mongo_client import mongo_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pymongo import AsyncMongoClient
    from pymongo.asynchronous.collection import AsyncCollection

MIN_MEMBERS = 3  # the fewest members that are safe, since of two a majority is both
CLOSE_SECONDS = 1.0  # how long closing may take: the library says good-bye to the server, which may be frozen


@dataclass(frozen=True, slots=True)
class ExaminedMongo:
    """A MongoDB that answers.

    Attributes:
        hello: What the server says of itself and of its replica set.
        where: Its address, without credentials.
    """

    client: AsyncMongoClient[dict[str, Any]]
    database: str
    hello: Mapping[str, Any]
    where: str

    @property
    def members(self) -> int:
        """How many servers of the replica set have data; 1: it is none."""
        return max(1, len(self.hello.get("hosts", ())) + len(self.hello.get("passives", ())))


@contextlib.asynccontextmanager
async def open_mongo(settings: Mapping[str, Any]) -> AsyncIterator[ExaminedMongo]:
    """Connects."""
    where = f"MongoDB at {redacted_address(config.MONGO_URL.of(settings))}"
    client = mongo_client(settings)
    database = config.MONGO_DATABASE.of(settings)
    try:
        try:
            hello = await client.admin.command("hello")
            await _log_in(client.get_database(database).get_collection(COLLECTION))
        except PyMongoError as error:
            error_text = str(error).partition(" (configured timeouts")[0]  # what follows is a page of the library's own
            raise UnavailableError(f"{where}: {refusal(error) or error_text}") from error
        yield ExaminedMongo(client, database, hello, where)
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await client.close()


async def _log_in(items: AsyncCollection[Any]) -> None:
    """Reads a document; a user who may write and not read will do."""
    try:
        await items.find_one({"_id": PROOF})
    except OperationFailure as error:
        if refusal(error):
            raise


async def version(examined: ExaminedMongo) -> Finding:
    """Looks at what answers."""
    return ok(f"{(await examined.client.server_info())['version']} ({examined.where})")


async def write_concern(examined: ExaminedMongo) -> Finding:
    """Looks at what has happened to a write by the time that it is acknowledged."""
    concern = examined.client.write_concern.document
    return judge_write_concern(concern, examined.members)


def judge_write_concern(concern: Mapping[str, Any], members: int) -> Finding:
    """Returns what the options of writes mean for a replica set of so many members."""
    copies = concern.get("w", "majority")
    remedy = "take w= out of MONGO_URL, and writes wait for a majority"
    if copies == 0:
        return loss(f"w=0: nobody says whether an item was written, and its page is finished all the same; {remedy}")
    if concern.get("j") is False:
        return loss("j=false: a crash of the server loses items whose pages are finished; take j= out of MONGO_URL")
    if isinstance(copies, int) and copies <= members // 2:
        return loss(f"w={copies} of {members} members: a failover loses items whose pages are finished; {remedy}")
    if copies == 1 and not concern.get("j"):
        return loss(f"w=1: a crash of the server loses items whose pages are finished; {remedy}")
    return ok(", ".join(f"{name}={value}" for name, value in concern.items()) or "the server's own")


async def replicas(examined: ExaminedMongo) -> Finding:
    """Looks at whether there is more than one copy."""
    return judge_replicas(examined.hello, examined.members)


def judge_replicas(hello: Mapping[str, Any], members: int) -> Finding:
    """Returns what it means that a server says this of itself, and knows so many members."""
    if hello.get("msg") == "isdbgrid":
        return ok("a router of a sharded cluster, whose shards are replica sets")
    if "setName" not in hello:
        return advice(
            "one server, no replica set: when its disk is lost, so are the items; claims wait while it is down"
        )
    if members < MIN_MEMBERS:
        return advice(f"a replica set of {members}: writes wait while one is down; have {MIN_MEMBERS}")
    return ok(f"replica set {hello['setName']} of {members}")


async def indexes(examined: ExaminedMongo) -> Finding:
    """Looks at the indexes by which a plan's items, a page and a site's latest are found."""
    items = examined.client.get_database(examined.database).get_collection(COLLECTION)
    there = [tuple(index["key"]) async for index in await items.list_indexes()]
    if not there:
        return ok(f"no collection {COLLECTION} in {examined.database} yet; the first worker makes it, and its indexes")
    return judge_indexes(there)


def judge_indexes(there: Sequence[tuple[str, ...]]) -> Finding:
    """Returns what it means that a collection has indexes on these fields."""
    missing = [fields for fields in INDEXES if not any(index[: len(fields)] == fields for index in there)]
    if missing:
        commands = "; ".join(
            f"db.{COLLECTION}.createIndex({{{', '.join(f'{field}: 1' for field in fields)}}})" for fields in missing
        )
        return advice(f"whoever reads the items waits for want of an index: {commands}. A worker makes it where it may")
    return ok("a page, a plan's items and a site's latest are found by an index; `_id` keeps each page there once")
