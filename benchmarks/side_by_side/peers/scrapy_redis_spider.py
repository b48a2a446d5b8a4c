"""scrapy-redis: start URLs from a Redis list, requests and fingerprints in Redis.

    python scrapy_redis_spider.py REDIS_URL OUTPUT CONCURRENCY

The list is `threads:start_urls`, JSON as its documentation wants it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fields import read
from scrapy.crawler import CrawlerProcess
from scrapy_redis.spiders import RedisSpider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class ThreadsSpider(RedisSpider):  # type: ignore[misc]  # it has no types
    """Reads the pages of the list."""

    name = "threads"
    redis_batch_size = (
        1_000  # start URLs are read when nothing else is left: with 64, the last page of each is waited for
    )
    max_idle_time = 1  # s; the list is full before the start

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yields the page's item."""
        yield read(response, response.url, response.urljoin)


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(sys.argv[3]),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[3]),
            "FEEDS": {Path(sys.argv[2]): {"format": "jsonlines", "encoding": "utf-8"}},
            "REDIS_URL": sys.argv[1],
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "LOG_LEVEL": "WARNING",  # it would log every start URL
        }
    )
    process.crawl(ThreadsSpider)
    process.start()
