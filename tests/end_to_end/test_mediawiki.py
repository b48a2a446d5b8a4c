"""A real MediaWiki, crawled end to end: through its HTML search and through api.php."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.faults  # a wiki is installed and crawled twice

PLAN = """
name: {name}
sites: [{{use: {kind}, name: city-wiki, base: "{base}"}}]
keywords: {{topic: {{required: [bulletin]}}}}
pages: 3
per_page: 20
sort: relevance
"""


@pytest.fixture
def own_sites(crawl):
    """The kinds with the politeness of a wiki of one's own."""
    for kind in ("mediawiki", "mediawiki_api"):
        polite = "{delay: 0, concurrency: 2, burst: 20}"
        crawl.write_site(kind, f"name: {kind}\nkind: {kind}\npoliteness: {polite}\n")


@pytest.mark.usefixtures("own_sites")
@pytest.mark.parametrize("kind", ["mediawiki", "mediawiki_api"])
def test_every_page_of_the_wiki_becomes_one_item(kind, crawl, mediawiki, tmp_path):
    plan = tmp_path / "wiki.yaml"
    plan.write_text(PLAN.format(name=kind.replace("_", "-"), kind=kind, base=mediawiki.url))
    crawl.scrapy("plan", "submit", plan)
    crawl.finish(consumers=2, producers=1)
    imported = mediawiki.titles() - {"Main Page"}
    assert imported >= set(mediawiki.pages)
    assert sorted(item["title"] for item in crawl.items()) == sorted(imported)  # all of them, none twice
    assert all("bulletin" in item["content"] for item in crawl.items())
    total = crawl.total()
    assert (total["difference"], total["failed"]) == (0, 0)
