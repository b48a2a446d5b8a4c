"""The item: what one page holds, as it leaves through files, Kafka and MongoDB.

A field is said once, in `Item`. From it follow

- the message's JSON Schema; `scrapy items schema > crawler/base/item.schema.json` writes the file that ships;
- for a field marked with `ReadAs`: the key of its name under a site's `content`, and how it is read from a page,
  cleaned, and joined over several pages (`crawler/extract/field_kinds.py` says so for each mark);
- for a field marked with `MayBeCut`: that a message which is too large has less of it, in Kafka and among the newest
  items.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import dataclass, field, fields
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

from pydantic import Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from crawler.base import crawl_time
from crawler.base.models import Settled  # noqa: TC001 -- pydantic reads the annotations

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import DataclassSchema

# The namespace of item ids; with another one every item is new.
ID_NAMESPACE = uuid.UUID("5ab1ad57-3d9c-5b0c-8f5a-8f0f2a6f6c11")
IDS_REMEMBERED = 1_000  # most ids that are kept: more than the pages that a worker has on their way; 0.2 kB each
MESSAGE_SCHEMA = 1  # the version of the message's form
SITE_NAME = r"[a-z0-9][a-z0-9_-]{0,63}"  # a name is fit for a file's name, a Kafka topic and a Redis key
is_site_name = re.compile(SITE_NAME).fullmatch

Uuid = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]  # UTC, ISO 8601 with a Z
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
TimeUnit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
Sureness = Literal["exact", "day", "guess", TimeUnit]
PageType = Literal["article", "forum", "product", "collection", "listing", "documentation", "service"]

Mark = TypeVar("Mark")


class ReadAs(Enum):
    """What a field is, for those that are read from content pages. They are shown to people in this order."""

    LINE = auto()  # text on one line
    NAMES = auto()  # text on one line, with commas between several names
    INSTANT = auto()
    PARAGRAPHS = auto()  # text, each paragraph on a line
    IMAGES = auto()
    VIDEOS = auto()


@dataclass(frozen=True, slots=True)
class MayBeCut:
    """Marks a field of which a message that is too large may have less: the end of a text or list goes first.

    Attributes:
        turn: Fields with a lower one are cut before.
    """

    turn: int


# Each field has its type and, as the last thing beside it, the description that the schema shows.
@dataclass(slots=True)
class Media:
    """An image or video. `path` and `error`: one of them is null, or both while it wasn't asked for."""

    url: Annotated[Uri, "Where it was found."]
    path: Annotated[str | None, "Of the file in the media store; null when there is none."] = None
    sha256: Annotated[Sha256 | None, "Of the file, in hex."] = None
    bytes: Annotated[Annotated[int, Field(ge=0)] | None, "Size of the file."] = None
    error: Annotated[str | None, "Why there is no file; null when there is one."] = None


@dataclass(frozen=True, slots=True)
class Comment:
    """What a reader has written below a page."""

    text: Annotated[str, "Clean text."]
    author: Annotated[str | None, "Null when the page names none."] = None
    published: Annotated[Instant | None, "UTC; null when the page doesn't say."] = None
    parent: Annotated[
        Annotated[int, Field(ge=0)] | None,
        "Which comment it answers: its place in the list, from 0; null for the page.",
    ] = None
    likes: Annotated[int | None, "How many readers like it; null when the page doesn't say."] = None


_NONE_CLEAN: frozenset[str] = frozenset()


class _Unexported:
    """Attributes of an item that are no fields, because every field is part of the message and of Scrapy's feeds."""

    __slots__ = ("_clean", "_gaps", "_visit")

    @property
    def visit(self) -> Any:
        """The visit that the item came from; None for the item of another spider."""
        return getattr(self, "_visit", None)

    @visit.setter
    def visit(self, visit: Any) -> None:
        self._visit = visit

    @property
    def gaps(self) -> int:
        """How much of the page is missing that another visit may have: files and pages (`Outcome.leaves_gap`)."""
        return getattr(self, "_gaps", 0)

    @gaps.setter
    def gaps(self, gaps: int) -> None:
        self._gaps = gaps

    def note_clean(self, *values: object) -> None:
        """Notes those of the values that are texts as clean, whatever field holds them."""
        self._clean = frozenset(value for value in values if isinstance(value, str))

    def is_clean(self, text: str) -> bool:
        """Returns whether a text was noted as clean."""
        return text in getattr(self, "_clean", _NONE_CLEAN)


