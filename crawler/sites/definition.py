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

from crawler.item import READ_FIELDS, ReadAs
from crawler.models import Politeness
from crawler.redaction import has_credentials
from crawler.sites import search as searching
from crawler.sites.paging import KINDS, AnyPaging
from crawler.sites.selector import Selector, SelectorField  # noqa: TC001 -- pydantic reads the annotations
from crawler.yamlfile import Part, ShortPart, WrittenAs

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

    encoding: ShortText = Field(
        "utf-8",
        description="How the words are written in the URL or in a form. A plan with a word that it can't write is "
        "refused.",
        examples=["gbk"],
    )
    join: str = Field(
        " ",
        max_length=20,
        description="What stands between the words of a combination: a space, or what the site wants to find them all.",
        examples=[" AND "],
    )
    sort: dict[Sort, ShortText] = Field(
        {},
        description="What the site calls each order of results; it becomes {sort}. An order that a plan wants and the "
        "site doesn't name leaves the parameter out.",
        examples=[{"newest": "date", "relevance": "score"}],
    )
    since_format: ShortText = Field(
        "",
        description="How {since}, a plan's first day, is written: a strftime format, or `epoch` for seconds since "
        "1970. The day begins in the site's `timezone`.",
        examples=["%Y-%m-%d"],
    )
    max_per_page: int = Field(
        1_000,
        ge=1,
        le=10_000,
        description="Most results that the site gives on a page. {per_page} never asks for more, so that offsets are "
        "right.",
        examples=[50],
    )
    paging: AnyPaging | None = Field(
        None,
        description="How further pages of results are asked for. Without it a search has one page.",
        examples=[{"kind": "page"}],
    )
    body_type: Literal["json", "form"] = Field(
        "json",
        description="What `body` is sent as: JSON, or the fields of a form.",
        examples=["form"],
    )
    url: Template = Field(
        description="The address of a page of results, with placeholders: {base}, {query} (the words), {per_page}, "
        "{sort}, {since}, and {page}, {offset} or {cursor} as `paging` says. Values are percent-encoded; a parameter "
        "that is only a placeholder without a value is left out.",
        examples=["{base}/search?q={query}&page={page}"],
    )
    body: dict[str, JsonValue] = Field(
        {},
        description="The body of the request; with one, the search is a POST. Its texts may hold the placeholders of "
        "`url` except {base}; one that is nothing but a placeholder keeps the value's type, so that {page} is a number "
        "in JSON.",
        examples=[{"q": "{query}", "page": "{page}"}],
    )

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

    type: Kind = Field(
        "html",
        description="What a page of results is. It decides the language of its selectors: `css:` and `xpath:`, or "
        "`json:`.",
        examples=["json"],
    )
    links: SelectorField = Field(
        description="Selects the results: elements with a `href`, or texts that are addresses. A page on which it "
        "finds nothing fails as `not-results`, unless `empty` finds something, or `empty` isn't given.",
        examples=["css:.result h2 a"],
    )
    link: Template | None = Field(
        None,
        description="Makes an address of what `links` selects, where that is only an id; {value} stands for it, "
        "percent-encoded.",
        examples=["{base}/thread/{value}"],
    )
    next: SelectorField | None = Field(
        None,
        description="Selects what {cursor} is on the next page, for `paging: {kind: cursor}`. Where it finds nothing, "
        "the search ends. With other kinds of paging it isn't used.",
        examples=["json:meta.next_cursor"],
    )
    empty: SelectorField | None = Field(
        None,
        description="Finds something only on a page without results; `text:` and a phrase will do, too. The pages "
        "behind it aren't fetched. Without it, any page without links counts as one without results, "
        "a login page as well; of JSON, an empty list does.",
        examples=["css:.nothing-found"],
    )

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


