"""Who wrote pages without a site's selectors: which names are of their authors, and which of somebody else."""

import pytest
from extract.pages import html

from crawler import extract, sites

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)
HEAD = "<!doctype html><html lang=en><title>Flood in Wulong - Riverside</title>"


def read(below="", before="", after="", head=""):
    page = f"{HEAD}{head}{before}<h1>Flood in Wulong</h1>{below}<article>{TEXT}</article>{after}"
    return extract.fields(html(page, url="http://a.example/x"), WEB)


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("<p>Posted by <a href=/users/6>Dora Nguyen</a></p>", "Dora Nguyen"),
        (
            "<p class=author>Added by <a class='user' href=/6>Bob Okafor</a> <a href=/7>almost 2 years</a> ago.",
            "Bob Okafor",
        ),
        ("<p>by <a href=/u/6>Dora Nguyen</a> 3 months, 3 weeks ago</p>", "Dora Nguyen"),
        ("<h6 class=post-meta>Posted by: <a href=/dara/>Dara O'Neill</a> 1 year ago</h6>", "Dara O'Neill"),
        ("<p class=author>Added by <a href=/users/6>Dora Nguyen</a></p>", "Dora Nguyen"),
        ("<p class=author>Added by Dora Nguyen</p>", "Dora Nguyen"),
        ("<p>Von <a href=/u>Dora</a> und <a href=/v>Emil</a></p>", "Dora, Emil"),
        ("<p>\u4f5c\u8005\uff1a<a href=/u>\u738b\u4f1f</a></p>", "\u738b\u4f1f"),
        ("<p>Powered by <a href=/u>Dora Nguyen</a></p>", None),
        ("<p>You can help by adding citations to sources</p>", None),
    ],
)
def test_a_name_behind_a_word_such_as_by_ends_with_its_link(line, author):
    assert read(line).author == author


LD = (
    '<script type=application/ld+json>{{"@type": "NewsArticle", "headline": "{}", "{}": "{}", "author": "Wang",'
    '"datePublished": "2020-01-01T00:00:00Z"}}</script>'
)


@pytest.mark.parametrize("place", ["url", "mainEntityOfPage"])
@pytest.mark.parametrize("link", ["", "<link rel=canonical href=/x>"])
@pytest.mark.parametrize(
    ("headline", "address", "author"),
    [
        ("Other", "http://a.example/other", None),
        ("Flood in Wulong", "http://a.example/other", None),
        ("Other", "http://a.example/x", None),
        ("Flood in Wulong", "https://www.a.example/x/", "Wang"),
        ("Wulong: flood takes bridge", "http://a.example", "Wang"),
    ],
)
def test_an_object_that_names_another_page_or_is_called_otherwise_is_not_of_the_page(
    place, link, headline, address, author
):
    found = read(head=link + LD.format(headline, place, address))
    assert (found.title, found.author) == ("Flood in Wulong", author)
    assert found.published == (author and "2020-01-01T00:00:00Z")


@pytest.mark.parametrize("tag", ["aside", "div"])
def test_an_item_that_tells_of_another_page_is_not_of_the_page(tag):
    item = (
        f"<{tag} itemscope itemtype=http://schema.org/NewsArticle><h3 itemprop=headline>Other</h3>"
        "<a itemprop=url href=/other>more</a> <span itemprop=author>Wang</span>"
        f"<time itemprop=datePublished datetime=2020-01-01T00:00:00Z>then</time></{tag}>"
    )
    found = read(after=item)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", None, None)


@pytest.mark.parametrize("name", ["About the company", "Ann Lee"])
@pytest.mark.parametrize(
    "around",
    ["<footer>{}</footer>", "<aside>{}</aside>", "<nav>{}</nav>", "<div id=responses><p class=answer>{}</div>"],
)
def test_a_link_to_an_author_in_the_frame_of_a_page_is_none(around, name):
    assert read(after=around.format(f"<a rel=author href=/about>{name}</a>")).author is None


@pytest.mark.parametrize("around", ["<header>{}</header>", "<div class=header>{}</div>", "<div>{}</div>"])
@pytest.mark.parametrize(
    "visitor",
    [
        "Welcome, <span class=username>crawler_visitor</span>",
        "<a class=author href=/login>Log in</a>",
        "<span class=author-count>12 articles</span>",
        "<a class=author-follow>Follow the author</a>",
    ],
)
def test_the_line_by_the_title_names_the_author_and_not_who_visits(around, visitor):
    assert read("<p class=byline>By Li Si</p>", before=around.format(visitor)).author == "Li Si"
    assert read(f"<div>{visitor}<p class=byline>By Li Si</p></div>").author == "Li Si"
    assert read(before=f"<header>{visitor}</header>").author is None


COMMENT = (
    "<div itemscope itemtype=http://schema.org/Comment><meta itemprop=datePublished content={}><a itemprop=author"
    " href=/u>{}</a><div itemprop=text><p>I saw it, and so did all who live near the bridge over there.</p></div></div>"
)


@pytest.mark.parametrize(("day", "author"), [(12, "Wang"), (14, None)])
def test_who_comments_is_the_author_only_of_a_thread_that_begins_so(day, author):
    metas = (
        "<meta property=og:title content='Flood in Wulong'><meta property=og:type content=article>"
        "<meta property=article:published_time content=2026-10-12T14:26:28Z>"
    )
    thread = COMMENT.format(f"2026-10-{day}T14:26:28.000Z", "Wang") + COMMENT.format("2026-10-15T09:00:00Z", "Zhao")
    found = extract.fields(html(f"{HEAD}{metas}<h1>Flood in Wulong</h1>{thread}"), WEB)
    assert (found.author, found.published) == (author, "2026-10-12T14:26:28Z")


@pytest.mark.parametrize("around", ["{}", "<p>{}</p>", "<div>{}</div>"])
@pytest.mark.parametrize("page", ["{}", "<main>{}</main>"])
def test_an_author_and_a_time_by_themselves_below_a_title_are_found(around, page):
    line = around.format("<span class=author>Ann</span> <time datetime=2026-01-02T03:04:05Z>2 Jan</time>")
    found = extract.fields(html(HEAD + page.format(f"<h1>Flood in Wulong</h1>{line}{TEXT}")), WEB)
    assert (found.author, found.published) == ("Ann", "2026-01-02T03:04:05Z")
