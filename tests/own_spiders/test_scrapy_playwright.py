"""A spider of one's own may render pages by scrapy-playwright: alone, with the add-on, and in this project."""

from __future__ import annotations

import json

import pytest
from hostile.hostile_wire_bodies import answer
from own_spiders.conftest import PROJECTS

SPIDER = """
import scrapy


class Shop(scrapy.Spider):
    name = "rendered_shop"
    custom_settings = {
        "DOWNLOAD_HANDLERS": {"http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"},
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": "CHROMIUM", "args": ["--no-sandbox"]},
    }

    async def start(self):
        yield scrapy.Request("PAGE", meta={"playwright": True})

    def parse(self, response):
        yield {"text": response.css("#made::text").get()}
"""
PAGE = b"<html><body><script>document.body.innerHTML = '<p id=made>by a script</p>'</script></body></html>"


@pytest.mark.faults
@pytest.mark.parametrize("project", PROJECTS)
def test_a_page_is_rendered(chromium_path, projects, project, serve, tmp_path):
    pytest.importorskip("scrapy_playwright", reason="scrapy-playwright isn't installed")
    host = serve(lambda _path: [answer(PAGE)])
    file = tmp_path / "rendered_shop.py"
    file.write_text(SPIDER.replace("CHROMIUM", chromium_path).replace("PAGE", f"{host.url}/"))
    options = ("-s", "ROBOTSTXT_OBEY=0", "-s", "ALLOW_PRIVATE_ADDRESSES=1")
    done = projects[project].run("runspider", file, "-O", tmp_path / "items.json", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "items.json").read_text()) == [{"text": "by a script"}], done.stderr
