"""A real MediaWiki, crawled end to end: through its HTML search and through api.php."""

from __future__ import annotations

import pytest
from needs import started

from testbed.applications import MediaWiki
from testbed.applications.articles import WORD

pytestmark = pytest.mark.faults  # a wiki is installed and crawled twice


@pytest.fixture(scope="module")
def mediawiki(server_folder):
    with started(MediaWiki, server_folder, 25) as server:
        yield server


@pytest.mark.parametrize("kind", ["mediawiki", "mediawiki_api"])
def test_every_page_of_the_wiki_becomes_one_item(kind, crawl, mediawiki):
    crawl.write_site(kind, {"kind": kind, "politeness": {"delay": 0, "concurrency": 2, "burst": 20}})
    site = {"use": kind, "name": "city-wiki", "base": mediawiki.url}
    crawl.submit([site], [WORD], pages=3, per_page=20, sort="relevance")
    crawl.finish(consumers=2, producers=1)
    imported = sorted(page.title for page in mediawiki.truth())
    assert len(imported) == 25
    assert sorted(item["title"] for item in crawl.items()) == imported  # all of them, none twice
    assert all(WORD in item["content"] for item in crawl.items())
    total = crawl.total()
    assert (total["difference"], total["failed"]) == (0, 0)
