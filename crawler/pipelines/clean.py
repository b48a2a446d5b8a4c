"""The first pipeline: an item's texts are clean, and its language is guessed.

Extraction yields clean texts already, and says so; items of other spiders, and what was changed since, get the same
form here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy.exceptions import DropItem

from crawler import text
from crawler.extract import language
from crawler.models import Page


class CleanPipeline:
    """Cleans the texts of a `Page` in place. Other items pass through untouched."""

    async def open_spider(self) -> None:
        """Loads the language model, better now and off the event loop than while pages wait."""
        await asyncio.to_thread(language.language_of, "a text that is long enough to be guessed")

    async def process_item(self, item: Any) -> Any:
        """Returns the item.

        Raises:
            DropItem: `no-content`: neither a title nor content is left.
        """
        if not isinstance(item, Page):
            return item
        if not item.is_clean(item.title):
            item.title = text.line(item.title)
        if not item.is_clean(item.content):
            item.content = text.paragraphs(item.content)
        item.author = text.line(item.author or "") or None
        item.extra = _cleaned(item.extra)
        if not item.title and not item.content:
            raise DropItem("no-content")
        item.language = item.language or language.language_of(f"{item.title}\n{item.content}")
        return item


def _cleaned(value: Any) -> Any:
    """Returns a value of JSON types with each string in it clean."""
    if isinstance(value, str):
        return text.paragraphs(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(entry) for entry in value]
    return value
