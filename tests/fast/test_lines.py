"""Lines of pages and items are made for those who read them."""

import logging

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter

from crawler.fast.lines import LeanLogFormatter

PAGE = Response("http://a.example/", request=Request("http://a.example/"))
SPIDER = Spider("any")


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
def test_a_line_is_made_where_a_handler_takes_it(monkeypatch, level):
    handler = logging.Handler(level)
    monkeypatch.setattr(logging.root, "handlers", [handler])
    monkeypatch.setattr(logging.root, "level", logging.NOTSET)
    lean, scrapys = LeanLogFormatter(), LogFormatter()
    expected = scrapys.crawled(PAGE.request, PAGE, SPIDER) if level == logging.DEBUG else None
    assert lean.crawled(PAGE.request, PAGE, SPIDER) == expected
    assert lean.scraped({}, PAGE, SPIDER) == (scrapys.scraped({}, PAGE, SPIDER) if expected else None)
