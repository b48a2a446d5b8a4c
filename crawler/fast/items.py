"""Scrapy's item pipelines, called one after the other without a coroutine of Scrapy's around each."""

from __future__ import annotations

from types import CoroutineType
from typing import Any

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name


class LeanPipelines(ItemPipelineManager):
    """The pipelines, for the setting ITEM_PROCESSOR."""

    async def process_item_async(self, item: Any) -> Any:
        """Returns the item as the last pipeline returned it.

        Raises:
            Exception: What a pipeline raised, such as DropItem.
        """
        for method in self.methods["process_item"]:
            assert method is not None
            value = method(item, self._spider) if method in self._mw_methods_requiring_spider else method(item)
            if isinstance(value, CoroutineType):
                item = await value
            elif value is not item:
                item = await ensure_awaitable(value, _warn=global_object_name(method))
        return item
