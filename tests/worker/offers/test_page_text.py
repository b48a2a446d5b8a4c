"""What a page says, and what doesn't count."""

from __future__ import annotations

import time

import pytest

from crawler.worker.offers.page_text import MAX_BYTES, clauses_of

URL = "http://a.test/lost/river-stone"
TEXT = "There is nothing here that you haven't read before"


def test_two_pages_that_differ_by_numbers_links_and_their_addresses_say_the_same():
    pages = [
        f"<head><title>{number}</title></head><script>{number}</script><!-- {number} --><p>{TEXT} since {number}-11</p>"
        f"<p>The page {name} was not found, but these are:</p><ul><a href='/{number}'>A title that is <b>{name}</b></a>"
        for number, name in ((1, "river-stone"), (2, "winter-light"))
    ]
    texts = [clauses_of(pages[0].encode(), URL), clauses_of(pages[1].encode(), "http://a.test/lost/winter-light")]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 2
    assert clauses_of(pages[0].replace("nothing", "something").encode(), URL) != texts[0]


def test_short_texts_say_nothing():
    assert clauses_of(b"<h1>January</h1><p>One. Two, three</p>", URL) == {}


def test_chinese_is_told_apart():
    one, other = ("<p>今天城市的河水上涨了两米多</p>", "<p>昨天城市的图书馆开放到深夜</p>")
    assert clauses_of(one.encode(), URL).keys().isdisjoint(clauses_of(other.encode(), URL))


@pytest.mark.parametrize(
    "junk", ["a", "<a ", "<", "<script ", "<!--", "a/", " ", "\n", " \n", "<a><b>", "!", "ab1 ", "\0"]
)
def test_no_bytes_take_long(junk):
    began = time.process_time()
    clauses_of((junk * MAX_BYTES).encode(), URL)
    assert time.process_time() - began < 0.5  # they take 24 ms at most; what grows by the square takes seconds
