"""One site in the monitor: its definition in force, its version, who uses it, what is wrong; on a real Redis."""

from __future__ import annotations

import orjson
import pytest
from commands.conftest import content_seed
from monitor.conftest import text_of
from monitor.test_overview import add

from crawler import sites
from crawler.base.models import Seed
from crawler.monitor.pages.sites import COLUMNS, SHOWN_COUNTS

pytestmark = pytest.mark.usefixtures("_reads_anew")
SITE = """
name: board
base: http://board.test
headers: {X-Api-Key: "${SITE_SECRET_BOARD}", Accept-Language: "zh <b>"}
search: {url: "{base}/s?q={query}"}
results: {links: "css:a"}
"""


async def save(operator, text=SITE):
    await operator.registry.save_sites((sites.parse(text, "board.yaml"),))


async def test_a_site_in_full(browser, operator, fail):
    await save(operator)
    await save(operator, SITE.replace("css:a", "css:a.hit"))
    await fail("http-404", content_seed(1))
    await add(
        operator, **{"site:board:finished": 5, "site:board:failed": 1, "site:board:content": 2, "site:board:items": 1}
    )
    viewer = browser("viewer")
    page = viewer.get("/site?name=board").text
    assert "<b>" not in page  # of its headers
    text = text_of(page)
    assert "Version 2, since 20" in text
    assert "Pages finished, in all 5 (hour: 5) Times a page failed, in all 1 (hour: 1)" in text
    assert "flood done Content pages 1 0 0 0 0 1" in text
    assert "http-404 1" in text
    assert "Accept-Language: zh &lt;b&gt;" in page
    assert "trouble" not in page
    assert orjson.loads(viewer.get("/site.json?name=board").text)[1]["failed"] == 1
    assert viewer.get("/site?name=other").status == 404
    (row,) = orjson.loads(viewer.get("/sites.json").text)
    assert (row["version"], row["trouble"], row["items"], row["content_last_hour"]) == (2, "", 1, 2)
    assert "1 / 2" in text_of(viewer.get("/sites").text)


def test_the_page_shows_each_number_of_the_table():
    shown = [name for names in SHOWN_COUNTS.values() for name in names]
    assert sorted(["site", "version", *shown, "plans", "trouble"]) == sorted(COLUMNS)


async def test_what_is_wrong_with_a_site(browser, operator):
    await operator.queues["content"].offer([Seed("http://lost.test/1", "p", "lost")])
    await save(operator)
    await add(operator, **{"site:board:failed": 12, "site:old:failed": 3, "site:old:finished": 2})
    await operator.queues["content"].offer([Seed("http://gone.test/1", "p", "gone")])
    await save(operator, SITE.replace("name: board", "name: gone"))
    await add(operator, **{"site:gone:failed": 1, "site:gone:retried": 4})
    viewer = browser("viewer")
    rows = {row["site"]: row["trouble"] for row in orjson.loads(viewer.get("/sites.json").text)}
    assert rows == {"board": "vain", "gone": "away", "lost": "undefined", "old": "failing"}
    assert "Nothing but failures in the last hour." in viewer.get("/site?name=board").text
    assert "Redis has no definition of it." in viewer.get("/sites").text


async def test_a_site_that_an_earlier_version_stored_or_somebody_damaged(browser, operator):
    stored = {"version": 4, "definition": {"name": "board", "headers": {"Authorization": "Bearer 12345"}}}
    await operator.redis.hset(operator.keys.sites, mapping={"board": orjson.dumps(stored), "junk": b"[1"})
    viewer = browser("viewer")
    page = viewer.get("/site?name=board").text
    assert "12345" not in page
    assert "Version 4 Pages finished" in text_of(page)
    assert viewer.get("/site?name=junk").status == 404
