"""Pages are read in their encoding, whatever they declare."""

import pytest
from extract.pages import API, BASE, BOARD, URL, html, json

from crawler import extract
from crawler.models import Fetched

GBK_TEXT = "<p class=post>重庆洪水，多名群众被困，消防救援正在进行。水位上涨很快。</p>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (GBK_TEXT.encode("gbk"), "text/html; charset=gbk"),
        (GBK_TEXT.encode("gbk"), "text/html; charset=gb2312"),
        (b"<meta charset=gb2312>" + GBK_TEXT.encode("gbk"), "text/html"),
        (GBK_TEXT.encode("gbk"), "text/html"),
        (GBK_TEXT.encode("gbk"), "text/html; charset=utf-8"),
        (GBK_TEXT.encode(), "text/html; charset=gbk"),
        (GBK_TEXT.encode(), "text/html; charset=nonsense"),
        (GBK_TEXT.encode(), ""),
        (GBK_TEXT.encode("utf-8-sig"), "text/html; charset=gbk"),
        (GBK_TEXT.encode("utf-16"), "text/html"),
        (GBK_TEXT.encode("big5", "replace"), "text/html; charset=big5"),
    ],
)
def test_a_page_is_read_in_its_encoding_whatever_it_declares(body, content_type):
    assert "重" in extract.fields(html(body, content_type), BOARD).content


def test_json_may_be_in_another_encoding_or_have_a_byte_order_mark():
    text = '{"html": "洪水"}'
    assert extract.fields(json(text.encode("utf-8-sig")), API).content == "洪水"
    page = Fetched(URL, 200, "application/json; charset=gbk", text.encode("gbk"))
    assert extract.fields(page, API).content == "洪水"


def test_a_link_on_a_gbk_page_is_sent_as_a_browser_would():
    page = html("<p class=r><a href='/洪?q=洪水&x=%20'>1</a></p>".encode("gbk"), "text/html; charset=gbk")
    assert extract.links(page, BOARD).urls == (f"{BASE}/%E6%B4%AA?q=%BA%E9%CB%AE&x=%20",)
