"""Further requests for one item, made of what its page says."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from pydantic import Field, create_model, model_validator

from crawler.base.item import READ_FIELDS
from crawler.base.yamlfile import Part
from crawler.sites.comment_rules import CommentRules
from crawler.sites.page_type import FIELD_LANGUAGES, PageType, check_allowed, check_within
from crawler.sites.rule import ExtraName, Rule, given, rule_of
from crawler.sites.url_template import UrlTemplate, check_address

_rules = {name: rule_of(name, "Rule of the `{}` that the second answer says") for name in READ_FIELDS}
_JoinedRules: Any = create_model("_JoinedRules", __base__=Part, **_rules)


class Joined(_JoinedRules, Part):
    """A second request for an item, made of what its page says; the item has these fields where the page lacks them."""

    url: UrlTemplate = Field(
        description="The address that is fetched, with {base} and the names of `values` as placeholders, "
        "percent-encoded. Its host is the page's own, or one that stands here or is that of `base`, which is asked on "
        "a turn of its own, by its robots.txt; a host that a page's value would make is not asked. What can't be had "
        "now has the whole page tried again; at last it is named in the item's `missing_pages`, as a further page is.",
        examples=["{base}/api/user/{user}"],
    )
    type: PageType = Field(
        "html",
        description="What the second answer is. It decides the language of the selectors of its fields.",
        examples=["json"],
    )
    values: dict[ExtraName, Rule] = Field(
        min_length=1,
        max_length=10,
        description="Rules by which the page says the values of the placeholders. Where one finds nothing, nothing is "
        "fetched.",
        examples=[{"user": "css:.author::attr(data-id)"}],
    )
    extra: dict[ExtraName, Rule] = Field(
        {},
        max_length=50,
        description="Rules of fields that only this site has, and the second answer says; they stand under `extra`.",
        examples=[{"posts": "json:posts"}],
    )

    comments: CommentRules | None = Field(
        None,
        description="How the comments in the second answer are read, as `content.comments`; an item has them if its "
        "page has none.",
        examples=[{"each": "css:.answer", "text": "css:p", "author": "css:.user"}],
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        try:
            check_address(self.url, frozenset(self.values))
        except ValueError as error:
            raise ValueError(f"url: {error}") from None
        rules = [*self.field_rules.values(), *self.extra.values()]
        if not rules and not self.comments:
            raise ValueError("at least one field")
        selectors = [rule.select for rule in rules]
        if self.comments:
            within = [self.comments.each, *(rule.select for rule in self.comments.rules.values())]
            check_within(self.comments.each, within, "each")
            if self.type == "text":
                raise ValueError("no comments beside type: text")
            selectors += within
        for selector in selectors:
            check_allowed(selector, FIELD_LANGUAGES[self.type], self.type)
        return self

    @cached_property
    def field_rules(self) -> dict[str, Rule]:
        """The rules of the item's fields, by name."""
        return given(self, READ_FIELDS)
