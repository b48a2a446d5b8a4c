"""The applications start with all their articles, and their truth is what they show."""

from __future__ import annotations

import urllib.request
from html import unescape

import pytest

from crawler.base.errors import UnavailableError
from testbed.applications import APPLICATIONS
from testbed.applications.articles import WORD

pytestmark = pytest.mark.faults  # for being slow: each is installed and filled
COUNT = 12
SEARCHES = {
    "mediawiki": f"/index.php?title=Special:Search&fulltext=1&search={WORD}&limit=50",
    "dokuwiki": f"/doku.php?do=search&q={WORD}",
    "wordpress": f"/?s={WORD}&paged=2",  # it shows ten on a page
    "trac": f"/search?q={WORD}&noquickjump=1&ticket=on",  # ten on a page
    "fossil": f"/search?s={WORD}",
    "sphinx": "/searchindex.js",  # what its scripts search
    "docsify": "/_sidebar.md",  # what its scripts read before they search
}


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return unescape(answer.read().decode())


@pytest.mark.parametrize("name", APPLICATIONS)
def test_it_shows_what_its_truth_says(name, tmp_path):
    try:
        application = APPLICATIONS[name](tmp_path, COUNT)
        application.start()
    except UnavailableError as error:  # CI has not all that `make truth` installs, and doesn't run it
        pytest.skip(str(error))
    with application:
        pages = application.truth()
        assert {page.title for page in pages} == {article.title for article in application.articles}
        for page in pages:
            html = get(page.url.replace("/#/", "/") + ".md" if "#" in page.url else page.url)  # a route's file
            assert page.title in html
            assert page.author in html
            assert all(comment.author in html for comment in page.comments)
        assert sum(page.title in get(application.url + SEARCHES[name]) for page in pages) >= COUNT - 10
        application.restart()
        assert application.truth() == pages
