"""Producer and consumer crawl beside popular add-ons, on both engines."""

from __future__ import annotations

import json

import pytest

ADDONS = {
    "scrapy-poet": {"ADDONS": json.dumps({"scrapy_poet.Addon": 300})},
    "spidermon": {
        "SPIDERMON_ENABLED": 1,
        "FRONTIER_SETTINGS": json.dumps({"EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500}}),
    },
    "scrapy-fake-useragent": {
        "FRONTIER_SETTINGS": json.dumps(
            {
                "DOWNLOADER_MIDDLEWARES": {
                    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
                    "scrapy_fake_useragent.middleware.RandomUserAgentMiddleware": 400,
                }
            }
        )
    },
}

pytestmark = pytest.mark.faults  # each starts commands or crawls of its own, one after the other


@pytest.mark.parametrize("engine", ["fast", "Scrapy's"])
@pytest.mark.parametrize("name", ADDONS)
def test_producer_and_consumer_crawl(many_hosts, crawl, name, engine):
    web = many_hosts(1, 1)
    (host,) = web.hosts
    crawl.site(search=f"http://{host}/search?q={{query}}&page={{page}}")
    crawl.submit(["s"], ["word"])
    crawl.offer([f"http://{host}/page/0", f"http://{host}/page/1"])
    log = crawl.finish(producers=1, FAST_ENGINE=int(engine == "fast"), **ADDONS[name]).decode(errors="replace")
    assert "Traceback" not in log
    total = crawl.total()
    assert (total["failed"], total["ready"], total["executing"]) == (0, 0, 0)
    assert total["finished"] >= 3, total  # the pages, and the search
    assert len(crawl.items()) >= 2
