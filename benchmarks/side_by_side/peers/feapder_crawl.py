"""feapder's AirSpider: requests in memory, a thread for each request in flight.

python feapder_crawl.py URLS OUTPUT CONCURRENCY
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import feapder
import orjson
from feapder.pipelines import BasePipeline
from fields import read

if TYPE_CHECKING:
    from collections.abc import Iterator


class LinesPipeline(BasePipeline):  # type: ignore[misc]  # it has no types
    """Writes items as JSON lines."""

    def save_items(self, table: str, items: list[dict[str, Any]]) -> bool:  # noqa: ARG002 -- one table
        """Writes a batch."""
        with Path(sys.argv[2]).open("ab") as output:
            output.writelines(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE) for item in items)
        return True


class ThreadItem(feapder.Item):  # type: ignore[misc]
    """A thread; its fields are set as attributes."""

    __table_name__ = "threads"


class ThreadsSpider(feapder.AirSpider):  # type: ignore[misc]
    """Reads the pages of the list."""

    __custom_setting__ = {  # noqa: RUF012 -- the framework's own way
        "USE_SESSION": True,  # keeps connections
        "RANDOM_HEADERS": False,
        "ITEM_PIPELINES": ["feapder_crawl.LinesPipeline"],
        "LOG_LEVEL": "ERROR",
    }

    def start_requests(self) -> Iterator[Any]:
        """Yields a request for each page."""
        for url in Path(sys.argv[1]).read_text().split():
            yield feapder.Request(url)

    def parse(self, request: Any, response: Any) -> Iterator[Any]:
        """Yields the page's item."""
        yield ThreadItem(**read(response.selector, request.url, partial(urljoin, request.url)))


if __name__ == "__main__":
    ThreadsSpider(thread_count=int(sys.argv[3])).start()
