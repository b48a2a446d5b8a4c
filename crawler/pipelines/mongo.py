"""The Mongo sink: one document for each page, upserted by `_id`, so that a page delivered twice is there once."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import bson
import orjson
import pymongo
from bson.errors import InvalidDocument
from bson.raw_bson import RawBSONDocument
from pymongo import InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from crawler import config
from crawler.base import log_events, reasons
from crawler.base.errors import AccessError, SinkRejectedError, UnavailableError
from crawler.base.redaction import redacted_address
from crawler.base.seldom import Seldom
from crawler.pipelines.sink import Record, Sink, server_words
from crawler.servers.mongo_client import mongo_client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymongo import AsyncMongoClient
    from pymongo.asynchronous.collection import AsyncCollection

    from crawler.base.log_events import EventLogger
    from crawler.base.reasons import Reason

COLLECTION = "items"
PROOF = "headroom.proof"  # the collection, and the `_id`, of a document that shows whether the database takes writes
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
# The indexes find a page, and the latest items: of a plan, of a site, that a combination found, of all.
INDEXES = ("fingerprint",), ("plans", "time"), ("resource", "time"), ("combinations", "time"), ("time",)
ACCESS_SECONDS = 2.0  # a server that takes longer is taken for one that is away
AUTHENTICATION_FAILED, UNAUTHORIZED = 18, 13  # MongoDB's error codes
# MongoDB's limit, less what `plans` may grow by: a thousand names of plans.
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024 - 64 * 1024
MAX_DEPTH = 100  # most levels in `extra`: beyond some 180, MongoDB would refuse the whole batch
DUPLICATE_KEY = 11_000  # MongoDB's error code for an insert whose document is most likely there already

logger: EventLogger = logging.getLogger(__name__)


class Version(NamedTuple):
    """What a message becomes in Mongo: the version of a page that one visit brought.

    Attributes:
        encoded: With `_id`; `gaps`, the number of files and further pages that it lacks and another visit may
            have; and `plans`.
        plans: The plan that the page was fetched for; empty when there was none. In Mongo, all plans that were given
            the page follow it.
    """

    identity: str
    time: str
    gaps: int
    plans: list[str]
    encoded: RawBSONDocument

    def upsert(self) -> UpdateOne:
        """Returns the write of this document where there is one already.

        It replaces a version with more gaps, or an older one with as many, and a document that has no version yet.
        Either way all plans stay, those of the version that stands first. One update does both, so that it doesn't
        matter which of two workers comes first.
        """
        there = {"$ifNull": ["$plans", []]}
        ours = {"$literal": self.plans}
        gaps_there = {"$ifNull": ["$gaps", 0]}
        wins = {
            "$or": [
                {"$eq": [{"$type": "$time"}, "missing"]},
                {"$lt": [self.gaps, gaps_there]},
                {"$and": [{"$eq": [self.gaps, gaps_there]}, {"$gte": [self.time, "$time"]}]},
            ]
        }
        others = {"$filter": {"input": there, "cond": {"$not": {"$in": ["$$this", ours]}}}}
        replaced = {"$mergeObjects": [{"$literal": self.encoded}, {"plans": {"$concatArrays": [ours, others]}}]}
        kept = {"$mergeObjects": ["$$ROOT", {"plans": {"$concatArrays": [there, {"$setDifference": [ours, there]}]}}]}
        return UpdateOne({"_id": self.identity}, [{"$replaceWith": {"$cond": [wins, replaced, kept]}}], upsert=True)


class MongoSink(Sink):
    """Writes messages to the collection `items`, whatever their site; `_id` is the message's `id`.

    The complete version of a page is never replaced by one with gaps, nor a newer one by an older one. `plans` names
    all plans that want the page: those that it was fetched for, and those that this sink is told of.
    """

    takes_also: ClassVar[bool] = True

    def __init__(self, client: AsyncMongoClient[Any], database: str, address: str) -> None:
        self._client = client
        self._items = client.get_database(database).get_collection(COLLECTION)
        self._address = redacted_address(address)
        self._warn = Seldom(logger.warning)
        self._indexed = False  # whether the indexes were made, or refused

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink; the server is first asked by a probe or a batch.

        Raises:
            ConfigError: A setting can't be used.
        """
        return cls(mongo_client(settings), config.MONGO_DATABASE.of(settings), config.MONGO_URL.of(settings))

    @classmethod
    def place(cls, settings: Mapping[str, Any]) -> str:
        """Returns the collection, and where it is."""
        where = redacted_address(config.MONGO_URL.of(settings))
        return f"collection {COLLECTION} of database {config.MONGO_DATABASE.of(settings)} (MONGO_DATABASE) at {where}"

    async def send(self, batch: list[Record]) -> Mapping[int, Reason]:
        """Writes a batch.

        Returns:
            The documents that Mongo refused.

        Raises:
            UnavailableError: Mongo is away or takes no writes; documents of the batch may be there already.
            SinkRejectedError: Mongo refused the batch as a whole, for the sake of a document or for its own.
        """
        refused: dict[int, Reason] = {}
        documents: dict[int, Version] = {}
        writes: dict[int, InsertOne[Any] | UpdateOne] = {}
        for position, record in enumerate(batch):
            if record.is_also:
                writes[position] = _one_more_plan(record.value)
                continue
            document = _document(record)
            if isinstance(document, str):
                refused[position] = document
            else:
                documents[position] = document
                writes[position] = InsertOne(document.encoded)
        try:
            await self._index()
        except PyMongoError as error:
            raise self._unavailable(error) from None
        try:
            failed = await self._write(writes)
            there = [position for position, answer in failed.items() if answer["code"] == DUPLICATE_KEY]
            for position in there:
                del failed[position]
            failed |= await self._write({position: documents[position].upsert() for position in there})
        except PyMongoError as error:
            if not isinstance(error, OperationFailure) or error.has_error_label("RetryableWriteError"):
                raise self._unavailable(error) from None
            self._warn(log_events.MONGO_REFUSES_BATCH, len(writes), _words(error))
            raise SinkRejectedError("mongo", reasons.REFUSED_BY_MONGO) from None
        if failed:
            words = _words_of(next(iter(failed.values())))
            self._warn(log_events.MONGO_REFUSES_SOME, len(failed), len(writes), words)
        return refused | dict.fromkeys(failed, reasons.REFUSED_BY_MONGO)

    async def check_access(self) -> None:
        """Connects once.

        Raises:
            AccessError: The server refuses the user or the password, or isn't trusted itself. A user who may write and
                not read isn't refused.
        """
        try:
            with pymongo.timeout(ACCESS_SECONDS):
                await self._items.find_one({"_id": PROOF})
        except PyMongoError as error:
            if why := refusal(error):
                raise AccessError(f"Mongo at {self._address}: {why}") from None

    async def prove(self) -> None:
        """Writes a document to the collection `PROOF`, and deletes it; to `items` where this user may write no other.

        Raises:
            UnavailableError: Mongo is away, or takes no writes in either.
        """
        try:
            try:
                await _write_and_delete(self._items.database.get_collection(PROOF))
            except OperationFailure:  # the user has no right to it, or there are no writes at all
                await _write_and_delete(self._items)
        except PyMongoError as error:
            raise self._unavailable(error) from None

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _index(self) -> None:
        """Makes the indexes at the first contact. Items are delivered without them too: reading them is slower then."""
        if self._indexed:
            return
        await self._client.admin.command("ping")
        for fields in INDEXES:
            try:
                await self._items.create_index([(field, 1) for field in fields])
            except OperationFailure as error:
                logger.warning(log_events.MONGO_NO_INDEX, ", ".join(fields), _words(error))
        self._indexed = True

    async def _write(self, writes: Mapping[int, InsertOne[Any] | UpdateOne]) -> dict[int, Mapping[str, Any]]:
        """Makes writes in one call.

        Returns:
            The server's answer to each write that it refused, by position; empty when it took all.

        Raises:
            PyMongoError: The server is away, or refused the call.
        """
        if not writes:
            return {}
        try:
            await self._items.bulk_write(list(writes.values()), ordered=False)
        except BulkWriteError as error:
            if error.details.get("writeConcernErrors"):  # the document was written, but not on a majority
                raise self._unavailable(error) from None
            positions = list(writes)
            return {positions[answer["index"]]: answer for answer in error.details["writeErrors"]}
        return {}

    def _unavailable(self, error: PyMongoError) -> UnavailableError:
        return UnavailableError(f"Mongo at {self._address}: {_words(error)}")


