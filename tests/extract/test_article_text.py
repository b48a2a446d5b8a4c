"""Where the text of a page is that no selector reads, and what of its box is no part of it."""

import time

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.base.errors import ExtractError

WEB = sites.load("web")
ONE = "The old ferry took in refugees despite earlier warnings, and 664 people in Riverside noticed it at once."
TWO = (
    "The harbour needs repairs as the committee had asked. The new levee was measured before the second crest arrived."
)
P = f"<p>{ONE}</p><p>{TWO}</p>"
TEXT = f"{ONE}\n{TWO}"
LONG = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(9)
)


def content(body, head=""):
    return extract.fields(
        html(f"<!doctype html><html lang=en><title>Old Culvert | Site</title>{head}{body}"), WEB
    ).content


def with_title(body):
    return content(f"<h1>Old Culvert</h1>{body}")


STEPS = "<ol><li>The dam lost power because the bank gave way.</li><li>Records show why.</li></ol>"


@pytest.mark.parametrize("box", ["<div>{}</div>", "<div class='col-md-7 middle'>{}</div>", "<table><td>{}</table>"])
def test_a_short_text_in_a_box_without_a_name_keeps_headings_lists_tables_and_what_stands_twice(box):
    table = "<table><tr><th>Station</th><th>Level</th></tr><tr><td>Harbour</td><td>2.2 m</td></tr></table>"
    code = "<pre>for pump in 3:\n    start\n</pre>"
    made = f"<p>{ONE}</p><h2>Eastern reservoir</h2><p>{TWO}</p>{STEPS}<h2>Quiet plant</h2><p>{ONE}</p>"
    assert with_title(box.format(made + code + (table if box.startswith("<div") else ""))).split("\n") == [
        ONE,
        "Eastern reservoir",
        TWO,
        "The dam lost power because the bank gave way.",
        "Records show why.",
        "Quiet plant",
        ONE,
        "for pump in 3:",
        "    start",
        *(["Station\tLevel", "Harbour\t2.2 m"] if box.startswith("<div") else []),
    ]


def test_an_element_that_holds_far_more_than_the_text_is_not_read_as_the_text():
    menu = "".join(f"<span>Entry {n} of something else</span><br>" for n in range(90))
    assert "Entry 5" not in with_title(f"<div>{LONG}</div><div>{menu}</div>")


FIRST = (
    "<div class='item comment first'><div class=comment-header>weili commented</div><div class='ui comment-body'>"
    f"<div class=markup>{P}</div><div class='raw tw-hidden'>{P}</div></div></div>"
)
POST = "<li itemscope itemtype=http://schema.org/Comment><b>weili</b>"
TRACKER = "<h1>Old Culvert</h1><p>opened 2025-01-18 by <a href=/weili>weili</a> \u00b7 3 comments</p>{}"


@pytest.mark.parametrize(
    "posts",
    [
        f"<div class=comment-body>{P}</div>",
        f"<div class=comment-body>{P}</div><div class=side><b>1 Participants</b><p>No due date set.</p></div>",
        f"<main><div class='x comment-list'>{FIRST}<div class=comment><p class=comment-body>{TWO}</div></div>",
        f"<ul id=content>{POST}<div class=content itemprop=text>{P}</div>{POST}{LONG}</ul>",
    ],
)
def test_a_comment_right_below_the_title_is_the_text(posts):
    assert content(TRACKER.format(posts)) == TEXT


@pytest.mark.parametrize(
    "before",
    [
        "<p>The bridge is gone.</p>",
        "<img src=/flood.jpg>",
        "<div class=entry-content></div>",
        "<h2>3 comments</h2>",
        "<article><video src=/a.mp4></video></article>",
    ],
)
def test_a_comment_on_something_else_is_not_the_text(before):
    page = f"<title>Old Culvert</title><main><h1>Old Culvert</h1>{before}<div class=comment>{P}</div></main>"
    try:
        found = extract.fields(html(f"<!doctype html>{page}"), WEB).content or ""
    except ExtractError as error:
        assert error.reason == "no-content"  # noqa: PT017 -- either is right
    else:
        assert ONE not in found


SHARES = (
    "<a class='btn share-twitter' href=https://twitter.com/intent/tweet?url=x>Share on Twitter</a> "
    "<a class='btn share-facebook' href=https://facebook.com/sharer?u=x>Share on Facebook</a>"
)


