"""The three kinds of spiders that scrapy-redis's example shows."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider


def page(response):
    return {"name": response.css("title::text").get(), "url": response.url}


class DirectorySpider(CrawlSpider):
    """Follows all links from an address of its own; scrapy-redis holds its requests."""

    name = "directory"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, address="", **arguments):
        super().__init__(start_urls=[address], **arguments)

    def parse_page(self, response):
        return page(response)


class ListSpider(RedisSpider):
    """Reads addresses from a list in Redis."""

    name = "listed"
    redis_key = "listed:start_urls"

    def parse(self, response):
        return page(response) | {"job": response.meta.get("job")}


class ListCrawlSpider(RedisCrawlSpider):
    """Reads addresses from a list in Redis, and follows all links from there."""

    name = "listed_crawl"
    redis_key = "listed_crawl:start_urls"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response):
        return page(response)
