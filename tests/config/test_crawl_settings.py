"""What the frontier's spiders run with, whatever the project, a subclass and the command line say."""

from __future__ import annotations

import json

import pytest
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings, default_settings

from crawler.base.errors import ConfigError
from crawler.config.crawl_settings import COMPONENTS, FAST_ENGINE_ADDON, READ_BEFORE_2_17, VALUES
from crawler.pipelines.clean import CleanPipeline
from crawler.spiders.consumer import ConsumerSpider
from crawler.spiders.producer import ProducerSpider

# What projects set for spiders of their own. None of it may reach the crawl.
PROJECT = {
    "AUTOTHROTTLE_ENABLED": True,
    "CLOSESPIDER_PAGECOUNT": 3,
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "COOKIES_ENABLED": True,
    "DEFAULT_REQUEST_HEADERS": {"Authorization": "Bearer of-one-site"},
    "DEPTH_LIMIT": 1,
    "DOWNLOADER_CLIENT_TLS_METHOD": "TLSv1.2",
    "DOWNLOADER_MIDDLEWARES": {"shop.middlewares.Shop": 543},
    "DOWNLOAD_DELAY": 1,
    "DOWNLOAD_HANDLERS": {"https": "shop.Handler"},
    "DOWNLOAD_SLOTS": {"a.test": {"delay": 9}},
    "EXTENSIONS": {"shop.Extension": 1},
    "FEEDS": {"shop.json": {"format": "json"}},
    "HTTPAUTH_USER": "me",
    "HTTPCACHE_ENABLED": True,
    "ITEM_PIPELINES": {"shop.pipelines.Shop": 300},
    "JOBDIR": "job",
    "ROBOTSTXT_OBEY": False,
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "SPIDER_MIDDLEWARES": {"shop.middlewares.ShopSpider": 543},
}
PROJECT = {
    name: value for name, value in PROJECT.items() if name in {*default_settings.__all__, *READ_BEFORE_2_17}
}  # what this version of Scrapy doesn't know, it doesn't read
# What says who runs the process, and where.
WHO_AND_WHERE = {
    "BOT_NAME": "shop",
    "USER_AGENT": "shop (+http://shop.test)",
    "LOG_LEVEL": "WARNING",
    "LOG_FILE": "shop.log",
    "DOWNLOAD_BIND_ADDRESS": "192.0.2.1",
    "AWS_ACCESS_KEY_ID": "id",
    "FILES_STORE": "s3://shop/",
    "FEED_EXPORT_ENCODING": "utf-8",
    "MEMUSAGE_LIMIT_MB": 900,
    "FAST_ENGINE": False,
}


def frontier(project=None, spider=ConsumerSpider, command_line=None):
    """Returns the settings of a spider of the frontier in a project."""
    settings = Settings(project)
    settings.setdict(command_line or {}, "cmdline")
    spider.update_settings(settings)
    return settings.copy_to_dict()


def subclass(**custom):
    return type("OwnSpider", (ConsumerSpider,), {"name": "own", "custom_settings": custom})


@pytest.mark.parametrize("spider", [ConsumerSpider, ProducerSpider])
def test_a_project_s_settings_for_its_own_spiders_do_not_reach_the_crawl(spider):
    assert READ_BEFORE_2_17 | frontier(PROJECT, spider) == READ_BEFORE_2_17 | frontier({}, spider)


@pytest.mark.parametrize("name", WHO_AND_WHERE)
def test_a_project_says_who_runs_the_process_and_where(name):
    changed = frontier(WHO_AND_WHERE)
    assert changed[name] == WHO_AND_WHERE[name]
    assert changed == frontier() | WHO_AND_WHERE


def test_they_have_the_crawl_s_values_and_the_fast_engine():
    settings = frontier()
    assert settings["ADDONS"] == {FAST_ENGINE_ADDON: 1000}
    assert {name: settings[name] for name in VALUES} == VALUES
    assert (settings["LOG_LEVEL"], settings["FAST_ENGINE"]) == ("INFO", True)


