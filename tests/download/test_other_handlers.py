"""Whoever takes another download handler is told what that gives up."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawler.config.crawl_settings import VALUES
from crawler.download.handler import CurlDownloadHandler
from crawler.download.other_handlers import GIVEN_UP, warn_of_other_handlers
from crawler.spiders.consumer import ConsumerSpider

OURS = VALUES["DOWNLOAD_HANDLERS"]
SCRAPYS = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"


class Subclass(CurlDownloadHandler):
    pass


@pytest.mark.parametrize("handlers", [OURS, {"http": Subclass, "https": None, "ftp": SCRAPYS}])
def test_nothing_is_said_of_ours(caplog, handlers):
    warn_of_other_handlers(Settings({"DOWNLOAD_HANDLERS": OURS | handlers}))
    assert caplog.records == []


def test_what_another_one_gives_up_is_named_when_a_spider_starts(caplog):
    handlers = OURS | {"https": SCRAPYS}
    needed = dict.fromkeys(("RETRY_BASE_SECONDS", "RETRY_MAX_SECONDS", "MAX_LINKS_PER_PAGE"), 1)
    crawler = get_crawler(settings_dict={"DOWNLOAD_HANDLERS": handlers, **needed})
    caplog.clear()
    ConsumerSpider.from_crawler(crawler)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "HTTP11DownloadHandler downloads https here" in record.message
    assert all(lost in record.message for lost in GIVEN_UP)
