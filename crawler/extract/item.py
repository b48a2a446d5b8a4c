"""What a content page yields."""

from __future__ import annotations

from dataclasses import dataclass, field

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Fields:
    """An item's fields, clean.

    Attributes:
        published: UTC ISO 8601 with a Z; None when the page doesn't say.
        content: Text, its paragraphs as lines.
        images: Absolute URLs, each once, in the order of the page; `videos` likewise.
        extra: The fields under the definition's `extra` that the page has.
        next_page: Absolute URL, on the same host, of the page that continues this one; None when there is none.
        missing: Names of the defined fields that the page doesn't have.
    """

    title: str = ""
    author: str | None = None
    published: str | None = None
    content: str = ""
    images: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    extra: dict[str, Scalar | list[Scalar]] = field(default_factory=dict)
    next_page: str | None = None
    missing: tuple[str, ...] = ()
