"""The parts of a site file: search, results, content, politeness.

Each number has a range, each name and template is checked, and each selector is compiled, so that a definition that was
accepted can only fail on a page. Definitions from Redis, which isn't trusted, go through the same checks.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

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

from crawler.base.item import READ_FIELDS, ReadAs
from crawler.base.models import Politeness
from crawler.base.redaction import has_credentials
from crawler.sites import search as searching
from crawler.sites.paging import KINDS, AnyPaging
from crawler.sites.pattern import Pattern, PatternField  # noqa: TC001 -- pydantic reads the annotations
from crawler.sites.selector import Declaration, Selector, SelectorField
from crawler.base.yamlfile import Part, ShortPart, WrittenAs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Kind = Literal["html", "json", "text"]
ResultsKind = Literal["html", "json", "text", "feed", "sitemap"]
Sort = Literal["newest", "relevance"]
ShortText = Annotated[str, Field(max_length=200)]
Template = Annotated[str, Field(min_length=1, max_length=2_000)]
_PLACEHOLDERS = searching.PLACEHOLDERS | KINDS
MAX_ROW_CHARACTERS = 4_000  # of what a row says, as JSON: it stands in Redis with the page's seed
_LATER = frozenset({408, 425, 429})  # statuses that say nothing of a page: timeout, too early, too many requests
NO_CREDENTIALS = "a URL without user and password: definitions stand in Redis for all to read"
LANGUAGES = {  # of a type's selectors
    "html": ("css", "xpath"),
    "json": ("json",),
    "text": ("re",),
    "feed": ("json",),
    "sitemap": ("json",),
}
FIELD_LANGUAGES = LANGUAGES | {"html": (*LANGUAGES["html"], *get_args(Declaration))}  # of the rules of a page's fields


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
        return searching.check_encoding(value)

    @field_validator("since_format")
    @classmethod
    def _since_format(cls, value: str) -> str:
        if value and value != "epoch" and not re.search(r"%[a-zA-Z]", value):
            raise ValueError("epoch, or a date format such as %Y-%m-%d")
        return value

    @field_validator("description")
    @classmethod
    def _description(cls, value: str) -> str:
        searching.check_template(value, frozenset({"base"}))
        if value and not value.startswith(("{base}", "http://", "https://")):
            raise ValueError("a URL that starts with {base}, http:// or https://")
        if has_credentials(value):
            raise ValueError(NO_CREDENTIALS)
        return value

    @field_validator("url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        if not value:
            return value
        searching.check_template(value, _PLACEHOLDERS)
        if not value.startswith(("{base}", "http://", "https://")):
            raise ValueError("a URL that starts with {base}, http:// or https://")
        if has_credentials(value):
            raise ValueError(NO_CREDENTIALS)
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
        if bool(self.url) == bool(self.description):
            raise ValueError("url, or description in its place")
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


class Rule(ShortPart):
    """Where the value of a field stands, and how it is read. The selector alone is enough where that is all."""

    select: SelectorField = Field(
        description="Selects the value. Of an element, fields of text take its text (`published` its `datetime`, if it "
        "has one, and a `<meta>` its `content`), images and videos its `src`, `href` or `content`. On HTML pages, what "
        "a page declares about itself may be selected, too: `jsonld:`, `microdata:`, `meta:`.",
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
        description="The value is HTML inside JSON, JSON-LD too: its text is taken, or the images or videos in it.",
        examples=[True],
    )
    format: ShortText = Field(
        "",
        description="The strptime format of a date that could be read in two ways, such as 03/04/2026. It is "
        "tried first; a date in another form is read as without it.",
        examples=["%d/%m/%Y %H:%M"],
    )

    pattern: PatternField | None = Field(
        None,
        description="A regular expression (RE2) that cuts the value out of what is selected, blanks already single: "
        "its first group, or all that it matches if it has none. Matches of `select` in which it finds nothing count "
        "as not found. Of images and videos it cuts the address as it is written.",
        examples=[r"by (.+?) on"],
    )
    keep_whitespace: bool = Field(
        default=False,
        description="Keep lines, empty ones too, and indentation, as of mails; of code in a `<pre>` they are kept "
        "anyway. An element is read as if it was `<pre>`. For `content` and fields of `extra`.",
        examples=[True],
    )
    first_page_only: bool = Field(
        default=False,
        description="Read only on the first page of an item that goes over several (`next_page`): of a value that each "
        "page repeats, such as the post that a thread began with.",
        examples=[True],
    )

    short_for = "select"

    @field_validator("remove")
    @classmethod
    def _markup(cls, value: tuple[Selector, ...]) -> tuple[Selector, ...]:
        if any(selector.language not in LANGUAGES["html"] for selector in value):
            raise ValueError("css: or xpath: selectors")
        return value


class CommentRules(Part):
    """How comments are read: a row for each, and rules that look only within the row."""

    each: SelectorField = Field(
        description="Selects the comments, one match for each. A comment within another one answers it. Where a "
        "thread's first post looks like the others, leave it out, since it is the text: "
        "`css:.post:not(:first-child)`, `css:.post:not(.first)`, `css:.post ~ .post`.",
        examples=["css:ol.comments li.comment"],
    )
    text: Rule = Field(
        description="Rule of a comment's text, within its row; of a row within the row, nothing is taken. An XPath "
        "begins with a dot: `.//p`.",
        examples=["css:.comment-content"],
    )
    author: Rule | None = Field(None, description="Rule of its author.", examples=["css:.comment-author"])
    published: Rule | None = Field(None, description="Rule of its date, as `content.published`.", examples=["css:time"])
    likes: Rule | None = Field(
        None, description="Rule of the number of its likes: the first number in the text.", examples=["css:.likes"]
    )
    id: Rule | None = Field(
        None, description="Rule of what other comments call it by, for `parent`.", examples=["xpath:string(@id)"]
    )
    parent: Rule | None = Field(
        None,
        description="Rule of the `id` of the comment that it answers, where it doesn't stand within that comment. In "
        "the item, a comment's `parent` is the place of that comment in the list, from 0.",
        examples=["xpath:string(@data-parent)"],
    )
    max: int = Field(
        1_000,
        ge=1,
        le=10_000,
        description="Most comments of an item, over all its pages; of more, the item's `truncated` tells.",
        examples=[200],
    )

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """The rules of a row, by name."""
        names = ("text", "author", "published", "likes", "id", "parent")
        return {name: rule for name in names if (rule := getattr(self, name))}


# What a rule reads for each mark of a field, and an example of one.
_READ: dict[ReadAs, tuple[str, JsonValue]] = {
    ReadAs.LINE: ("text on one line", "css:h1"),
    ReadAs.NAMES: ("text on one line, several matches with commas between them", "css:.author"),
    ReadAs.INSTANT: (
        "a date, of several matches the first that is one; without a zone, in the site's `timezone`",
        "css:time",
    ),
    ReadAs.PARAGRAPHS: (
        "text: a paragraph or a table's row on a line, tabs between cells, `<pre>` as it is; further pages follow",
        {"select": "css:article", "required": True},
    ),
    ReadAs.IMAGES: ("addresses of images, which are fetched where `FILES_STORE` is set", "css:article img"),
    ReadAs.VIDEOS: ("addresses of videos", "css:article video source"),
}


def _field_of(name: str, says: str) -> Any:
    how, example = _READ[READ_FIELDS[name]]
    description = f"{says.format(name)}: {how}. Where it finds nothing, the item has none."
    return Rule | None, Field(None, description=description, examples=[example])


_ExtraName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

# A rule for each field of the item that is read from content pages, and of those that a row of results may have.
_rules: dict[str, Any] = {name: _field_of(name, "Rule of the item's `{}`") for name in READ_FIELDS}
_FieldRules: Any = create_model("_FieldRules", __base__=Part, **_rules)
_IN_ROWS = (ReadAs.LINE, ReadAs.NAMES, ReadAs.INSTANT)
ROW_FIELDS = tuple(name for name, mark in READ_FIELDS.items() if mark in _IN_ROWS)
_rules_in_rows = {
    name: _field_of(name, "Rule of the `{}` that the item has unless its page says one") for name in ROW_FIELDS
}
_RowRules: Any = create_model("_RowRules", __base__=Part, **_rules_in_rows)


class RowFields(_RowRules):
    """What a row of results says of the page that it links to; at least one field."""

    extra: dict[_ExtraName, Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, and rows say; the item has them under `extra`.",
        examples=[{"views": "css:.views"}],
    )

    @field_validator(*ROW_FIELDS, "extra")
    @classmethod
    def _lines(cls, value: Rule | dict[str, Rule] | None) -> Rule | dict[str, Rule] | None:
        rules = value.values() if isinstance(value, dict) else [value] if value else []
        if any(rule.keep_whitespace or rule.required or rule.first_page_only for rule in rules):
            raise ValueError("neither keep_whitespace nor required nor first_page_only: a row is no page")
        return value

    @cached_property
    def field_rules(self) -> dict[str, Rule]:
        """The rules of the item's fields, by name."""
        return {name: rule for name in ROW_FIELDS if (rule := getattr(self, name))}

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.field_rules and not self.extra:
            raise ValueError("at least one field")
        return self


