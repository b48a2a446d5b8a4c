"""The first pipeline: an item's texts are clean, and its language is guessed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from scrapy.exceptions import DropItem

from crawler.base import reasons, text
from crawler.base.in_step import in_step
from crawler.base.item import Comment, Item
from crawler.extract import language
from crawler.extract.field_kinds import FIELD_KINDS, Fields, Text

# What cleans each field of text.
_TEXTS = {name: kind.form for name, kind in FIELD_KINDS.items() if isinstance(kind, Text)}
_EMPTY = Fields()


class CleanPipeline:
    """Cleans the texts of an `Item` in place; items of other classes pass through untouched.

    Extraction yields clean texts and notes them as such. Those of other spiders, and what was changed since, get the
    same form here.
    """

    async def open_spider(self) -> None:
        """Loads the language model, in a thread and before the first page waits for it."""
        await asyncio.to_thread(language.language_of, "a text that is long enough to be guessed")

    async def process_item(self, item: Any) -> Any:
        """Returns the item.

        Raises:
            DropItem: `no-content`: neither a title nor content is left.
        """
        if not isinstance(item, Item):
            return item
        for name, form in _TEXTS.items():
            value = getattr(item, name)
            if not item.is_clean(value):
                setattr(item, name, form(value or "") or getattr(_EMPTY, name))
        item.extra = _cleaned(item.extra, item)
        item.comments = [_clean_comment(comment, item) for comment in item.comments]
        if not item.title and not item.content:
            raise DropItem(reasons.NO_CONTENT, "DEBUG")  # the failure log counts it
        if not item.language:
            await in_step()
            item.language = language.language_of(f"{item.title}\n{item.content}")
            await in_step()  # before the sinks, whose work would come between two guesses
        return item


def _clean_comment(comment: Comment, item: Item) -> Comment:
    if item.is_clean(comment.text):
        return comment
    return replace(comment, text=text.paragraphs(comment.text), author=text.line(comment.author or "") or None)


def _cleaned(value: Any, item: Item) -> Any:
    """Returns a value of JSON types with each string in it clean; those that the item notes as clean stay."""
    if isinstance(value, str):
        return value if item.is_clean(value) else text.paragraphs(value)
    if isinstance(value, dict):
        return {_cleaned(key, item): _cleaned(entry, item) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(entry, item) for entry in value]
    return value
