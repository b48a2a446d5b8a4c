"""An XPath finds what libxml2's does, but for what its module names, and what it can't mean is refused."""

import pytest
import turbohtml
from lxml import etree

from crawler.sites.xpath import XPath

PAGE = (
    "<html><head><title>T - 1</title></head><body><h1 class='x y'>a</h1><p id='i'>b<a href='/u'>c</a>d</p>"
    "<p><a href='/v'>e</a></p><ul><li>1</li><li>2</li><li>3</li></ul></body></html>"
)


@pytest.mark.parametrize(
    "path",
    [
        "//a/@href",
        "//p/text()",
        "p",
        "body/p/a/text()",
        "(//a)[1]/@href",
        "//li[last()]/text()",
        "//li[position() < 3]/text()",
        "//p[a]/@id",
        "//a[contains(@href, 'u')]/text()",
        "//a/ancestor::p/@id",
        "//a/following::li[1]/text()",
        "//li/preceding-sibling::li/text()",
        "id('i')/text()",
        "//h1[contains(concat(' ', normalize-space(@class), ' '), ' y ')]/text()",
        "//h1/text() | //a/text()",
        "string(//title)",
        "substring-after(//title, '- ')",
        "concat(//h1, ':', count(//li))",
        "sum(//li)",
        "count(//p) > 1",
        "number(//h1)",
        "//no",
        "translate(//h1, 'a', 'A')",
        "//a[@href='$x:y()']",
        "//*[self::h1 or self::title]/text()",
    ],
)
def test_it_finds_what_libxml2_does(path):
    document, root = turbohtml.parse(PAGE), etree.fromstring(PAGE, etree.HTMLParser())
    found = XPath.parse(path).search(document)
    wanted = root.xpath(path, smart_strings=False)
    if isinstance(wanted, list):
        found, wanted = ([one if isinstance(one, str) else one.tag for one in each] for each in (found, wanted))
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//a[",
        "1 +",
        "nope(//a)",
        "//a[nope()]",
        "//a[$x]",
        "//x:a",
        "//a[@x:y]",
        "re:test('a', '(a+)+$')",
        "//a[re:match(., 'a')]",
        "//a[has-class('x')]",
        "document('/etc/passwd')",
        "key('a', 'b')",
        "current()",
        "count(1)",
        "count(string(//p))",
    ],
)
def test_what_it_cannot_mean_is_refused(path):
    with pytest.raises(ValueError, match=r"."):
        XPath.parse(path)


def test_comments_are_nothing_and_a_value_of_a_wrong_kind_finds_nothing():
    document = turbohtml.parse("<p>a<!--c-->b</p>")
    assert XPath.parse("//comment()").search(document) == []
    assert XPath.parse("//p/node()").search(document) == ["a", "b"]
    assert XPath.parse("//i[count(string(.)) > 1]").search(turbohtml.parse("<i>")) == []
