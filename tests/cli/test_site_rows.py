"""What `scrapy site check` prints of what it found."""

from __future__ import annotations

from dataclasses import asdict

from crawler import sites
from crawler.cli.site_rows import rows
from crawler.commands.site import _read_by
from crawler.extract.comments import ReadComment


def test_comments_are_shown_as_an_item_has_them():
    comments = [
        ReadComment("Dry here.", "Ann", "2026-11-03T14:05:00Z", likes=3, key="7"),
        ReadComment("Here, too.", answers="7"),
        ReadComment("Where?", "Bob", parent=1),
    ]
    found = dict(rows({"fields": {"title": "t", "missing": [], "comments": [asdict(one) for one in comments]}}))
    assert found["comments"].split("\n") == [
        "1  Ann, 2026-11-03T14:05:00Z, 3 likes: Dry here.",
        "2  answers 1: Here, too.",
        "3  Bob, answers 2: Where?",
    ]


def test_comments_are_among_what_a_site_reads():
    content = {"title": "css:h1", "comments": {"each": "css:li", "text": "css:p"}}
    assert _read_by(sites.Site.from_definition({"name": "s", "content": content})) == ["title", "comments"]
