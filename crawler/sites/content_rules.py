"""How a content page is read, field by field, and what is fetched in its place."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from pydantic import Field, ValidationInfo, create_model, field_validator, model_validator

from crawler.base.item import READ_FIELDS
from crawler.base.yamlfile import Part
from crawler.sites.comment_rules import CommentRules
from crawler.sites.joined import Joined
from crawler.sites.loaded_json import check_from, from_key, xhr_of
from crawler.sites.page_type import PageType, check_field_language, check_language, check_within
from crawler.sites.pattern import Pattern, PatternField
from crawler.sites.rule import ExtraName, Rule, given, rule_of
from crawler.sites.url_template import UrlTemplate, check_address

# A rule for each field of the item that is read from content pages.
_rules: dict[str, Any] = {name: rule_of(name, "Rule of the item's `{}`") for name in READ_FIELDS}
_FieldRules: Any = create_model("_FieldRules", __base__=Part, **_rules)
_ContentFrom: Any = create_model(
    "_ContentFrom", __base__=Part, **from_key("all others are read from the rendered document.")
)


# What pages without selectors are read for, and so may be `auto`.
AUTO_FIELDS = ("title", "author", "published", "content", "images")


# `from` and `type` are read before the fields, since they decide in which languages these may be selected.
class _Typed(_ContentFrom, Part):
    type: PageType = Field(
        "html",
        description="What content pages are. It decides the language of their selectors, here and in `follow`: `css:` "
        "and `xpath:` (of fields also `jsonld:`, `microdata:` and `meta:`), `json:`, or `re:` for `text` (plain text, "
        "Markdown, mails), where a regular expression (RE2) selects its first group, or all that it matches.",
        examples=["json"],
    )

    @field_validator("type")
    @classmethod
    def _of_documents(cls, value: PageType, info: ValidationInfo) -> PageType:
        check_from(value, info)
        return value


class Twin(Part):
    """What is fetched in place of a content page."""

    pattern: PatternField = Field(
        description="A regular expression (RE2) on the page's address, whose named groups `url` holds. A page that it "
        "doesn't match is fetched itself.",
        examples=[r"/thread/(?P<id>\d+)"],
    )
    url: UrlTemplate = Field(
        description="The address that is fetched, with {base} and the names of the pattern's groups as placeholders, "
        "percent-encoded. Where it is on another host than the page, the page itself is fetched.",
        examples=["{base}/api/thread/{id}"],
    )

    @field_validator("url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        pattern = info.data.get("pattern")
        return value if pattern is None else check_address(value, pattern.group_names)


class Content(_FieldRules, _Typed, Part):
    """How a content page is read: a rule for each field that it has; at least one."""

    extra: dict[ExtraName, Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, by their names (small letters, digits and _). They stand "
        "under `extra` in the item; an object of JSON as its text.",
        examples=[{"views": "css:.views", "tags": {"select": "css:.tag", "all": True}}],
    )
    comments: CommentRules | None = Field(
        None,
        description="How the comments below a page are read, as a list of records; those of further pages follow. "
        "`auto` reads them as on pages without selectors.",
        examples=[{"each": "css:li.comment", "text": "css:.comment-content", "author": "css:.comment-author"}],
    )
    next_page: Rule | None = Field(
        None,
        description="Where the address of the next page stands, when one item goes over several pages. Of "
        "several, the first counts to which the item hasn't come yet. It must be on the same host; another address "
        "ends the item.",
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
        may_be_auto = info.field_name in AUTO_FIELDS and info.data.get("type") == "html"
        if value and not (value.is_auto and may_be_auto):
            check_field_language(value.select, info)
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
            check_field_language(rule.select, info)
        return value

    @field_validator("comments")
    @classmethod
    def _comment_languages(cls, value: CommentRules | None, info: ValidationInfo) -> CommentRules | None:
        if value and not (value.is_auto and info.data.get("type") == "html"):
            selectors = [value.each, *(rule.select for rule in value.rules.values())]
            for selector in selectors:
                check_language(selector, info)
            check_within(value.each, selectors, "each")
            if info.data.get("type") == "text":
                raise ValueError("no comments beside type: text")
        return value

    @field_validator("joined")
    @classmethod
    def _joined_languages(cls, value: tuple[Joined, ...], info: ValidationInfo) -> tuple[Joined, ...]:
        for joined in value:
            for rule in joined.values.values():
                check_field_language(rule.select, info)
        return value

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.rules:
            raise ValueError("at least one field")
        return self

    @property
    def xhr(self) -> Pattern | None:
        """The addresses of JSON that pages load and are read from; None: they are read from their documents alone."""
        return xhr_of(self)

    @cached_property
    def field_rules(self) -> dict[str, Rule]:
        """The rules of the item's fields, by name."""
        return given(self, READ_FIELDS)

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """All rules of fields, by name; those of `extra` under `extra.NAME`."""
        return self.field_rules | {f"extra.{name}": rule for name, rule in self.extra.items()}

    @property
    def has_auto(self) -> bool:
        """Whether something is read as on pages without selectors."""
        return bool(self.comments and self.comments.is_auto) or any(rule.is_auto for rule in self.field_rules.values())

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the fields of which a page must have at least one."""
        marked = frozenset(name for name, rule in self.rules.items() if rule.required)
        return marked or frozenset({"content"} if "content" in self.rules else self.rules)