class Rule(ShortPart):
    """Where the value of a field stands, and how it is read. The selector alone is enough where that is all."""

    select: SelectorField = Field(
        description="Selects the value. Of an element, fields of text take its text (`published` its `datetime`, if it "
        "has one, and a `<meta>` its `content`), images and videos its `src`, `href` or `content`.",
        examples=["css:article"],
    )
    all: bool = Field(
        default=False,
        description="Take every match instead of the first; texts are joined, a field of `extra` becomes a list. "
        "Images and videos always take every match.",
        examples=[True],
    )
    remove: tuple[SelectorField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Select elements within the value that are left out of its text, such as signatures.",
        examples=[["css:.signature", "css:.share"]],
    )
    required: bool = Field(
        default=False,
        description="A page that has none of the required fields fails as `no-content`. Where no field is required, "
        "`content` is; where there is no `content`, any field will do.",
        examples=[True],
    )
    html: bool = Field(
        default=False,
        description="The value is HTML inside JSON: its text is taken, or the images or videos in it.",
        examples=[True],
    )
    format: ShortText = Field(
        "",
        description="The strptime format of a date that could be read in two ways, such as 03/04/2026. It is "
        "tried first; a date in another form is read as without it.",
        examples=["%d/%m/%Y %H:%M"],
    )

    short_for = "select"

    @field_validator("remove")
    @classmethod
    def _markup(cls, value: tuple[Selector, ...]) -> tuple[Selector, ...]:
        if any(selector.language not in _LANGUAGES["html"] for selector in value):
            raise ValueError("css: or xpath: selectors")
        return value


class _Typed(Part):
    type: Kind = Field(
        "html",
        description="What content pages are. It decides the language of their selectors, here and in `follow`: `css:` "
        "and `xpath:`, or `json:`.",
        examples=["json"],
    )


# What a rule reads for each mark of a field, and an example of one.
_READ: dict[ReadAs, tuple[str, JsonValue]] = {
    ReadAs.LINE: ("text on one line", "css:h1"),
    ReadAs.NAMES: ("text on one line, several matches with commas between them", "css:.author"),
    ReadAs.INSTANT: (
        "a date, of several matches the first that is one; without a zone, in the site's `timezone`",
        "css:time",
    ),
    ReadAs.PARAGRAPHS: (
        "text, each paragraph on a line; that of further pages follows",
        {"select": "css:article", "required": True},
    ),
    ReadAs.IMAGES: ("addresses of images, which are fetched where `FILES_STORE` is set", "css:article img"),
    ReadAs.VIDEOS: ("addresses of videos", "css:article video source"),
}


def _field_of(name: str) -> Any:
    how, example = _READ[READ_FIELDS[name]]
    description = f"Rule of the item's `{name}`: {how}. Where it finds nothing, the item has none."
    return Rule | None, Field(None, description=description, examples=[example])


# A rule for each field of the item that is read from content pages.
_rules: dict[str, Any] = {name: _field_of(name) for name in READ_FIELDS}
_FieldRules: Any = create_model("_FieldRules", __base__=_Typed, **_rules)


class Content(_FieldRules):
    """How a content page is read: a rule for each field that it has; at least one."""

    extra: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, by their names (small letters, digits and _). They stand "
        "under `extra` in the item.",
        examples=[{"views": "css:.views", "tags": {"select": "css:.tag", "all": True}}],
    )
    next_page: Rule | None = Field(
        None,
        description="Where the address of the next page stands, when one item goes over several pages. It must be on "
        "the same host; another address ends the item.",
        examples=["css:a[rel=next]"],
    )
    max_pages: int = Field(20, ge=1, le=500, description="Most pages of one item that are fetched.", examples=[5])

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


class PolitenessPart(Part):
    """How hard each host of the site may be asked, by all nodes together."""

    delay: float = Field(
        _POLITENESS.delay_s,
        ge=0,
        le=3_600,
        description="Seconds between two starts of requests on a turn; a longer Crawl-delay in robots.txt counts "
        "instead.",
        examples=[2],
    )
    concurrency: int = Field(
        _POLITENESS.concurrency,
        ge=1,
        le=64,
        description="Requests at once: the host's number of turns. With a Crawl-delay it is 1.",
        examples=[4],
    )
    burst: int = Field(
        _POLITENESS.burst,
        ge=1,
        le=500,
        description="Pages that a worker takes over at once for each turn. More is less work for Redis, fewer lets "
        "other workers have the host sooner.",
        examples=[50],
    )


def _pace_schema(_source: object, handler: Any) -> core_schema.CoreSchema:
    return core_schema.no_info_after_validator_function(
        lambda pace: Politeness(pace.delay, pace.concurrency, pace.burst),
        handler(PolitenessPart),
        serialization=core_schema.plain_serializer_function_ser_schema(
            lambda pace: {"delay": pace.delay_s, "concurrency": pace.concurrency, "burst": pace.burst}
        ),
    )


# In a file `delay` (seconds), `concurrency` and `burst`; in a Site the crawler's Politeness.
PolitenessField = Annotated[Politeness, GetPydanticSchema(_pace_schema), WrittenAs(PolitenessPart)]


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