@pytest.mark.parametrize("priority", ["default", "project", "spider", "cmdline"])
def test_a_process_that_is_given_a_crawler_leaves_it_the_fast_engine(priority):
    settings = Settings({"ADDONS": {"scrapy_poet.Addon": 1}}, priority)
    crawler = AsyncCrawlerRunner(settings).create_crawler(Crawler(ConsumerSpider, settings))
    assert crawler.settings.getdict("ADDONS") == {"scrapy_poet.Addon": 1, FAST_ENGINE_ADDON: 1000}


def test_add_ons_of_the_project_stay():
    assert frontier({"ADDONS": {"shop.AddOn": 1, FAST_ENGINE_ADDON: 5}})["ADDONS"] == {
        "shop.AddOn": 1,
        FAST_ENGINE_ADDON: 5,
    }


@pytest.mark.parametrize("kind", COMPONENTS)
@pytest.mark.parametrize("way", ["the project", "a subclass"])
def test_components_that_are_meant_for_the_crawl_are_added_to_its_own(kind, way):
    own = {kind: {"shop.Component": 300, "of.Scrapy": None}, "DOWNLOAD_TIMEOUT": 7}
    settings = frontier({"FRONTIER_SETTINGS": own}) if way == "the project" else frontier({}, subclass(**own))
    assert settings[kind] == {**VALUES[kind], **own[kind]}
    assert settings["DOWNLOAD_TIMEOUT"] == 7


def test_the_command_line_has_the_last_word():
    given = {"DOWNLOAD_DELAY": "2", "ITEM_PIPELINES": '{"my.Pipeline": 1}', "LOG_LEVEL": "ERROR"}
    settings = frontier({"FRONTIER_SETTINGS": {"DOWNLOAD_DELAY": 9}}, subclass(DOWNLOAD_DELAY=8), given)
    assert settings | {"ITEM_PIPELINES": json.dumps(settings["ITEM_PIPELINES"])} == settings | given


def test_what_is_set_aside_is_said_where_the_crawl_has_another_value(caplog):
    caplog.set_level("INFO")
    project = {"DOWNLOAD_DELAY": 1, "ITEM_PIPELINES": {"shop.pipelines.Shop": 300}, "LOG_LEVEL": "INFO"}
    frontier(project | {"ROBOTSTXT_OBEY": True, "DOWNLOAD_HANDLERS": VALUES["DOWNLOAD_HANDLERS"]})
    (message,) = caplog.messages
    assert message.startswith("the crawl has its own DOWNLOAD_DELAY, ITEM_PIPELINES (FRONTIER_SETTINGS sets them)")


def test_a_component_of_the_crawl_is_changed_by_its_class_too():
    settings = frontier({"FRONTIER_SETTINGS": {"ITEM_PIPELINES": {CleanPipeline: 150}}}, subclass(ITEM_PIPELINES={}))
    others = {path: order for path, order in VALUES["ITEM_PIPELINES"].items() if not path.endswith("CleanPipeline")}
    assert settings["ITEM_PIPELINES"] == {str(CleanPipeline): 150, **others}


def test_components_may_be_json_as_in_scrapy():
    settings = frontier({"FRONTIER_SETTINGS": '{"ITEM_PIPELINES": "{\\"shop.Pipeline\\": 1}"}'})
    assert settings["ITEM_PIPELINES"] == {**VALUES["ITEM_PIPELINES"], "shop.Pipeline": 1}


@pytest.mark.parametrize("kind", COMPONENTS)
@pytest.mark.parametrize("value", [None, "shop.Component", "[1]", 5, ["shop.Component"]])
def test_components_that_are_no_dict_are_refused_by_name(kind, value):
    expected = f"^setting {kind} in FRONTIER_SETTINGS: got .*, expected a dict, which is added to the crawl's$"
    with pytest.raises(ConfigError, match=expected):
        frontier({"FRONTIER_SETTINGS": {kind: value}})


@pytest.mark.parametrize("value", ["[", 5, ["DOWNLOAD_DELAY"]])
def test_the_project_s_wish_is_a_dict(value):
    with pytest.raises(
        ConfigError, match=r"^setting FRONTIER_SETTINGS: got .*, expected settings for the frontier's spiders"
    ):
        frontier({"FRONTIER_SETTINGS": value})
