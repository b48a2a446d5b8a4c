"""Code and tables keep their shape within a text; tables that lay out a page are paragraphs."""

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.extract import shape

SITE = sites.parse("name: s\ncontent: {content: css:body, extra: {all: css:body}}\n", "s.yaml")


def read(page):
    return extract.fields(html(page), SITE).content


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("a<pre>\n  if x:\n\n    y  \n</pre>b", "a\n  if x:\n\n    y\nb"),
        ("<pre>a<br>  b<div>  c</div>d</pre>", "a\n  b\n  c\nd"),
        ("<pre>x<script>no</script> <b hidden>no</b>y</pre><p>z  z", "x y\nz z"),
        ("<pre> </pre><p>z", "z"),
        (
            "<p>t<table><tr><th>Place <th>People\n<tr><td><p>New  York</p><td><p>5<b>0</b></p></table>u",
            "t\nPlace\tPeople\nNew York\t50\nu",
        ),
        ("<table><tr><td>a<td><td>c<tr><td><td>b<td></table>", "a\t\tc\n\tb"),
        ("<table><tr><td> <td> </table><p>x", "x"),
        ("<table><tr><td>nav<td><p>one</p><p>two</p></table>", "nav\none\ntwo"),
        ("<table><tr><td>1<br>2<td><pre>if x:\n  y</pre></table>", "1\n2\nif x:\n  y"),
        ("<table><tr><td>q<td><table><tr><td>1<td>2</table>r<td>s</table>", "q\n1\t2\nr s"),
        ("<table><tr><td>only<tr><td>one</table>", "only\none"),
        ("<pre>a<table><tr><td>1<td>2</table></pre>b", "a\n1 2\nb"),
        (
            "<table><tr><td class=gutter><pre>1<br>2</pre><td class=code><pre>if x:\n  y</pre></table>z",
            "if x:\n  y\nz",
        ),
        ("<pre><span class='linenos'> 9</span>if x:\n<span class=linenos>10</span>  y</pre>z", "if x:\n  y\nz"),
        ("<table><tr><td class=gutter>1<td>km</table><b class=ln>ten</b>", "km\nten"),
        ("<table><tr><td>a&#xd800;<td>b\ud801</table>", "a\ufffd\tb?"),
    ],
)
def test_code_and_tables_keep_their_shape(page, expected):
    found = extract.fields(html(page.encode(errors="replace").decode()), SITE)
    assert found.content == expected
    assert found.extra.get("all") == expected


def test_titles_are_on_one_line_whatever_they_stand_in():
    site = sites.parse("name: s\ncontent: {title: css:table, author: css:pre}\n", "s.yaml")
    found = extract.fields(html("<table><tr><td>a<td>b</table><pre>c\n  d</pre>"), site)
    assert (found.title, found.author) == ("a b", "c d")


def test_html_within_json_keeps_its_shape():
    site = sites.parse("name: s\ncontent: {type: json, content: {select: json:c, html: true}}\n", "s.yaml")
    from extract.pages import json

    assert extract.fields(json({"c": "<pre>a\n  b</pre><table><tr><td>1<td>2</table>"}), site).content == "a\n  b\n1\t2"


def test_a_string_that_an_xpath_makes_keeps_its_lines():
    site = sites.parse("name: s\ncontent: {content: 'xpath:string(//div)', title: 'xpath:string(//div)'}\n", "s.yaml")
    found = extract.fields(html("<div>one\n two\n<b>three</b></div>"), site)
    assert (found.content, found.title) == ("one\ntwo\nthree", "one two three")


def test_marks_that_are_no_pairs_lose_no_word_and_no_time():
    many = (shape.ROW_BEGINS + shape.CELL + "x ") * 100_000 + shape.VERBATIM + "y" + shape.ROW_ENDS
    assert shape.clean(many).split() == ["x"] * 100_000 + ["y"]