def refusal(error: PyMongoError) -> str:
    """Returns why Mongo refuses this client, and what to do; empty: it is away, or something else is wrong."""
    words = _words(error)
    if isinstance(error, OperationFailure) and error.code == AUTHENTICATION_FAILED:
        return f"it refuses the user or the password in MONGO_URL; its authSource may be another ({words})"
    if isinstance(error, OperationFailure) and error.code == UNAUTHORIZED and "requires authentication" in str(error):
        return f"it asks for a user and a password, and MONGO_URL has none ({words})"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate isn't trusted: tlsCAFile in MONGO_URL names who may sign"
    return ""


async def _write_and_delete(place: AsyncCollection[Any]) -> None:
    """Writes a document that says nothing; deletes it unless this user may not.

    Raises:
        PyMongoError: The server is away, or takes no such document.
    """
    await place.update_one({"_id": PROOF}, {"$inc": {"writes": 1}}, upsert=True)
    with suppress(OperationFailure):
        await place.delete_one({"_id": PROOF})


def _document(record: Record) -> Version | Reason:
    """Returns a message as a document, or the reason why it can't be one.

    It is encoded to BSON here: an error at that stage would cost the whole batch.
    """
    message = orjson.loads(record.value)
    plans = [message["plan"]] if message["plan"] else []
    try:
        message["extra"] = _inert(message["extra"], MAX_DEPTH)
        encoded = bson.encode({"_id": message["id"], **message, "gaps": record.gaps, "plans": plans})
    except (InvalidDocument, OverflowError, RecursionError):
        return reasons.NOT_ENCODABLE
    if len(encoded) > MAX_DOCUMENT_BYTES:
        return reasons.DOCUMENT_TOO_LARGE
    return Version(message["id"], message["time"], record.gaps, plans, RawBSONDocument(encoded))


