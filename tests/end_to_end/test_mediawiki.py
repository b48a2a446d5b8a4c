"""A real MediaWiki, crawled end to end: through its HTML search and through api.php."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

WORKER_SECONDS = 240.0
PLAN = """
name: {name}
sites: [{{use: {kind}, name: city-wiki, base: "{base}"}}]
keywords: {{topic: {{required: [bulletin]}}}}
pages: 6
per_page: 50
sort: relevance
"""


@pytest.fixture
def own_sites(tmp_path):
    """The built-in definitions with the politeness of a wiki of one's own."""
    folder = tmp_path / "sites"
    folder.mkdir()
    for kind in ("mediawiki", "mediawiki_api"):
        text = (resources.files("crawler.sites") / f"{kind}.yaml").read_text("utf-8")
        polite = "politeness: {delay: 1, concurrency: 1, burst: 10}"
        assert polite in text
        (folder / f"{kind}.yaml").write_text(text.replace(polite, "politeness: {delay: 0, concurrency: 2, burst: 20}"))
    return folder


@pytest.mark.parametrize("kind", ["mediawiki", "mediawiki_api"])
def test_every_page_of_the_wiki_becomes_one_item(kind, scrapy, spawn, mediawiki, own_sites, tmp_path):
    plan = tmp_path / "wiki.yaml"
    plan.write_text(PLAN.format(name=kind.replace("_", "-"), kind=kind, base=mediawiki.url))
    submitted = scrapy("plan", "submit", plan, settings={"SITES_DIR": own_sites})
    assert submitted.returncode == 0, submitted.stderr
    settings = {"STOP_WHEN_DONE": 1, "ALLOW_PRIVATE_ADDRESSES": 1, "NODE_CPU_LIMIT_PERCENT": 100}
    workers = [spawn("crawl", spider, settings=settings) for spider in ("producer", "consumer", "consumer")]
    for worker in workers:
        assert worker.wait(WORKER_SECONDS) == 0, worker.log.read_text()

    files = Path(tmp_path / "items").glob("*.jsonl")
    items = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
    titles = [item["title"] for item in items]
    imported = {title for title in mediawiki.titles() if title != "Main Page"}
    assert imported >= set(mediawiki.pages)
    assert sorted(titles) == sorted(imported)  # all of them, none twice
    assert all("bulletin" in item["content"] for item in items)
    account = json.loads(scrapy("ledger", "--verify", "--json").stdout)
    assert account["problems"] == []
    assert account["total"]["difference"] == 0
    print(f"{kind}: {len(imported)} pages imported, ledger {account['rows'][0]}, {len(items)} items")
