"""A spider of the frontier doesn't start without what its guarantees rest on."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.errors import HeadroomError
from crawler.middlewares.turns import TurnMiddleware
from crawler.spiders.consumer import ConsumerSpider
from crawler.worker.required import require_components

DICTS = {
    "crawler.middlewares.known_site.KnownSiteMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.scope.ScopeMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.robots.RobotsMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.decoding.DecodingMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.turns.TurnMiddleware": "DOWNLOADER_MIDDLEWARES",
    "crawler.middlewares.visits.VisitSpiderMiddleware": "SPIDER_MIDDLEWARES",
    "crawler.worker.delivery.Delivery": "EXTENSIONS",
    "crawler.pipelines.sink.SinkPipeline": "ITEM_PIPELINES",
}


class OwnTurns(TurnMiddleware):
    pass


@pytest.fixture
def settings():
    settings = Settings()
    settings.setmodule("crawler.settings")
    ConsumerSpider.update_settings(settings)
    return settings


@pytest.mark.parametrize("path", DICTS)
def test_each_is_required(settings, path):
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
