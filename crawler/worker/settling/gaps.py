"""What items on their way to the sinks lack, whatever pipelines make of them.

An item says so itself. But a pipeline of a user's may put another item in the place of one, which knows nothing of
that: it would pass for complete, and take the place of a version that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.datatypes import LocalCache

if TYPE_CHECKING:
    from crawler.base.item import Item

# Most items whose gaps are kept, far more than are on their way; those of dropped items are never asked for.
MAX_ITEMS = 10_000


class _Lack(NamedTuple):
    gaps: int
    missing_pages: tuple[str, ...]


class Gaps:
    """The gaps and missing pages of items, by their `id`."""

    def __init__(self) -> None:
        self._lacks: LocalCache[str, _Lack] = LocalCache(MAX_ITEMS)

    def note(self, item: Item) -> None:
        """Notes what a page's item lacks; no later plan is told of an item with gaps."""
        self._lacks.pop(item.id, None)  # an earlier visit's
        if item.gaps or item.missing_pages:
            self._lacks[item.id] = _Lack(item.gaps, tuple(item.missing_pages))
        if item.gaps and item.visit is not None:
            item.visit.has_gaps = True

    def restore(self, item: Item) -> None:
        """Has an item say what the one lacks that it has taken the place of; one that says so itself stays as it is."""
        lack = self._lacks.pop(item.id, None)
        if lack is not None:
            item.gaps = max(item.gaps, lack.gaps)
            item.missing_pages = item.missing_pages or list(lack.missing_pages)
