"""Add-ons that inspect callbacks, as scrapy-poet does, can read those of the frontier's spiders."""

from typing import get_type_hints

import pytest
from scrapy.http import Response
from twisted.python.failure import Failure

from crawler.spiders.consumer import ConsumerSpider
from crawler.spiders.producer import ProducerSpider


@pytest.mark.parametrize("spider", [ConsumerSpider, ProducerSpider])
def test_annotations_of_callbacks_are_found_at_run_time(spider):
    assert get_type_hints(spider.parse)["response"] is Response
    assert get_type_hints(spider.errback)["failure"] is Failure