@dataclass(slots=True)
class Item(_Unexported):
    """What a page holds: a line in a file, a message in Kafka (by `fingerprint`), a document in MongoDB (by `id`)."""

    id: Annotated[Uuid, "The same each time this page is delivered: deduplicate by it."]
    content: Annotated[str, ReadAs.PARAGRAPHS, MayBeCut(3), "Clean text: no markup, scripts or boilerplate."]
    resource: Annotated[str, Field(pattern=f"^{SITE_NAME}$"), "Name of the site, as plans and topics have it."]
    url: Annotated[Uri, Field(pattern="^https?://"), "Canonical URL that was fetched."]
    time: Annotated[Instant, "When the page was fetched, UTC."]
    title: Annotated[str, ReadAs.LINE, MayBeCut(6), "Empty when the page has none."] = ""
    author: Annotated[str | None, ReadAs.NAMES, MayBeCut(6), "Null when the page names none."] = None
    published: Annotated[
        Instant | None, ReadAs.INSTANT, "When its author published it, UTC; null when the page doesn't say."
    ] = None
    images: Annotated[list[Media], ReadAs.IMAGES, MayBeCut(5), "Images of the content, in its order."] = field(
        default_factory=list
    )
    videos: Annotated[list[Media], ReadAs.VIDEOS, MayBeCut(5), "Videos of the content, in its order."] = field(
        default_factory=list
    )
    extra: Annotated[
        dict[str, Any],
        MayBeCut(4),
        "Fields that only this site's definition has. In MongoDB, full-width signs replace `$` and `.` in keys.",
    ] = field(default_factory=dict)
    plan: Annotated[str, "Name of the plan that asked for the page; empty when none did."] = ""
    keywords: Annotated[list[str], "The combination of words whose search led here."] = field(default_factory=list)
    language: Annotated[
        Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None,
        "ISO 639-1 code; null when the text is too short to tell.",
    ] = None
    status: Annotated[int, Field(ge=100, le=599), "HTTP status."] = 200
    sha256: Annotated[
        Sha256, "Of the page's body as fetched, or of the JSON that the rendered page is read from (`from`); in hex."
    ] = ""
    node: Annotated[str, "Host name of the machine that fetched it."] = ""
    fingerprint: Annotated[
        str,
        Field(pattern="^[0-9a-f]{32}$"),
        "Of method, URL, body and site, in hex: the same for every visit of the page. The key of its Kafka message.",
    ] = ""
    missing_pages: Annotated[
        list[Uri], "Further pages of the content that couldn't be had; what follows them is missing, too."
    ] = field(default_factory=list)
    comments: Annotated[
        list[Comment],
        MayBeCut(1),
        "What readers have written below the page, in its order: `text`, `author`, `published`, `parent` (place in the "
        "list, from 0, of the comment that it answers), `likes`.",
    ] = field(default_factory=list)
    truncated: Annotated[list[str], "Names of the fields that were cut, because they were too long."] = field(
        default_factory=list
    )
    canonical_url: Annotated[
        Uri | None,
        "The address that the page gives for itself; null when it gives none. Two items may have the same one.",
    ] = None
    sureness: Annotated[
        dict[str, Sureness],
        "How sure fields are, by name: `exact`; `day`: `published` is the start of that day where the site is, and the "
        "time of day isn't known; `guess`: found by what is usual, or with bytes that can't be read (U+FFFD). A field "
        "that isn't named is what the site's own definition says. `published_unit`: `published` was told by how long "
        "ago it was, and this is the smallest unit that was counted, such as `hour`.",
    ] = field(default_factory=dict)
    rendered: Annotated[
        Settled | None,
        "What the page was taken to be complete by, where a browser rendered it: an element that its site names was "
        "there, it was quiet, or its time was up. Null where no browser was needed.",
    ] = None
    combinations: Annotated[
        list[list[str]],
        "Each combination of the plan's words whose search had led here when the page was claimed, `keywords` first; "
        "at most 50.",
    ] = field(default_factory=list)
    whole: Annotated[
        Annotated[str, Field(pattern="^(mongo|file):items/")] | None,
        "Where the whole item is, in a message from which something was cut because Kafka takes none as large: "
        "`mongo:items/ID`, the document with that `_id` in the collection; or `file:` and a path in the media store. "
        "Null elsewhere.",
    ] = None
    page_type: Annotated[
        PageType | None,
        "What the page was taken for, where it was read without a site's selectors; null where it was read by these.",
    ] = None
    markdown: Annotated[
        str | None,
        MayBeCut(2),
        "The content as Markdown, where the setting ITEM_MARKDOWN asks for it and the page was read without selectors.",
    ] = None
    schema: Annotated[
        int,
        Field(json_schema_extra={"const": MESSAGE_SCHEMA}),
        "Version of this schema. It grows when a field changes its meaning or goes.",
    ] = MESSAGE_SCHEMA

    def __repr__(self) -> str:
        """Returns what tells it from others; Scrapy logs items, and logs are no place for pages."""
        return f"<Item {self.id} of {self.url}>"