@pytest.mark.parametrize(
    "beside",
    [
        SHARES,
        "<div class='panel rating'><span>Currently unrated</span></div>",
        "<ul class=pager><li>before: Quiet harbour</ul>",
        "<ul class=tags><li><a rel=tag href=/t>river</a><li>retag</ul>",
        "<div class=js-post-controls>edit flag</div>",
        "<p>(<a href=#comments>1 comment</a>)</p>",
        "<h3>Archive</h3><h6>2026</h6><ul><li><a href=/11>November</a> (2)<li><a href=/5>May</a> (12)</ul>",
        "<div aria-hidden=true>Menu of this page</div>",
        "<span style='font-size:0'>qwertz</span>",
        "<p style='position:absolute; left:-9999px'>qwertz</p>",
        "<p class='x hidden'>This topic was deleted.</p>",
        "<p>Last changed on <a href=/d>21-Feb-2025 10:12</a> by Dara Neill</p>",
        "<div class=page-footer>This page (revision-3) was last changed on <a>21-Feb-2025</a> by Li<a>Top</a></div>",
        "<div>Diese Seite wurde zuletzt ge\u00e4ndert am 21.02.2025</div>",
        "<div id=responses><h3>2 of them</h3><div class=response>It was so.</div><div class=response>No.</div></div>",
        "<div id=cookie-consent role=dialog><p>We store what you read. Do you agree with that, or not?</p></div>",
    ],
)
@pytest.mark.parametrize("box", ["<div class=middle>{}</div>", "<div class=entry-content>{}</div>"])
def test_what_stands_around_a_text_in_its_box_is_no_text(beside, box):
    assert with_title(box.format(P + beside)) == TEXT


@pytest.mark.parametrize(
    "within",
    [
        "<h2 id=actions>Actions</h2>",
        "<section id=tags><h2>Tags</h2><p>They are short.</p></section>",
        "<p>Last updated figures show 12 more. Nobody was hurt there!</p>",
        "<p>Press <i aria-hidden=true>\u00bb</i> to go on.</p>",
        "<p class='hidden md:block'>On wide screens.</p>",
        f"<p>See <a href=#comment-3>what Li Si says of it</a>, which isn't {ONE}</p>",
    ],
)
def test_what_only_resembles_that_is_text(within):
    assert len(with_title(f"<div class=entry-content>{P}{within}</div>").split("\n")) > 2


def test_an_inner_box_that_is_named_for_a_text_goes_before_an_outer_one():
    toolbar = "<span class=x>edit</span> <span class=x>flag offensive</span> <a href=/close/7>close</a> <a>delete</a>"
    page = f"<div class=post-content><h1>Old Culvert</h1><i>retag</i><div class=post-body>{P}</div>{toolbar}</div>"
    assert content(page) == TEXT
    assert content(page.replace("<i>retag</i>", f"<p>{ONE}</p>")).count(ONE) == 2


@pytest.mark.parametrize(
    "page",
    [
        f"<article class=teaser><p>{LONG}</p></article><h1>Old Culvert</h1><div>{P}</div>",
        f"<h1>Old Culvert</h1><div>{P}</div><article class=teaser>{LONG}</article>",
        f"<main><h1>Old Culvert</h1>{P}<ul>{POST}<div itemprop=articleBody>{LONG}</div></ul></main>",
        f"<div class=modal><div class=entry-content>{LONG}</div></div><main><h1>Old Culvert</h1>{P}</main>",
        f"<div><div><p>Read more of what we wrote.</p></div><div><h1>Old Culvert</h1>{P}</div></div>",
        f"<main><div><p>Read more of what we wrote.</p></div><div><h1>Old Culvert</h1>{P}</div></main>",
    ],
)
def test_what_is_before_the_title_or_in_a_comment_or_a_dialog_is_not_the_text(page):
    assert content(page) == TEXT


def test_a_quote_is_not_the_text_but_a_post_may_be_marked_up_as_one():
    quote = "<blockquote class=entry-content><p>They said that it would rain for days.</p></blockquote>"
    assert with_title(f"<div>{P}{quote}</div>").startswith(TEXT)
    assert with_title(f"<div><blockquote class=postcontent>{P}</blockquote></div>") == TEXT


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 10 + P + "<a href=/>x</a>" * 20_000,
        "<div>" + "<p>The same line of a text, again and again.</p>" * 20_000 + "</div>",
        "<div class=comment><div class=comment-body>a</div></div>" * 16_000,
        f"<div>{P}" + "<i aria-hidden=true>»</i>" * 40_000 + "</div>",
        "<div class=middle>" * 40 + P + "<ul><li><a href=/>a</a></ul>" * 5_000,
    ],
)
def test_a_text_is_looked_for_in_bounded_time(body):
    begun = time.process_time()
    with_title(body)
    assert time.process_time() - begun < 10
