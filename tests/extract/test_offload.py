"""Which pages are read in a thread: those that take long, whatever their size says."""

import gzip
import threading

import pytest
from extract.pages import html

from crawler import sites
from crawler.extract.offload import offload

SITE = sites.Site.from_definition({"name": "s", "content": {"title": "css:h1"}})


@pytest.mark.parametrize(
    ("body", "is_in_thread"),
    [
        ("<p>short", False),
        ("<p>" * 30_000, True),
        ("x" * 2_000_000, True),
        (gzip.compress(b"<urlset>", mtime=0), True),
    ],
    ids=["short", "tags", "long", "packed"],
)
async def test_a_page_that_takes_long_is_read_in_a_thread(body, is_in_thread):
    thread = await offload(lambda _page, _site: threading.current_thread(), html(body), SITE)
    assert (thread is not threading.main_thread()) == is_in_thread
