"""How hard the hosts of a site may be asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema

from crawler.base.models import Politeness
from crawler.base.yamlfile import Part, WrittenAs

_DEFAULT = Politeness()


class PolitenessPart(Part):
    """How hard each host of the site may be asked, by all nodes together."""

    delay: float = Field(
        _DEFAULT.delay_s,
        ge=0,
        le=3_600,
        description="Seconds between two starts of requests on a turn; a longer Crawl-delay in robots.txt counts "
        "instead.",
        examples=[2],
    )
    concurrency: int = Field(
        _DEFAULT.concurrency,
        ge=1,
        le=64,
        description="Requests at once: the host's number of turns. With a Crawl-delay it is 1.",
        examples=[4],
    )
    burst: int = Field(
        _DEFAULT.burst,
        ge=1,
        le=500,
        description="Pages that a worker takes over at once for each turn. More is less work for Redis, fewer lets "
        "other workers have the host sooner.",
        examples=[50],
    )


def _politeness_schema(_source: object, handler: Any) -> core_schema.CoreSchema:
    return core_schema.no_info_after_validator_function(
        lambda part: Politeness(part.delay, part.concurrency, part.burst),
        handler(PolitenessPart),
        serialization=core_schema.plain_serializer_function_ser_schema(
            lambda value: {"delay": value.delay_s, "concurrency": value.concurrency, "burst": value.burst}
        ),
    )


# A file says `delay` (seconds), `concurrency` and `burst`; a Site has them as the crawler's Politeness.
PolitenessField = Annotated[Politeness, GetPydanticSchema(_politeness_schema), WrittenAs(PolitenessPart)]