def instant_now() -> str:
    """Returns the present time as messages write it, to the millisecond."""
    return crawl_time.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


@lru_cache(IDS_REMEMBERED)  # the spider, a middleware and the delivery each ask for it
def item_id(fingerprint: str) -> str:
    """Returns the `id` of the one item that a page becomes; the page's fingerprint is given in hex.

    It is `str(uuid.uuid5(ID_NAMESPACE, f"{fingerprint}:0"))`, in a third of the time.
    """
    name = f"{fingerprint}:0".encode()  # 0: the item's number on its page
    digest = bytearray(hashlib.sha1(ID_NAMESPACE.bytes + name, usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50  # UUID version 5
    digest[8] = digest[8] & 0x3F | 0x80  # RFC 9562's variant
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _marks(kind: type) -> dict[str, tuple[Any, ...]]:
    """Returns what stands beside the type of each field of a dataclass: constraints, marks, the description."""
    hints = get_type_hints(kind, include_extras=True)
    return {entry.name: hints[entry.name].__metadata__ for entry in fields(kind)}


def _marked(mark: type[Mark]) -> dict[str, Mark]:
    """Returns the fields of an item that have a mark of a kind, each with its mark."""
    return {name: entry for name, marks in _marks(Item).items() for entry in marks if isinstance(entry, mark)}


# The fields that are read from content pages, in the order of their marks.
READ_FIELDS = dict(sorted(_marked(ReadAs).items(), key=lambda field: field[1].value))
# The fields of which a message that is too large has less, in the order in which they are cut.
CUT_FIELDS = tuple(name for name, _ in sorted(_marked(MayBeCut).items(), key=lambda field: field[1].turn))


def item_schema() -> dict[str, Any]:
    """Returns the message's JSON Schema (draft 2020-12)."""
    return message_schema(Item, "item", MESSAGE_SCHEMA)


def message_schema(kind: type, name: str, version: int) -> dict[str, Any]:
    """Returns the JSON Schema of a kind of message: of a dataclass whose fields have a description beside their type.

    Args:
        name: Of the message, in the schema's id and title.
    """
    head = {
        "$schema": _MessageSchema.schema_dialect,
        "$id": f"urn:headroom:{name}:{version}",
        "title": f"Headroom {name}",
    }
    return head | TypeAdapter(kind).json_schema(schema_generator=_MessageSchema)


class _MessageSchema(GenerateJsonSchema):
    """Describes written messages: each has every field, also those with a default, and no other."""

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        """Returns the schema of a message, or of a part of one such as `Media`."""
        described = super().dataclass_schema(schema)
        del described["title"]
        for name, marks in _marks(schema["cls"]).items():
            entry = described["properties"][name]
            entry.pop("title", None)
            entry.pop("default", None)
            entry["description"] = marks[-1]
        return described | {"required": list(described["properties"]), "additionalProperties": False}
