"""The message that tells a plan of an item which was delivered for another plan first.

A page that several plans want is fetched once and becomes one item, with the name of the plan that asked first. Each
further plan gets this message beside it: it names the item, and says which plan wants it and by which words. From the
dataclass follows the message's JSON Schema; `scrapy items schema --also > crawler/base/also.schema.json` writes the
file that ships.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from crawler.base.item import SITE_NAME, Instant, Uri, Uuid, instant_now, item_id, message_schema

if TYPE_CHECKING:
    from crawler.base.models import Seed

ALSO_SCHEMA = 1  # the version of the message's form


@dataclass(frozen=True, slots=True)
class Also:
    """A plan wants an item, too: a line in a file, a message in Kafka, an entry in a document's `plans` in MongoDB."""

    id: Annotated[Uuid, "Of the item: it has the same `id`."]
    resource: Annotated[str, Field(pattern=f"^{SITE_NAME}$"), "Name of the item's site."]
    url: Annotated[Uri, Field(pattern="^https?://"), "Canonical URL that the plan asked for."]
    plan: Annotated[str, "Name of the plan that is told."]
    keywords: Annotated[list[str], "The combination of that plan's words whose search led here."]
    time: Annotated[Instant, "When the plan was told, UTC."]
    fingerprint: Annotated[
        str, Field(pattern="^[0-9a-f]{32}$"), "The item's, in hex. The key of this message in Kafka, too."
    ]
    schema: Annotated[
        int,
        Field(json_schema_extra={"const": ALSO_SCHEMA}),
        "Version of this schema. It grows when a field changes its meaning or goes.",
    ] = ALSO_SCHEMA
    combinations: Annotated[
        list[list[str]],
        "Each combination of that plan's words whose search had led here when the page was claimed, `keywords` first; "
        "at most 50.",
    ] = field(default_factory=list)

    @classmethod
    def of(cls, seed: Seed, identity: str = "") -> Also:
        """Returns the message for a plan, by the page as that plan wants it.

        Args:
            identity: The item's `id`; empty for the one item that a page becomes by itself.
        """
        fingerprint = seed.fingerprint.hex()
        return cls(
            id=identity or item_id(fingerprint),
            resource=seed.site,
            url=seed.url,
            plan=seed.plan,
            keywords=list(seed.keywords),
            time=instant_now(),
            fingerprint=fingerprint,
            combinations=seed.combinations,
        )


def also_schema() -> dict[str, Any]:
    """Returns the message's JSON Schema (draft 2020-12)."""
    return message_schema(Also, "also", ALSO_SCHEMA)
