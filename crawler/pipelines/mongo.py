"""The Mongo sink: one document for each page, upserted by `_id`, so that a page delivered twice is there once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

import bson
import orjson
from bson.errors import InvalidDocument
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from crawler.errors import ConfigError, UnavailableError
from crawler.pipelines.sink import Record, Sink
from crawler.redaction import redacted_address
from crawler.servers.mongo import mongo_client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymongo import AsyncMongoClient

COLLECTION = "items"
INDEXES = ("fingerprint",), ("plan",), ("resource", "time")  # to find a page, a plan's items, a site's latest
DOCUMENT_MAX_BYTES = 16 * 1024 * 1024  # MongoDB's limit
DEPTH_MAX = 100  # levels in `extra`: beyond some 180, MongoDB would refuse the whole batch
TOO_LARGE = "document-too-large"
NOT_ENCODABLE = "not-encodable"
REFUSED = "refused-by-mongo"
DUPLICATE_KEY = 11_000  # two workers upserted the same new `_id` at once; a second try replaces the document
# Codes of single writes that are about the server's state and not about the document
# (https://www.mongodb.com/docs/manual/reference/error-codes/).
SERVER_AT_FAULT = frozenset(
    {6, 7, 13, 50, 89, 91, 112, 189, 262, 9_001, 10_107, 11_600, 11_601, 11_602, 13_435, 13_436, 14_031}
)

logger = logging.getLogger(__name__)

Document = tuple[str, RawBSONDocument]  # the message's id, and the document that it stands in


class MongoSink(Sink):
    """Upserts messages into the collection `items`, whatever their site; `_id` is the message's `id`."""

    def __init__(self, client: AsyncMongoClient[Any], database: str, address: str) -> None:
        self._client = client
        self._items = client.get_database(database).get_collection(COLLECTION)
        self._address = redacted_address(address)
        self._indexed = False  # whether the indexes were made, or refused

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink; the server is first asked by a probe or a batch.

        Raises:
            ConfigError: A setting can't be used.
        """
        database = str(settings.get("MONGO_DATABASE") or "")
        if not database or set(database) & set('/\\. "$\0'):
            raise ConfigError("MONGO_DATABASE", database, "a database's name")
        return cls(mongo_client(settings), database, str(settings.get("MONGO_URL")))

    async def send(self, batch: list[Record]) -> Mapping[int, str]:
        """Upserts a batch.

        Returns:
            The documents that Mongo will never take.

        Raises:
            UnavailableError: Mongo is away or takes no writes; documents of the batch may be there already.
        """
        refused: dict[int, str] = {}
        documents: dict[int, Document] = {}
        for position, record in enumerate(batch):
            document = _document(record.value)
            if isinstance(document, str):
                refused[position] = document
            else:
                documents[position] = document
        try:
            await self._index()
            failed = await self._upsert(documents)
            again = {position: documents[position] for position, code in failed.items() if code == DUPLICATE_KEY}
            failed |= dict.fromkeys(again, 0) | await self._upsert(again)  # code 0: written this time
        except PyMongoError as error:
            raise UnavailableError(f"Mongo at {self._address}: {_reason(error)}") from None
        return refused | {position: REFUSED for position, code in failed.items() if code}

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
                logger.warning("mongo: no index on %s: %s", ", ".join(fields), _reason(error))
        self._indexed = True

    async def _upsert(self, documents: Mapping[int, Document]) -> dict[int, int]:
        """Writes the documents in one call.

        Returns:
            The error code of each document that the server refused, by position; empty when it took all.

        Raises:
            PyMongoError: The server is away, or refuses for a reason of its own.
        """
        if not documents:
            return {}
        positions = list(documents)
        writes: list[ReplaceOne[Any]] = [
            ReplaceOne({"_id": identity}, document, upsert=True) for identity, document in documents.values()
        ]
        try:
            await self._items.bulk_write(writes, ordered=False)
        except BulkWriteError as error:
            failures = error.details["writeErrors"]
            if error.details.get("writeConcernErrors") or any(one["code"] in SERVER_AT_FAULT for one in failures):
                raise
            for one in failures:
                if one["code"] != DUPLICATE_KEY:
                    logger.warning("mongo refuses %s: %s", writes[one["index"]], str(one.get("errmsg", ""))[:200])
            return {positions[one["index"]]: one["code"] for one in failures}
        return {}


def _document(value: bytes) -> Document | str:
    """Returns a message as a document, or the reason why it can't be one.

    It is encoded to BSON here: an error at that stage would cost the whole batch.
    """
    message = orjson.loads(value)
    try:
        message["extra"] = _inert(message["extra"], DEPTH_MAX)
        encoded = bson.encode({"_id": message["id"], **message})
    except (InvalidDocument, OverflowError, RecursionError):
        return NOT_ENCODABLE
    return (message["id"], RawBSONDocument(encoded)) if len(encoded) <= DOCUMENT_MAX_BYTES else TOO_LARGE


def _inert(value: Any, depth: int) -> Any:
    """Returns JSON without keys that Mongo could take for operators or paths: full-width signs replace `$` and `.`.

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
    return value


def _reason(error: PyMongoError) -> str:
    """Returns an error in few words. Its whole text may fill pages, and holds the documents."""
    if isinstance(error, BulkWriteError):
        failures = error.details.get("writeConcernErrors") or error.details.get("writeErrors") or [{}]
        return f"code {failures[0].get('code')}: {str(failures[0].get('errmsg', ''))[:120]}"
    if isinstance(error, OperationFailure):
        return f"{(error.details or {}).get('codeName') or type(error).__name__} (code {error.code})"
    return type(error).__name__
