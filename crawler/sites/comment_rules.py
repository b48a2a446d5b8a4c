"""How the comments below a page are read."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from crawler.base.yamlfile import Part
from crawler.sites.rule import Rule, given
from crawler.sites.selector import SelectorField


class CommentRules(Part):
    """How comments are read: a row for each, and rules that look within the row, or by an XPath around it."""

    each: SelectorField = Field(
        description="Selects the comments, one match for each. A comment within another one answers it. Where a "
        "thread's first post looks like the others, leave it out by `skip_first`, since it is the text; or, where it "
        "has a mark of its own, by the selector: `css:.post:not(.first)`.",
        examples=["css:ol.comments li.comment"],
    )
    skip_first: bool = Field(
        default=False,
        description="Leaves out the first match on an item's first page, and on that alone: on further pages of a "
        "thread the first post is a comment like the others.",
        examples=[True],
    )
    text: Rule = Field(
        description="Rule of a comment's text, within its row; of a row within the row, nothing is taken. An XPath "
        "begins with a dot: `.//p`. Where the text is a block behind the row, such as the `<dd>` of a `<dt>`, an XPath "
        "leads there: `xpath:following-sibling::*[1][self::dd]`.",
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
        return given(self, ("text", "author", "published", "likes", "id", "parent"))
