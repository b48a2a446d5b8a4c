"""The add-on changes little, and nothing that a project has said."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.misc import load_object

import crawler
from crawler.addon import Headroom, is_switched_on
from crawler.config.crawl_settings import FAST_ENGINE_ADDON, PRIVATE_ADDRESSES
from crawler.fast.addon import FastEngine
from crawler.middlewares.private_addresses import PrivateAddressMiddleware
from crawler.spiders.consumer import ConsumerSpider

OWN_SPIDER = """
import scrapy

class Own(scrapy.Spider):
    name = "producer"
"""


def prepared(**values):
    """Returns a project's settings as Scrapy's runner has the add-on change them."""
    settings = Settings(values)
    Headroom.update_pre_crawler_settings(settings)
    Headroom.update_pre_crawler_settings(settings)  # Scrapy does so once more for each further runner of a process
    return settings


def test_it_is_found_by_the_name_that_documents_show():
    assert load_object("crawler.Headroom") is Headroom is crawler.Headroom


def test_the_project_s_spiders_come_after_producer_and_consumer():
    assert prepared(SPIDER_MODULES=["shop.spiders"])["SPIDER_MODULES"] == ["crawler.spiders", "shop.spiders"]
    assert prepared()["SPIDER_MODULES"] == ["crawler.spiders"]


@pytest.mark.filterwarnings("ignore:There are several spiders with the same name")
def test_a_spider_of_the_project_with_the_name_of_ours_stays_what_it_is(tmp_path, monkeypatch):
    (tmp_path / "own_producer.py").write_text(OWN_SPIDER)
    monkeypatch.syspath_prepend(tmp_path)
    loader = get_spider_loader(prepared(SPIDER_MODULES=["own_producer"]))
    assert loader.load("producer").__module__ == "own_producer"
    assert loader.load("consumer") is ConsumerSpider


@pytest.mark.parametrize(
    ("asked", "own_spiders", "frontier_s"),
    [({}, False, True), ({"FAST_ENGINE": True}, True, True), ({"FAST_ENGINE": False}, False, False)],
)
def test_own_spiders_ask_for_the_fast_engine_and_the_frontier_s_have_it(asked, own_spiders, frontier_s):
    settings = prepared(**asked)
    assert settings["ADDONS"][FAST_ENGINE_ADDON] == 1000
    assert settings.getbool("FAST_ENGINE") == own_spiders
    ConsumerSpider.update_settings(settings)
    assert settings.getbool("FAST_ENGINE") == frontier_s


@pytest.mark.parametrize("name", [FAST_ENGINE_ADDON, FastEngine])
def test_who_has_named_the_fast_engine_has_asked_for_it(name):
    settings = prepared(ADDONS={name: 7})
    assert settings.getdict("ADDONS") == {name: 7}
    assert "FAST_ENGINE" not in settings


def test_private_addresses_are_kept_from_own_spiders_at_the_end_of_their_middlewares():
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {"shop.Middleware": 543}})
    Headroom().update_settings(settings)
    assert settings.getdict("DOWNLOADER_MIDDLEWARES") == {"shop.Middleware": 543, PRIVATE_ADDRESSES: 1_000_000}


@pytest.mark.parametrize("component", [PRIVATE_ADDRESSES, PrivateAddressMiddleware])
@pytest.mark.parametrize("order", [None, 7])
def test_what_a_project_says_of_private_addresses_stays(component, order):
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {component: order}})
    Headroom().update_settings(settings)
    assert settings.getdict("DOWNLOADER_MIDDLEWARES") == {component: order}


def test_the_frontier_s_spiders_need_no_such_middleware():
    settings = Settings()
    ConsumerSpider.update_settings(settings)
    Headroom().update_settings(settings)
    assert settings.getdict("DOWNLOADER_MIDDLEWARES")[PRIVATE_ADDRESSES] is None


@pytest.mark.parametrize(
    ("addons", "on"),
    [
        ({"crawler.Headroom": 100}, True),
        ({Headroom: 100}, True),
        ({"crawler.addon.Headroom": 100}, True),
        ({"crawler.Headroom": None}, False),
        ({FAST_ENGINE_ADDON: 1000}, False),
        (None, False),
    ],
)
def test_a_project_has_it_switched_on(addons, on):
    assert is_switched_on(Settings({"ADDONS": addons})) == on
