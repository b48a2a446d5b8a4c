"""`scrapy site check FILE URL` shows what would be followed, and why the rest isn't."""

import json

import pytest

SITE = """
name: board
content: {content: {select: css:.post-body, all: true, required: true}}
follow: {links: "css:a", deny: [/user/], per_page: 2}
"""


@pytest.fixture
def check(scrapy, tmp_path, forum):
    def run(text, path, *options):
        (tmp_path / "board.yaml").write_text(text)
        done = scrapy("site", "check", tmp_path / "board.yaml", *([forum.url + path] if path else []), *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in options else done.stdout

    return run


def test_a_page_shows_its_fields_and_what_it_leads_to(check, forum):
    shown = check(SITE, "/thread/1001", "--json")
    assert shown["fields"]["content"]
    follows = shown["follows"]
    assert 1 <= len(follows["urls"]) <= 2
    assert all(url.startswith(forum.url) and "/user/" not in url for url in follows["urls"])
    assert follows["urls"][0] in check(SITE, "/thread/1001")


def test_a_page_that_is_no_item_still_leads_on(check):
    shown = check(SITE.replace(".post-body", ".none"), "/thread/1001", "--json")
    assert shown["fails"] == "no-content"
    assert shown["follows"]["urls"]


def test_a_definition_shows_its_rules(check):
    assert check(SITE, "", "--json")["follows"]["per_page"] == 2
    assert check(SITE.partition("follow")[0], "", "--json")["follows"] == ""
