"""How a site is searched: how words become the URL and the body of a request."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import urlencode

import orjson
from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from crawler.base.yamlfile import Part
from crawler.sites.search_paging import PLACEHOLDERS, AnyPaging
from crawler.sites.site_error import SiteError
from crawler.sites.url_template import check_absolute, check_template, fill_all, placeholders_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from zoneinfo import ZoneInfo

Sort = Literal["newest", "relevance"]
ShortText = Annotated[str, Field(max_length=200)]
_ANY_DAY = date(2026, 11, 23)  # a format is tried on it
_ALLOWED = PLACEHOLDERS | {"base", "query", "per_page", "sort", "since"}


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
    description: str = Field(
        "",
        max_length=2_000,
        description="In place of `url`: the address of the site's OpenSearch description, or of a page that names one; "
        "{base} stands for the site's. It is read when a plan with the site is checked or submitted, and says `url`, "
        "`paging` and `encoding`, and how results are read unless `results` does.",
        examples=["{base}/opensearch.xml"],
    )
    url: Annotated[str, Field(max_length=2_000)] = Field(
        "",
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
        return check_encoding(value)

    @field_validator("since_format")
    @classmethod
    def _since_format(cls, value: str) -> str:
        if not value or value == "epoch":
            return value
        directives = value.replace("%%", "")
        written = _ANY_DAY.strftime(directives)
        if written == directives or "%" in written:  # what isn't a directive stays as it is
            raise ValueError("epoch, or a strftime format such as %Y-%m-%d")
        return value

    @field_validator("description")
    @classmethod
    def _description(cls, value: str) -> str:
        check_template(value, frozenset({"base"}))
        if value:
            check_absolute(value)
        return value

    @field_validator("url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        if not value:
            return value
        check_template(value, _ALLOWED)
        check_absolute(value)
        cls._check_placeholders(placeholders_in(value), info)
        return value

    @field_validator("body")
    @classmethod
    def _body(cls, value: dict[str, JsonValue], info: ValidationInfo) -> dict[str, JsonValue]:
        names = placeholders_in(value)
        for text in _strings(value):
            check_template(text, _ALLOWED - {"base"})
        cls._check_placeholders(names, info)
        if info.data.get("body_type") == "form" and any(isinstance(part, dict | list) for part in value.values()):
            raise ValueError("single values, no lists or mappings, in a form")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.url) == bool(self.description):
            raise ValueError("url, or description in its place")
        if self.paging:
            self.paging.check(self)
        return self

    @staticmethod
    def _check_placeholders(names: set[str], info: ValidationInfo) -> None:
        paging = info.data.get("paging")
        for name in names & PLACEHOLDERS:
            if "paging" in info.data and (paging is None or paging.kind != name):
                raise ValueError(f"paging: {{kind: {name}}} beside {{{name}}}")
        if "sort" in names and not info.data.get("sort", True):
            raise ValueError("sort: {newest: ..., relevance: ...} beside {sort}")
        if "since" in names and not info.data.get("since_format", True):
            raise ValueError("since_format beside {since}")

    @cached_property
    def placeholders(self) -> set[str]:
        """The names of the placeholders in `url` and `body`."""
        return placeholders_in(self.url) | placeholders_in(self.body)

    @property
    def names_next(self) -> bool:
        """Whether only the first page is known, and each page of results names the next one."""
        return self.paging is not None and self.paging.names_next


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """The request for one page of search results.

    Attributes:
        url: Canonical URL.
        method: GET, or POST for a request with a body.
        body: Request body in ASCII or UTF-8; empty for none.
        page: Number of the page, from 1.
    """

    url: str
    method: str = "GET"
    body: str = ""
    page: int = 1


def query_text(words: Sequence[str], search: Search, site: str) -> str:
    """Returns the words as one query, joined as the site wants.

    Raises:
        SiteError: A word can't be written in the site's encoding.
    """
    for word in words:
        try:
            word.encode(search.encoding)
        except UnicodeEncodeError:
            raise SiteError(f"site {site} searches in {search.encoding}, which can't write {word!r}") from None
    return search.join.join(words)


def since_value(since: date | None, search: Search, zone: ZoneInfo) -> str | int:
    """Returns the start of the day `since` in the site's format; empty for None or a site without such a format."""
    if since is None or not search.since_format:
        return ""
    midnight = datetime.combine(since, time(), zone)
    if search.since_format == "epoch":
        return int(midnight.timestamp())
    return midnight.strftime(search.since_format)


def fill_body(search: Search, values: Mapping[str, str | int]) -> str:
    """Returns the request body, or an empty string for a site that searches by GET."""
    if not search.body:
        return ""
    filled = fill_all(search.body, values)
    if search.body_type == "json":
        return orjson.dumps(filled).decode()
    return urlencode(filled, encoding=search.encoding)


def check_encoding(name: str) -> str:
    """Returns Python's name of a text encoding; GBK for GB 2312, as in browsers, by which sites are tested.

    Raises:
        ValueError: There is no such encoding, or it isn't one for text.
    """
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name)
    except LookupError:
        raise ValueError("an encoding such as utf-8, gbk or big5") from None
    return "gbk" if codec.name == "gb2312" else codec.name


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


# A site that can't be searched has this, without a search page.
NO_SEARCH = Search.model_construct(url="")
