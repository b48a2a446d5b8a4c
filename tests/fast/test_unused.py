"""What is switched off is not imported, with the libraries that it alone needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from scrapy.settings import Settings
from waiting import PATIENCE_SECONDS

from crawler.fast.unused import COOKIES, leave_out_unused

TELNET = "scrapy.extensions.telnet.TelnetConsole"
# Libraries that a consumer with the files sink has no use for; each takes 5 to 28 MiB.
HEAVY = {"aiohttp", "dateparser", "kafka", "pymongo", "requests", "rich", "tldextract", "trafilatura"}
# Loads what Scrapy loads for a crawl: the spider, the add-ons, and every component that the settings then name.
LOAD = """
import json, sys
from scrapy.crawler import Crawler
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings
settings = get_project_settings()
crawler = Crawler(get_spider_loader(settings).load("consumer"), settings)
crawler.addons.load_settings(crawler.settings)
for kind in ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES"):
    for component in build_component_list(crawler.settings.get_component_priority_dict_with_base(kind)):
        load_object(component)
crawler.settings.set("ITEMS_DIR", sys.argv[1], "cmdline")
from crawler.pipelines.sink import chosen_sinks
chosen_sinks(crawler.settings)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def enabled(kind, **values):
    """Returns the names of the components that are left, by the setting that names them."""
    settings = Settings(values)
    leave_out_unused(settings)
    return set(settings.getdict(kind)), set(settings.getdict(f"{kind}_BASE"))


@pytest.mark.process
def test_a_consumer_loads_no_library_that_it_does_not_use(tmp_path):
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE_SECONDS)
    assert HEAVY.isdisjoint(json.loads(answer.stdout))


@pytest.mark.parametrize(("order", "stays"), [(None, set()), (0, {TELNET})])
def test_a_component_that_is_none_is_named_nowhere(order, stays):
    own, base = enabled("EXTENSIONS", EXTENSIONS={TELNET: order, "of.the.Project": 5})
    assert own == {"of.the.Project"} | stays
    assert (TELNET in base) == bool(stays)


@pytest.mark.parametrize("is_on", [True, False])
def test_the_middleware_of_cookies_is_there_where_they_are_on(is_on):
    _own, base = enabled("DOWNLOADER_MIDDLEWARES", COOKIES_ENABLED=is_on)
    assert (COOKIES in base) == is_on


def test_what_other_settings_say_keeps_its_priority():
    settings = Settings()
    settings.set("EXTENSIONS", {TELNET: None}, "spider")
    leave_out_unused(settings)
    settings.set("EXTENSIONS", {"of.the.Project": 1}, "project")
    assert settings.getdict("EXTENSIONS") == {}
