"""What a page is (`type` in a site file), and in which languages its selectors may be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from crawler.sites.selector import Declaration, Selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import ValidationInfo

PageType = Literal["html", "json", "text"]
ResultsType = Literal["html", "json", "text", "feed", "sitemap"]
LANGUAGES = {  # in which the selectors of a type are written
    "html": ("css", "xpath"),
    "json": ("json",),
    "text": ("re",),
    "feed": ("json",),
    "sitemap": ("json",),
}
FIELD_LANGUAGES = LANGUAGES | {"html": (*LANGUAGES["html"], *get_args(Declaration))}  # for rules of fields


def languages(data: Mapping[str, Any], of: Mapping[str, tuple[str, ...]] = LANGUAGES) -> tuple[str, ...]:
    """Returns the languages of a part's selectors, by what else it says."""
    own = of[data["type"]]
    return (*own, "json") if data.get("from") else own


def check_language(selector: Selector | None, info: ValidationInfo, extra: tuple[str, ...] = ()) -> Selector | None:
    """Returns a selector of a part whose `type` was read before it.

    Args:
        selector: Selects something else than the value of a field; None is returned as it is.
        info: Of the part, as pydantic has it.
        extra: Further languages that are allowed here.

    Raises:
        ValueError: It is written in a language that isn't for such pages.
    """
    if selector and "type" in info.data:
        check_allowed(selector, (*languages(info.data), *extra), info.data["type"])
    return selector


def check_field_language(selector: Selector | None, info: ValidationInfo) -> None:
    """Raises ValueError if a field's rule has a selector in a language that isn't for pages of the part's `type`."""
    if selector and "type" in info.data:
        check_allowed(selector, languages(info.data, FIELD_LANGUAGES), info.data["type"])


def check_allowed(selector: Selector, languages: tuple[str, ...], page_type: str) -> None:
    """Raises ValueError if a selector is in none of the languages for pages of a type."""
    if selector.language not in languages:
        forms = " or ".join(f"{language}:..." for language in languages)
        types = [name for name in get_args(PageType) if selector.language in FIELD_LANGUAGES[name]]
        hint = f"; {selector.language}:... is for type: {types[0]}" if types and types[0] != page_type else ""
        raise ValueError(f"{forms} on pages of type {page_type}{hint}")


def check_within(rows: Selector, selectors: Iterable[Selector | None], name: str) -> None:
    """Raises ValueError unless what is selected in rows is in what they are: JSON, or elements of a document."""
    is_json = rows.language == "json"
    if any(selector and (selector.language == "json") != is_json for selector in selectors):
        raise ValueError(f"{'only' if is_json else 'no'} json:... within `{name}`, which {rows.text} selects")
