"""Were all pages crawled, and read right? A lost page, or a field left out, looks like speed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.side_by_side import pages
from crawler.base.errors import HeadroomError

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLE = 200  # pages whose every field is compared, spread over all


def check(items: Iterable[dict[str, Any]], number: int, base: str) -> None:
    """Compares what a crawler delivered with what stands on the pages.

    Args:
        items: In the form of `pages.item`.
        number: How many pages there were.
        base: Origin of the server.

    Raises:
        HeadroomError: A page is missing, is there twice, or differs.
    """
    wanted = {base + pages.path(index): index for index in range(0, number, max(1, number // SAMPLE))}
    urls: Counter[str] = Counter()
    for item in items:
        urls[item["url"]] += 1
        index = wanted.get(item["url"])
        if index is not None and item != (expected := pages.item(pages.thread(index), base)):
            wrong = {name for name in item.keys() | expected.keys() if item.get(name) != expected.get(name)}
            name = min(wrong)
            raise HeadroomError(f"{item['url']}: {name} is {item.get(name)!r}, expected {expected.get(name)!r}")
    all_urls = {base + pages.path(index) for index in range(number)}
    if urls.keys() != all_urls or urls.total() != number:
        strangers = sorted(urls.keys() - all_urls)[:3]
        raise HeadroomError(
            f"{urls.total()} items of {len(urls)} pages, expected {number} of as many; unknown: {strangers}"
        )
