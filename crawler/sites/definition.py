"""The parts of a site file: search, results, content, politeness.

Each number has a range, each name and template is checked, and each selector is compiled, so that a definition that was
accepted can only fail on a page. Definitions from Redis, which isn't trusted, go through the same checks.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    Field,
    GetPydanticSchema,
    JsonValue,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import core_schema

from crawler.item import READ_FIELDS
from crawler.models import Politeness
from crawler.redaction import has_credentials
from crawler.sites import search as searching
from crawler.sites.paging import KINDS, AnyPaging
from crawler.sites.selector import Selector, SelectorField  # noqa: TC001 -- pydantic reads the annotations
from crawler.yamlfile import Part, WrittenAs

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["html", "json"]
Sort = Literal["newest", "relevance"]
ShortText = Annotated[str, Field(max_length=200)]
Template = Annotated[str, Field(min_length=1, max_length=2_000)]
_PLACEHOLDERS = searching.PLACEHOLDERS | KINDS
NO_CREDENTIALS = "a URL without user and password: definitions stand in Redis for all to read"
_LANGUAGES = {"html": ("css", "xpath"), "json": ("json",)}


class Search(Part):
    """How the site is searched: by GET, or by POST if there is a `body`."""

    encoding: ShortText = "utf-8"
    join: str = Field(" ", max_length=20)
    sort: dict[Sort, ShortText] = Field({})
    since_format: ShortText = ""
    max_per_page: int = Field(1_000, ge=1, le=10_000)
    paging: AnyPaging | None = None
    body_type: Literal["json", "form"] = "json"
    url: Template
    body: dict[str, JsonValue] = Field({})

    @field_validator("encoding")
    @classmethod
    def _encoding(cls, value: str) -> str:
        return searching.check_encoding(value)

    @field_validator("since_format")
    @classmethod
    def _since_format(cls, value: str) -> str:
        if value and value != "epoch" and not re.search(r"%[a-zA-Z]", value):
            raise ValueError("epoch, or a date format such as %Y-%m-%d")
        return value

    @field_validator("url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        searching.check_template(value, _PLACEHOLDERS)
        if not value.startswith(("{base}", "http://", "https://")):
            raise ValueError("a URL that starts with {base}, http:// or https://")
        if has_credentials(value):
            raise ValueError(NO_CREDENTIALS)
        searching.check_no_script_route(value)
        cls._check_placeholders(searching.placeholders(value), info)
        return value

    @field_validator("body")
    @classmethod
    def _body(cls, value: dict[str, JsonValue], info: ValidationInfo) -> dict[str, JsonValue]:
        names = searching.placeholders(value)
        for text in _strings(value):
            searching.check_template(text, _PLACEHOLDERS - {"base"})
        cls._check_placeholders(names, info)
        if info.data.get("body_type") == "form" and any(isinstance(part, dict | list) for part in value.values()):
            raise ValueError("single values, no lists or mappings, in a form")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if "query" not in self.placeholders:
            raise ValueError("{query} in url or body")
        if self.paging:
            self.paging.check(self)
        return self

    @staticmethod
    def _check_placeholders(names: set[str], info: ValidationInfo) -> None:
        paging = info.data.get("paging")
        for name in names & KINDS:
            if "paging" in info.data and (paging is None or paging.kind != name):
                raise ValueError(f"paging: {{kind: {name}}} beside {{{name}}}")
        if "sort" in names and not info.data.get("sort", True):
            raise ValueError("sort: {newest: ..., relevance: ...} beside {sort}")
        if "since" in names and not info.data.get("since_format", True):
            raise ValueError("since_format beside {since}")

    @cached_property
    def placeholders(self) -> set[str]:
        """The names of the placeholders in `url` and `body`."""
        return searching.placeholders(self.url) | searching.placeholders(self.body)

    @property
    def names_next(self) -> bool:
        """Whether only the first page is known, and each page of results names the next one."""
        return self.paging is not None and self.paging.names_next


class Results(Part):
    """Where the links stand on a page of results, and what a page without results looks like."""

    type: Kind = "html"
    links: SelectorField
    link: Template | None = None
    next: SelectorField | None = None
    empty: SelectorField | None = None

    @field_validator("links", "next", "empty")
    @classmethod
    def _language(cls, value: Selector | None, info: ValidationInfo) -> Selector | None:
        extra = ("text",) if info.field_name == "empty" and info.data.get("type") == "html" else ()
        return _check_language(value, info, extra)

    @field_validator("link")
    @classmethod
    def _link(cls, value: str | None) -> str | None:
        if value is not None:
            searching.check_template(value, frozenset({"base", "value"}))
            searching.check_no_script_route(value)
            if "{value}" not in value:
                raise ValueError("a template with {value}")
            if has_credentials(value):
                raise ValueError(NO_CREDENTIALS)
        return value


class Rule(Part):
    """Where the value of a field stands, and how it is read. In a file, the selector alone is enough.

    Attributes:
        select: Selects the value. Text fields take an element's text, URL fields its `src` or `href`.
        all: Take every match instead of the first one.
        remove: Select elements within the value that are left out (signatures, share buttons).
        required: A page without any of its required fields fails. If no field is required, `content` is.
        html: The value is HTML inside JSON.
        format: strptime format of a date that would be ambiguous.
    """

    select: SelectorField
    all: bool = False
    remove: tuple[SelectorField, ...] = Field((), strict=False, max_length=50)
    required: bool = False
    html: bool = False
    format: ShortText = ""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {"select": value} if isinstance(value, str) else value

    @field_validator("remove")
    @classmethod
    def _markup(cls, value: tuple[Selector, ...]) -> tuple[Selector, ...]:
        if any(selector.language not in _LANGUAGES["html"] for selector in value):
            raise ValueError("css: or xpath: selectors")
        return value


class _Typed(Part):
    type: Kind = "html"


# A rule for each field of the item that is read from content pages.
_rules: dict[str, Any] = dict.fromkeys(READ_FIELDS, (Rule | None, None))
_FieldRules: Any = create_model("_FieldRules", __base__=_Typed, **_rules)


class Content(_FieldRules):
    """How a content page is read: a rule for each field that it has, and these.

    Attributes:
        type: What the pages are.
        extra: Rules of fields that only this site has.
        next_page: Where the address of the next page stands, when one item goes over several pages.
        max_pages: Pages of one item that are fetched.
    """

    extra: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], Rule] = Field({}, max_length=50)
    next_page: Rule | None = None
    max_pages: int = Field(20, ge=1, le=500)

    @field_validator(*READ_FIELDS, "next_page")
    @classmethod
    def _language(cls, value: Rule | None, info: ValidationInfo) -> Rule | None:
        _check_language(value.select if value else None, info)
        return value

    @field_validator("extra")
    @classmethod
    def _extra_languages(cls, value: dict[str, Rule], info: ValidationInfo) -> dict[str, Rule]:
        for rule in value.values():
            _check_language(rule.select, info)
        return value

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.rules:
            raise ValueError("at least one field")
        return self

    @cached_property
    def field_rules(self) -> dict[str, Rule]:
        """The rules of the item's fields, by name."""
        return {name: rule for name in READ_FIELDS if (rule := getattr(self, name))}

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """All rules of fields, by name; those of `extra` under `extra.NAME`."""
        return self.field_rules | {f"extra.{name}": rule for name, rule in self.extra.items()}

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the fields of which a page must have at least one."""
        marked = frozenset(name for name, rule in self.rules.items() if rule.required)
        return marked or frozenset({"content"} if "content" in self.rules else self.rules)


_POLITENESS = Politeness()


class _Pace(Part):
    delay: float = Field(_POLITENESS.delay_s, ge=0, le=3_600)
    concurrency: int = Field(_POLITENESS.concurrency, ge=1, le=64)
    burst: int = Field(_POLITENESS.burst, ge=1, le=500)


def _pace_schema(_source: object, handler: Any) -> core_schema.CoreSchema:
    return core_schema.no_info_after_validator_function(
        lambda pace: Politeness(pace.delay, pace.concurrency, pace.burst),
        handler(_Pace),
        serialization=core_schema.plain_serializer_function_ser_schema(
            lambda pace: {"delay": pace.delay_s, "concurrency": pace.concurrency, "burst": pace.burst}
        ),
    )


# In a file `delay` (seconds), `concurrency` and `burst`; in a Site the crawler's Politeness.
PolitenessField = Annotated[Politeness, GetPydanticSchema(_pace_schema), WrittenAs(_Pace)]


def _check_language(selector: Selector | None, info: ValidationInfo, extra: tuple[str, ...] = ()) -> Selector | None:
    allowed = (*_LANGUAGES[info.data["type"]], *extra) if "type" in info.data else ()
    if selector and allowed and selector.language not in allowed:
        raise ValueError(" or ".join(f"{language}:..." for language in allowed) + f" beside type: {info.data['type']}")
    return selector


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


# Of a site that can't be searched: there is no search page, and nothing would be found on one.
NO_SEARCH = Search.model_construct(url="")
NO_RESULTS = Results.model_validate({"links": "xpath:/.."})
