"""A spider of the frontier doesn't start without what its guarantees rest on."""

from __future__ import annotations

from typing import ClassVar

import pytest
from scrapy.settings import Settings

from crawler.base.errors import ConfigError, HeadroomError
from crawler.middlewares.turns import TurnMiddleware
from crawler.scheduler import Scheduler
from crawler.spiders.consumer import ConsumerSpider
from crawler.worker.life.required import require_components, require_parts

DICTS = {
    "crawler.middlewares.known_site.KnownSiteMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.scope.ScopeMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.robots.RobotsMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.decoding.DecodingMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.turns.TurnMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.visits.VisitSpiderMiddleware": "SPIDER_MIDDLEWARES",
    "crawler.worker.settling.delivery.Delivery": "EXTENSIONS",
    "crawler.pipelines.sink.SinkPipeline": "ITEM_PIPELINES",
}


class OwnScheduler(Scheduler):
    pass


class OwnTurns(TurnMiddleware):
    pass


@pytest.fixture
def settings():
    settings = Settings()
    settings.setmodule("crawler.settings")
    ConsumerSpider.update_settings(settings)
    return settings


@pytest.mark.parametrize("path", DICTS)
def test_a_start_without_a_component_is_refused_by_its_name(settings, path):
    require_components(settings)
    settings.set(DICTS[path], {**settings.getdict(DICTS[path]), path: None}, "spider")
    with pytest.raises(HeadroomError, match=f"^setting {DICTS[path]}: expected {path} in it, which is missing"):
        require_components(settings)


@pytest.mark.parametrize(
    ("name", "value", "path"),
    [
        ("ROBOTSTXT_OBEY", "0", "crawler.middlewares.robots.RobotsMiddleware"),
        ("ITEM_SINKS", "", "crawler.pipelines.sink.SinkPipeline"),
    ],
)
def test_what_a_setting_switches_off_may_be_missing(settings, name, value, path):
    settings.set(name, value, "spider")
    settings.set(DICTS[path], {**settings.getdict(DICTS[path]), path: None}, "spider")
    require_components(settings)


def test_a_subclass_stands_for_its_base(settings):
    name = "DOWNLOADER_MIDDLEWARES"
    path = "crawler.middlewares.turns.TurnMiddleware"
    settings.set(name, {**settings.getdict(name), path: None, OwnTurns: 990}, "spider")
    require_components(settings)


WRONG_PARTS = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DOWNLOADER": "scrapy.core.engine.ExecutionEngine",
    "ITEM_PROCESSOR": "crawler.pipelines.clean.CleanPipeline",
    "TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor",
}


@pytest.mark.parametrize("name", WRONG_PARTS)
@pytest.mark.parametrize("value", [None, "no.such.Part", "nothing"])
@pytest.mark.parametrize("where", ["cmdline", "spider"])
def test_another_part_is_refused(name, value, where):
    value = value or WRONG_PARTS[name]
    settings = Settings({"FRONTIER_SETTINGS": {name: value}} if where == "spider" else None)
    if where == "cmdline":
        settings.set(name, value, "cmdline")
    with pytest.raises(ConfigError, match=f"^setting {name}: got '?{value}'?, expected .* or a subclass of it$"):
        ConsumerSpider.update_settings(settings)


def test_a_subclass_says_no_other_scheduler():
    class Own(ConsumerSpider):
        custom_settings: ClassVar = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}

    with pytest.raises(ConfigError, match=r"^setting SCHEDULER: "):
        Own.update_settings(Settings())


def test_a_subclass_of_a_part_stands_for_it(settings):
    settings.set("SCHEDULER", OwnScheduler, "spider")
    require_parts(settings)


def test_without_a_reactor_none_is_required(settings):
    settings.set("TWISTED_REACTOR_ENABLED", value=False, priority="spider")
    settings.set("TWISTED_REACTOR", None, "spider")
    require_parts(settings)