class LoadedFrom(Part):
    """What a page is read from beside its document."""

    xhr: PatternField = Field(
        description="A regular expression (RE2), found anywhere in the addresses of JSON that the page loads while a "
        "browser renders it. All such answers are read in the order in which the page asked for them, as one; of a "
        "request that the page repeats, the last answer. A page that loads none fails as `no-xhr`.",
        examples=["/api/thread/"],
    )


def _from_key(reads: str) -> dict[str, Any]:
    """Returns the field `from` of a part, by its name: Python knows that as a word of its own."""
    description = (
        f"JSON that the page itself loads, from which `json:` selectors are read; {reads} Only beside `type: html`, of "
        "pages that are rendered."
    )
    return {"from": (LoadedFrom | None, Field(None, description=description, examples=[{"xhr": "/api/thread/"}]))}


_ResultsFrom: Any = create_model(
    "_ResultsFrom", __base__=Part, **_from_key("`css:` and `xpath:` ones are read from the rendered document.")
)
_ContentFrom: Any = create_model(
    "_ContentFrom", __base__=Part, **_from_key("all others are read from the rendered document.")
)


class Results(_ResultsFrom):
    """Where the links stand on a page of results, and what a page without results looks like."""

    type: ResultsKind = Field(
        "html",
        description="What a page of results is. It decides the language of its selectors: `css:` and `xpath:`, "
        "`json:`, or `re:` for `text` (plain text, such as a list of addresses). A `feed` (RSS, Atom or JSON Feed) is "
        "read as a JSON value: `entries` with `link`, `id`, `title`, `summary`, `author`, `published` and `updated`, "
        "and `next`. A `sitemap` (of pages or of sitemaps, packed or not, or a plain list of addresses) is read as "
        "`pages` with `link`, `changed`, `words` (those of the address), and what its extensions say: `title`, "
        "`published`, `language`, `publication`, `images`; and `sitemaps` with `link` and `changed`. Of both, what "
        "says that it changed last before the plan's `since` is left out.",
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
        description="Selects what {cursor} is on the next page, for `paging: {kind: cursor}`, or the link to that "
        "page, for `paging: {kind: link}`, or the links to all others, for `paging: {kind: index}`; with other kinds "
        "of paging, anything that is only there when a further page is. Where it finds nothing, the search ends.",
        examples=["css:a[rel=next]"],
    )
    empty: SelectorField | None = Field(
        None,
        description="Finds something only on a page without results; `text:` and a phrase will do, too. The pages "
        "behind it aren't fetched. Without it, any page without links counts as one without results, a login "
        "page as well unless the search was redirected to it; of JSON, an empty list does.",
        examples=["css:.nothing-found"],
    )

    empty_status: tuple[Annotated[int, Field(ge=400, le=499)], ...] = Field(
        (),
        strict=False,
        max_length=10,
        description="HTTP statuses by which the site says that there are no (more) results, as `empty` does. Without "
        "it, a page with such a status fails as `http-404`. 408, 425 and 429 ask to come again later, so they can't "
        "mean it.",
        examples=[[404]],
    )
    known_pages: int = Field(
        5,
        ge=1,
        le=1_000,
        description="After how many pages in a row that hold nothing new to the plan a search ends. Fewer spare "
        "requests where results come newest first and are searched for again and again; but what other searches of the "
        "plan have found isn't new, either.",
        examples=[2],
    )

    rows: SelectorField | None = Field(
        None,
        description="Selects the results one by one, where more than its link is read of each: `links` (the first of a "
        "row), `fields` and `match` then select within the row. Not for `type: text`.",
        examples=["css:.result"],
    )
    fields: RowFields | None = Field(
        None,
        description="What a row says of its page: the item has it where the page itself doesn't say it. At most "
        f"{MAX_ROW_CHARACTERS} characters of a row are kept.",
        examples=[{"author": "css:.by", "extra": {"views": "css:.views"}}],
    )
    match: SelectorField | None = Field(
        None,
        description="Selects, in a row, the text that must have all words of a combination, in upper or lower case; "
        "other rows are passed by. For sites without a search: `search.url` is then a list of pages, without {query}, "
        "that is fetched once for all combinations of a plan.",
        examples=["css:h3"],
    )

    @field_validator("empty_status")
    @classmethod
    def _empty_status(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(status in _LATER for status in value):
            raise ValueError("statuses of 400 to 499 without 408, 425 and 429, which ask to come again later")
        return value

    @model_validator(mode="after")
    def _in_rows(self) -> Self:
        if (self.fields or self.match) and self.rows is None:
            raise ValueError("rows beside fields and match")
        if self.rows and self.type == "text":
            raise ValueError("no rows beside type: text")
        rules = [*self.fields.field_rules.values(), *self.fields.extra.values()] if self.fields else []
        allowed = _languages({"type": self.type, "from": self.xhr})
        if any(rule.select.language not in allowed for rule in rules):
            raise ValueError(f"fields: {' or '.join(f'{name}:...' for name in allowed)}, as the type says")
        if self.rows:
            _check_within(self.rows, [self.links, self.match, *(rule.select for rule in rules)], "rows")
        return self

    @field_validator("type")
    @classmethod
    def _of_documents(cls, value: ResultsKind, info: ValidationInfo) -> ResultsKind:
        _check_from(value, info)
        return value

    @property
    def xhr(self) -> Pattern | None:
        """The addresses of JSON that pages load and are read from; None: they are read from their documents alone."""
        return _xhr_of(self)

    @field_validator("links", "next", "empty", "rows", "match")
    @classmethod
    def _language(cls, value: Selector | None, info: ValidationInfo) -> Selector | None:
        extra = ("text",) if info.field_name == "empty" and info.data.get("type") == "html" else ()
        return _check_language(value, info, extra)

    @field_validator("link")
    @classmethod
    def _link(cls, value: str | None) -> str | None:
        if value is not None:
            searching.check_template(value, frozenset({"base", "value"}))
            if "{value}" not in value:
                raise ValueError("a template with {value}")
            if has_credentials(value):
                raise ValueError(NO_CREDENTIALS)
        return value


class _Typed(_ContentFrom):
    type: Kind = Field(
        "html",
        description="What content pages are. It decides the language of their selectors, here and in `follow`: `css:` "
        "and `xpath:` (of fields also `jsonld:`, `microdata:` and `meta:`), `json:`, or `re:` for `text` (plain text, "
        "Markdown, mails), where a regular expression (RE2) selects its first group, or all that it matches.",
        examples=["json"],
    )

    @field_validator("type")
    @classmethod
    def _of_documents(cls, value: Kind, info: ValidationInfo) -> Kind:
        _check_from(value, info)
        return value


class Twin(Part):
    """What is fetched in place of a content page."""

    pattern: PatternField = Field(
        description="A regular expression (RE2) on the page's address, whose named groups `url` holds. A page that it "
        "doesn't match is fetched itself.",
        examples=[r"/thread/(?P<id>\d+)"],
    )
    url: Template = Field(
        description="The address that is fetched, with {base} and the names of the pattern's groups as placeholders, "
        "percent-encoded. Where it is on another host than the page, the page itself is fetched.",
        examples=["{base}/api/thread/{id}"],
    )

    @field_validator("url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        pattern = info.data.get("pattern")
        return value if pattern is None else _check_address(value, pattern.group_names)


_joined_rules = {name: _field_of(name, "Rule of the `{}` that the second answer says") for name in READ_FIELDS}
_JoinedRules: Any = create_model("_JoinedRules", __base__=Part, **_joined_rules)


class Joined(_JoinedRules):
    """A second request for an item, made of what its page says; the item has these fields where the page lacks them."""

    url: Template = Field(
        description="The address that is fetched, with {base} and the names of `values` as placeholders, "
        "percent-encoded. Its host is the page's own, or one that stands here or is that of `base`, which is asked on "
        "a turn of its own, by its robots.txt; a host that a page's value would make is not asked. What can't be had "
        "now has the whole page tried again; at last it is named in the item's `missing_pages`, as a further page is.",
        examples=["{base}/api/user/{user}"],
    )
    type: Kind = Field(
        "html",
        description="What the second answer is. It decides the language of the selectors of its fields.",
        examples=["json"],
    )
    values: dict[_ExtraName, Rule] = Field(
        min_length=1,
        max_length=10,
        description="Rules by which the page says the values of the placeholders. Where one finds nothing, nothing is "
        "fetched.",
        examples=[{"user": "css:.author::attr(data-id)"}],
    )
    extra: dict[_ExtraName, Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, and the second answer says; they stand under `extra`.",
        examples=[{"posts": "json:posts"}],
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _check_address(self.url, frozenset(self.values))
        rules = [*self.field_rules.values(), *self.extra.values()]
        if not rules:
            raise ValueError("at least one field")
        for rule in rules:
            _check_allowed(rule.select, FIELD_LANGUAGES[self.type], self.type)
        return self

    @cached_property
    def field_rules(self) -> dict[str, Rule]:
        """The rules of the item's fields, by name."""
        return {name: rule for name in READ_FIELDS if (rule := getattr(self, name))}


class Content(_FieldRules, _Typed):
    """How a content page is read: a rule for each field that it has; at least one."""

    extra: dict[_ExtraName, Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, by their names (small letters, digits and _). They stand "
        "under `extra` in the item.",
        examples=[{"views": "css:.views", "tags": {"select": "css:.tag", "all": True}}],
    )
    comments: CommentRules | None = Field(
        None,
        description="How the comments below a page are read, as a list of records; those of further pages follow.",
        examples=[{"each": "css:li.comment", "text": "css:.comment-content", "author": "css:.comment-author"}],
    )
    next_page: Rule | None = Field(
        None,
        description="Where the address of the next page stands, when one item goes over several pages. It must be on "
        "the same host; another address ends the item.",
        examples=["css:a[rel=next]"],
    )
    fetch: Twin | None = Field(
        None,
        description="What is fetched in place of the page, such as its twin in an API. Items have the page's own "
        "address all the same, and links are relative to that.",
        examples=[{"pattern": r"/thread/(?P<id>\d+)", "url": "{base}/api/thread/{id}"}],
    )
    joined: tuple[Joined, ...] = Field(
        (),
        strict=False,
        max_length=5,
        description="Further requests for the same item, one after the other, at the site's pace and under robots.txt.",
        examples=[
            [
                {
                    "url": "{base}/api/user/{user}",
                    "values": {"user": "css:.author::attr(data-id)"},
                    "type": "json",
                    "author": "json:name",
                }
            ]
        ],
    )
    max_pages: int = Field(20, ge=1, le=500, description="Most pages of one item that are fetched.", examples=[5])

    @field_validator(*READ_FIELDS, "next_page")
    @classmethod
    def _language(cls, value: Rule | None, info: ValidationInfo) -> Rule | None:
        _check_field_language(value.select if value else None, info)
        return value

    @field_validator(*(name for name in READ_FIELDS if name != "content"), "next_page")
    @classmethod
    def _lines(cls, value: Rule | None) -> Rule | None:
        if value and value.keep_whitespace:
            raise ValueError("keep_whitespace only in content and fields of extra")
        return value

    @field_validator("extra")
    @classmethod
    def _extra_languages(cls, value: dict[str, Rule], info: ValidationInfo) -> dict[str, Rule]:
        for rule in value.values():
            _check_field_language(rule.select, info)
        return value

    @field_validator("comments")
    @classmethod
    def _comment_languages(cls, value: CommentRules | None, info: ValidationInfo) -> CommentRules | None:
        if value:
            selectors = [value.each, *(rule.select for rule in value.rules.values())]
            for selector in selectors:
                _check_language(selector, info)
            _check_within(value.each, selectors, "each")
            if info.data.get("type") == "text":
                raise ValueError("no comments beside type: text")
        return value

    @field_validator("joined")
    @classmethod
    def _joined_languages(cls, value: tuple[Joined, ...], info: ValidationInfo) -> tuple[Joined, ...]:
        for joined in value:
            for rule in joined.values.values():
                _check_field_language(rule.select, info)
        return value

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.rules:
            raise ValueError("at least one field")
        return self

    @property
    def xhr(self) -> Pattern | None:
        """The addresses of JSON that pages load and are read from; None: they are read from their documents alone."""
        return _xhr_of(self)

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


def _check_address(template: str, names: frozenset[str]) -> str:
    """Returns the template of an address that is made of values.

    Raises:
        ValueError: It has no or another placeholder, or makes no address.
    """
    searching.check_template(template, names | {"base"})
    searching.check_no_script_route(template)
    if not searching.placeholders(template) & names:
        raise ValueError("a template with " + " or ".join(f"{{{name}}}" for name in sorted(names) or ["NAME"]))
    if not template.startswith(("{base}", "http://", "https://")):
        raise ValueError("a URL that starts with {base}, http:// or https://")
    if has_credentials(template):
        raise ValueError(NO_CREDENTIALS)
    return template


def _xhr_of(part: Part) -> Pattern | None:
    loaded: LoadedFrom | None = getattr(part, "from")
    return loaded.xhr if loaded else None


def _check_from(kind: ResultsKind, info: ValidationInfo) -> None:
    if kind != "html" and info.data.get("from"):
        raise ValueError("html beside `from`: the page is a document that loads JSON")


def _check_within(rows: Selector, selectors: Iterable[Selector | None], name: str) -> None:
    """Raises unless what is selected in rows is in what they are: JSON, or elements of a document."""
    is_json = rows.language == "json"
    if any(selector and (selector.language == "json") != is_json for selector in selectors):
        raise ValueError(f"{'only' if is_json else 'no'} json:... within `{name}`, which {rows.text} selects")


def _languages(data: Mapping[str, Any], of: Mapping[str, tuple[str, ...]] = LANGUAGES) -> tuple[str, ...]:
    """Returns the languages of a part's selectors, by what else it says."""
    own = of[data["type"]]
    return (*own, "json") if data.get("from") else own


def _check_language(selector: Selector | None, info: ValidationInfo, extra: tuple[str, ...] = ()) -> Selector | None:
    if selector and "type" in info.data:
        _check_allowed(selector, (*_languages(info.data), *extra), info.data["type"])
    return selector


def _check_field_language(selector: Selector | None, info: ValidationInfo) -> None:
    if selector and "type" in info.data:
        _check_allowed(selector, _languages(info.data, FIELD_LANGUAGES), info.data["type"])


def _check_allowed(selector: Selector, languages: tuple[str, ...], kind: str) -> None:
    if selector.language not in languages:
        raise ValueError(" or ".join(f"{language}:..." for language in languages) + f" beside type: {kind}")


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


# Of a site that can't be searched: there is no search page, and nothing would be found on one.
NO_SEARCH = Search.model_construct(url="")
NO_RESULTS = Results.model_validate({"links": "xpath:/.."})
