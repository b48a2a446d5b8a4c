"""How the comments below a page are read."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from crawler.base.yamlfile import ShortPart
from crawler.sites.rule import Rule, given
from crawler.sites.selector import AUTO, SelectorOrAuto

_RULES = ("text", "author", "published", "likes", "id", "parent")


class CommentRules(ShortPart):
    """How comments are read: a row for each, and rules that look within the row, or by an XPath around it."""

    each: SelectorOrAuto = Field(
        description="Selects the comments, one match for each. A comment within another one answers it. Where a "
        "thread's first post looks like the others, leave it out by `skip_first`, since it is the text; or, where it "
        "has a mark of its own, by the selector: `css:.post:not(.first)`. `auto` reads comments as on pages without "
        "selectors; beside it there are no rules.",
        examples=["css:ol.comments li.comment"],
    )
    skip_first: bool = Field(
        default=False,
        description="Leaves out the first match on an item's first page, and on that alone: on further pages of a "
        "thread the first post is a comment like the others.",
        examples=[True],
    )
    text: Rule | None = Field(
        None,
        description="Rule of a comment's text, within its row, which `each` needs beside it unless it is `auto`; of a "
        "row within the row, nothing is taken. An XPath begins with a dot: `.//p`. Where the text is a block behind "
        "the row, such as the `<dd>` of a `<dt>`, an XPath leads there: "
        "`xpath:following-sibling::*[1][self::dd]`.",
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

    short_for = "each"

    @model_validator(mode="after")
    def _text(self) -> Self:
        if self.is_auto and self.rules:
            raise ValueError("nothing but skip_first and max beside each: auto")
        if not self.is_auto and not self.text:
            raise ValueError("text beside each, unless that is auto")
        return self

    @property
    def is_auto(self) -> bool:
        """Whether comments are read as on pages without selectors."""
        return self.each is AUTO

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """The rules of a row, by name."""
        return given(self, _RULES)
