"""What is done to items before scrapy-redis puts them into its list."""

from datetime import UTC, datetime


class StampPipeline:
    """Says which spider an item is of, and when it was crawled."""

    @classmethod
    def from_crawler(cls, crawler):
        pipeline = cls()
        pipeline.crawler = crawler
        return pipeline

    def process_item(self, item):
        return item | {"crawled": datetime.now(UTC), "spider": self.crawler.spider.name}
