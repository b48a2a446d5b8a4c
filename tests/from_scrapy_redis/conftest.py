"""A site of a few pages that link to each other, and scrapy-redis's spiders beside a crawl on one Redis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile.hostile_wire_bodies import answer

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGES = 8
SPIDER_SECONDS = 300.0  # each takes some 5 s on an idle machine: an idle engine looks at its scheduler every 5 s
# How the spiders of the example run in this project, whose settings don't name scrapy-redis.
IN_THIS_PROJECT = {
    "SPIDER_MODULES": "example.spiders",
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "SCHEDULER_PERSIST": 1,
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "ITEM_PIPELINES": json.dumps({"example.pipelines.StampPipeline": 300, "scrapy_redis.pipelines.RedisPipeline": 400}),
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "DOWNLOAD_DELAY": 0,
}


@pytest.fixture
def site(serve):
    """A site; `url_of(N)` is a page's address. Each page links to the next two, the last ones to the first ones."""

    def page(path):
        number = int(path.removeprefix("/page/"))
        links = "".join(f'<a href="/page/{(number + step) % PAGES}">on</a>' for step in (1, 2))
        return [answer(f"<html><title>Page {number}</title><article>{'Words of a page. ' * 9}</article>{links}</html>")]

    host = serve(page)
    host.url_of = lambda number: f"{host.url}/page/{number}"
    return host


@pytest.fixture(params=["its own project", "this project"])
def run_spider(request, redis_url):
    """Returns `run(NAME, *ARGUMENTS, **SETTINGS)`: a spider of the example to its end; returns its log."""
    is_own = request.param == "its own project"

    def run(name, *arguments, **settings):
        chosen = {"REDIS_URL": redis_url} | ({} if is_own else IN_THIS_PROJECT) | settings
        options = [word for key, value in chosen.items() for word in ("-s", f"{key}={value}")]
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", name, *options, *arguments],
            cwd=HERE / "example" if is_own else ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE / "example")])},
            capture_output=True,
            text=True,
            timeout=SPIDER_SECONDS,
            check=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.stderr

    return run
