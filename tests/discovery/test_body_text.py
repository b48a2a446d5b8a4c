"""The content of pages, found by comparing two of them."""

from __future__ import annotations

import time

from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery import body_text
from crawler.discovery.page import ParsedPage
from crawler.discovery.sample import Sample


def test_a_thread_of_many_posts_takes_no_more_time_for_each_of_them():
    samples = []
    for thread in ("one", "two"):
        posts = "".join(
            f"<div class=post><p>What people say in thread {thread}, post {at}.</p></div>" for at in range(8_000)
        )
        body = page("Thread", f"<div class=posts>{posts}</div>").encode()
        samples.append(Sample(ParsedPage(Fetched(f"{ORIGIN}/{thread}", 200, "text/html", body)), f"Thread {thread}"))
    begun_s = time.process_time()
    found = body_text.find(samples)
    assert time.process_time() - begun_s < 3  # some 0.6 s
    assert [len(elements) for elements in found.elements] == [8_000, 8_000]
