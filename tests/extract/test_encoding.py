"""Pages are read in their encoding, whatever they declare."""

import pytest
from extract.pages import API, BASE, BOARD, URL, html, json

from crawler import extract
from crawler.base.models import Fetched
from crawler.extract.encoding import decode

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


UNDECLARED = {
    "gbk": GBK_TEXT,
    "big5": "<p>颱風逼近，北部停班停課，民眾搶購物資。</p>",
    "euc_jp": "<p>台風接近で新幹線が運休、お知らせをご確認ください。</p>",
    "shift_jis": "<p>台風接近で新幹線が運休、お知らせをご確認ください。</p>",
    "iso2022_jp": "<p>台風接近で新幹線が運休、お知らせをご確認ください。</p>",
    "euc_kr": "<p>태풍 북상에 항공편 결항, 기상청은 외출을 자제하라고 당부했다.</p>",
    "cp866": "<p>Наводнение вынудило сотни людей покинуть дома, сообщили спасатели.</p>",
    "koi8-r": "<p>Наводнение вынудило сотни людей покинуть дома, сообщили спасатели.</p>",
    "cp1251": "<p>Наводнение вынудило сотни людей покинуть дома, сообщили спасатели.</p>",
    "iso8859-2": "<p>Powódź zmusiła setki osób do opuszczenia domów, zamknięto też szkoły.</p>",
    "cp1252": "<p>Les inondations ont forcé des centaines d\u2019habitants à fuir, les écoles sont fermées.</p>",
    "cp1254": "<p>Sel yüzünden yüzlerce kişi evini terk etti, okullar pazartesiye kadar kapalı.</p>",
    "cp874": "<p>น้ำท่วมหนักหลายจังหวัดภาคใต้ ประชาชนต้องอพยพ</p>",
    "cp1256": "<p>الفيضانات تجبر المئات على مغادرة منازلهم، والمدارس مغلقة.</p>",
}


@pytest.mark.parametrize("encoding", UNDECLARED)
def test_the_bytes_of_a_page_that_declares_nothing_tell_its_encoding(encoding):
    page = UNDECLARED[encoding]
    assert decode(html(page.encode(encoding), "text/html"))[0] == page


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<?xml version="1.0" encoding="windows-1251" ?>', "cp1251"),
        ('<?xml version="1.0" encoding="MacCyrillic"?>', "mac-cyrillic"),  # a feed's label, which no browser knows
        (f"<!-- {'x' * 2_000} --><meta charset=windows-1251>", "cp1251"),  # behind what browsers promise to read
        ("<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "koi8-r"),
        ("<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", "cp1251"),
        ("<meta name=description content='charset=koi8-r'><META\nCharset = 'windows-1251' />", "cp1251"),
        ("<meta name=keywords content='charset'><meta charset=nonsense><meta charset=windows-1251>", "cp1251"),
    ],
)
def test_a_declaration_is_found_where_it_may_stand(declaration, encoding):
    page = f"{declaration}<p>Ёж</p>"  # too short to be guessed
    text, name = decode(html(page.encode(encoding), "text/html"))
    assert text == page
    assert "Ёж".encode(name) == "Ёж".encode(encoding)


@pytest.mark.parametrize("declaration", ["<meta charset=utf-8>", "<title>洪水</title><meta charset=utf-8>"])
def test_a_wrong_declaration_is_not_asked_again(declaration):
    page = declaration + GBK_TEXT
    assert decode(html(page.encode("gbk"), "text/html; charset=utf-8"))[0] == page
    assert decode(html(page.encode("gbk"), "text/html"))[0] == page


@pytest.mark.parametrize("label", ["utf-7", "zlib", "unicode_escape", "punycode", "iso-2022-kr", "../x", "x" * 5_000])
def test_a_label_that_is_none_of_browsers_counts_for_nothing(label):
    page = "<p>a+AGI- \\u0041 café"
    assert decode(html(page.encode("cp1252"), f"text/html; charset={label}"))[0] == page
    assert decode(html(page.encode(), f"text/html; charset={label}"))[0] == page


def test_what_browsers_read_beyond_pythons_decoders_is_read():
    assert decode(html(b"\x87\x40\xfa\x40", "text/html; charset=shift_jis"))[0] == "①ⅰ"
    assert decode(html(b"\x88\x62\xa4\xa4", "text/html; charset=big5"))[0] == "Ê̄中"


@pytest.mark.parametrize(
    ("page", "content_type"),
    [
        (b"<style>" + b"a{}" * 2_000 + b"</style><meta charset=gbk><p>\xd6\xd8</p>", "text/html"),  # a late <meta>
        ("<p>中国</p>".encode("gbk") + b"<p>plain</p>\n" * 9_000 + GBK_TEXT.encode("gbk"), "text/html"),  # late text
        (GBK_TEXT.encode("gbk") * 20, "text/html; charset=big5"),
        (GBK_TEXT.encode("gbk") * 20, "text/html; charset=shift_jis"),
        (GBK_TEXT.encode() * 5 + b"\xe9\x87", "text/html"),  # UTF-8 that was cut
        (GBK_TEXT.encode() * 5 + b"\xe9\x87", "text/html; charset=gbk"),
    ],
)
def test_what_tells_the_encoding_may_stand_late_or_be_contradicted(page, content_type):
    text = decode(html(page, content_type))[0]
    assert "重" in text
    assert text.count("\ufffd") <= 1
