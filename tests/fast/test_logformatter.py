"""The log lines of pages and items are made only if a handler takes them."""

import logging

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter

from crawler.fast.logformatter import LeanLogFormatter

PAGE = Response("http://a.example/", request=Request("http://a.example/"))
SPIDER = Spider("any")


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
def test_a_line_is_made_where_a_handler_takes_it(monkeypatch, level):
    handler = logging.Handler(level)
    monkeypatch.setattr(logging.root, "handlers", [handler])
    monkeypatch.setattr(logging.root, "level", logging.NOTSET)
    for name in ("scrapy.core.engine", "scrapy.core.scraper"):
        monkeypatch.setattr(logging.getLogger(name), "_cache", {})  # of levels, which a test before may have filled
    ours, scrapys = LeanLogFormatter(), LogFormatter()
    is_taken = level == logging.DEBUG
    assert ours.crawled(PAGE.request, PAGE, SPIDER) == (
        scrapys.crawled(PAGE.request, PAGE, SPIDER) if is_taken else None
    )
    assert ours.scraped({}, PAGE, SPIDER) == (scrapys.scraped({}, PAGE, SPIDER) if is_taken else None)
