"""JSON that pages load while a browser renders them, and are read from beside their documents (`from`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationInfo

from crawler.base.yamlfile import Part
from crawler.sites.pattern import Pattern, PatternField

if TYPE_CHECKING:
    from crawler.sites.page_type import ResultsType


class LoadedFrom(Part):
    """What a page is read from beside its document."""

    xhr: PatternField = Field(
        description="A regular expression (RE2), found anywhere in the addresses of JSON that the page loads while a "
        "browser renders it. All such answers are read in the order in which the page asked for them, as one; of a "
        "request that the page repeats, the last answer. A page that loads none fails as `no-xhr`.",
        examples=["/api/thread/"],
    )


def from_key(reads: str) -> dict[str, Any]:
    """Returns the field `from` of a part, by its name: Python knows that as a word of its own."""
    description = (
        f"JSON that the page itself loads, from which `json:` selectors are read; {reads} Only beside `type: html`, of "
        "pages that are rendered."
    )
    return {"from": (LoadedFrom | None, Field(None, description=description, examples=[{"xhr": "/api/thread/"}]))}


def xhr_of(part: Part) -> Pattern | None:
    """Returns the addresses of JSON from which a part with the key `from` is read; None: from its document alone."""
    loaded: LoadedFrom | None = getattr(part, "from")
    return loaded.xhr if loaded else None


def check_from(page_type: ResultsType, info: ValidationInfo) -> None:
    """Raises ValueError if pages of a type can't load anything, and the part whose type it is has `from`."""
    if page_type != "html" and info.data.get("from"):
        raise ValueError("html beside `from`: the page is a document that loads JSON")
