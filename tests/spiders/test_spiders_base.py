"""What producer and consumer share."""

from __future__ import annotations

import uuid

import pytest
from scrapy.settings import Settings

from crawler.spiders import consumer
from crawler.spiders.consumer import ConsumerSpider
from crawler.spiders.producer import ProducerSpider


@pytest.mark.parametrize("spider", [ConsumerSpider, ProducerSpider])
def test_the_contact_stands_in_the_user_agent(spider):
    settings = Settings({"USER_AGENT": "headroom/0.1", "CONTACT": "https://example.org/crawler"})
    spider.update_settings(settings)
    assert settings["USER_AGENT"] == "headroom/0.1 (+https://example.org/crawler)"


def test_without_a_contact_it_stays_as_it_is():
    settings = Settings({"USER_AGENT": "headroom/0.1", "CONTACT": ""})
    ConsumerSpider.update_settings(settings)
    assert settings["USER_AGENT"] == "headroom/0.1"


def test_the_command_line_has_the_last_word():
    settings = Settings({"CONTACT": "https://example.org/crawler"})
    settings.set("USER_AGENT", "mine/1", priority="cmdline")
    ConsumerSpider.update_settings(settings)
    assert settings["USER_AGENT"] == "mine/1"


def test_an_items_id_is_a_uuid_of_version_5():
    for name in ("", "a" * 32 + ":0", "ü"):
        assert consumer._id(name) == str(uuid.uuid5(consumer.ID_NAMESPACE, name))