def _one_more_plan(value: bytes) -> UpdateOne:
    """Returns the write that adds a plan to those of an item.

    An item that isn't there, as one from before this sink was chosen, stays away: a document without content would be
    worse.
    """
    message = orjson.loads(value)
    return UpdateOne({"_id": message["id"]}, {"$addToSet": {"plans": message["plan"]}})


def _inert(value: Any, depth: int) -> Any:
    """Returns JSON without keys that Mongo could take for operators or paths: full-width signs replace `$` and `.`.

    Integers that it can't hold are text.

    Raises:
        RecursionError: Nested deeper than `depth`.
    """
    if depth < 0:
        raise RecursionError
    if isinstance(value, dict):
        return {
            key.replace("$", "\uff04").replace(".", "\uff0e").replace("\0", "\ufffd"): _inert(inner, depth - 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_inert(inner, depth - 1) for inner in value]
    return str(value) if isinstance(value, int) and not MIN_INTEGER <= value <= MAX_INTEGER else value


def _words(error: PyMongoError) -> str:
    """Returns what the server said; the error's class where it said nothing."""
    if not isinstance(error, OperationFailure) or not error.details:
        return type(error).__name__
    details: Mapping[str, Any] = error.details
    return _words_of((details.get("writeConcernErrors") or [details])[0])


def _words_of(answer: Mapping[str, Any]) -> str:
    return f"{answer.get('codeName', 'code')} {answer.get('code')}: {server_words(str(answer.get('errmsg', '')))}"
