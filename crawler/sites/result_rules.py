"""How a page of results is read: its links, what its rows say of them, and how it says that there are none."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, ValidationInfo, create_model, field_validator, model_validator

from crawler.base.item import READ_FIELDS, ReadAs
from crawler.base.yamlfile import Part
from crawler.sites.loaded_json import check_from, from_key, xhr_of
from crawler.sites.page_type import ResultsType, check_language, check_within, languages
from crawler.sites.rule import ExtraName, Rule, given, rule_of
from crawler.sites.selector import Selector, SelectorField
from crawler.sites.url_template import UrlTemplate, check_no_credentials, check_template

if TYPE_CHECKING:
    from crawler.sites.pattern import Pattern

MAX_ROW_CHARACTERS = 4_000  # what a row says stands in Redis with the page's seed, as JSON of that length at most
_LATER = frozenset({408, 425, 429})  # statuses that say nothing of a page: timeout, too early, too many requests

# A rule for each field of the item that a row of results may have.
_IN_ROWS = (ReadAs.LINE, ReadAs.NAMES, ReadAs.INSTANT)
ROW_FIELDS = tuple(name for name, mark in READ_FIELDS.items() if mark in _IN_ROWS)
_rules = {name: rule_of(name, "Rule of the `{}` that the item has unless its page says one") for name in ROW_FIELDS}
_RowRules: Any = create_model("_RowRules", __base__=Part, **_rules)


class RowFields(_RowRules, Part):
    """What a row of results says of the page that it links to; at least one field."""

    extra: dict[ExtraName, Rule] = Field(
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
        return given(self, ROW_FIELDS)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.field_rules and not self.extra:
            raise ValueError("at least one field")
        return self


_ResultsFrom: Any = create_model(
    "_ResultsFrom", __base__=Part, **from_key("`css:` and `xpath:` ones are read from the rendered document.")
)


class Results(_ResultsFrom, Part):
    """Where the links stand on a page of results, and what a page without results looks like."""

    type: ResultsType = Field(
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
    link: UrlTemplate | None = Field(
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

    every: bool = Field(
        default=False,
        description="Takes every result of a list (`search.url` without {query}), whatever a plan's words are; its "
        "items have the plan's first combination as their `keywords`.",
        examples=[True],
    )

    match_text: bool = Field(
        default=False,
        description="Takes a page that a search led to only if its title, text or comments have all words of a "
        "combination of the plan, as the plan's `match_text` does for all its sites. For searches that look for less "
        "than all words, and for lists whose rows don't have them (beside `every`).",
        examples=[True],
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
        if self.every and self.match:
            raise ValueError("either match or every")
        if self.rows and self.type == "text":
            raise ValueError("no rows beside type: text")
        rules = [*self.fields.field_rules.values(), *self.fields.extra.values()] if self.fields else []
        allowed = languages({"type": self.type, "from": self.xhr})
        if any(rule.select.language not in allowed for rule in rules):
            raise ValueError(f"fields: {' or '.join(f'{name}:...' for name in allowed)}, as the type says")
        if self.rows:
            check_within(self.rows, [self.links, self.match, *(rule.select for rule in rules)], "rows")
        return self

    @field_validator("type")
    @classmethod
    def _of_documents(cls, value: ResultsType, info: ValidationInfo) -> ResultsType:
        check_from(value, info)
        return value

    @property
    def xhr(self) -> Pattern | None:
        """The addresses of JSON that pages load and are read from; None: they are read from their documents alone."""
        return xhr_of(self)

    @field_validator("links", "next", "empty", "rows", "match")
    @classmethod
    def _language(cls, value: Selector | None, info: ValidationInfo) -> Selector | None:
        extra = ("text",) if info.field_name == "empty" and info.data.get("type") == "html" else ()
        return check_language(value, info, extra)

    @field_validator("link")
    @classmethod
    def _link(cls, value: str | None) -> str | None:
        if value is not None:
            check_template(value, frozenset({"base", "value"}))
            if "{value}" not in value:
                raise ValueError("a template with {value}")
            check_no_credentials(value)
        return value


# A site that can't be searched has these: they find nothing.
NO_RESULTS = Results.model_validate({"links": "xpath:/.."})
