"""Saved pages yield what they did when they were saved: `pages/SITE/CASE/page.html` (or .json) and `expected.json`.

To add a case, save the page, write what `scrapy site check SITE URL --base BASE --json` prints into `expected.json`,
and check that against the page. A field that it doesn't name has its default.
"""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from crawler import extract, sites
from crawler.base.models import Fetched
from crawler.plans.plan_file import READS_LISTS

PAGES = Path(__file__).parent / "pages"
CASES = sorted(path.parent for path in PAGES.glob("*/*/expected.json"))


@pytest.mark.parametrize("case", CASES, ids=[f"{case.parent.name}/{case.name}" for case in CASES])
def test_a_saved_page_yields_what_it_did(case):
    expected = json.loads((case / "expected.json").read_text())
    (file,) = case.glob("page.*")
    page = Fetched(expected["url"], expected["status"], expected["content_type"], file.read_bytes())
    site = sites.load(case.parent.name)
    site = site.named(site.name, expected["base"])
    what = "links" if "links" in expected else "fields"
    found = extract.links(page, site) if what == "links" else extract.fields(page, site)
    defaults = asdict((extract.Fields if what == "fields" else extract.Links)())
    assert json.loads(json.dumps(asdict(found))) == json.loads(json.dumps(defaults)) | expected[what]


def test_every_built_in_site_has_saved_pages_of_each_sort():
    for name in sites.names():
        if sites.load(name).search.description:  # each site says itself what its pages are
            continue
        kinds = {
            key
            for case in CASES
            if case.parent.name == name
            for key in json.loads((case / "expected.json").read_text())
        }
        needed = {"links", "fields"} if sites.load(name).searchable else {"fields"}
        if name in {site for site, _pages in READS_LISTS.values()}:  # what they name is read by other sites
            needed = {"links"}
        assert needed <= kinds, name
