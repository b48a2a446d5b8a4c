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
        ("<p class=author>Added by Dora Nguyen on <time>Nov 3, 2025</time></p>", "Dora Nguyen"),
        ("<p class=author>Added by Minh Le</p>", "Minh Le"),
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


@pytest.mark.parametrize("name", ["firma_comentarios", "byline-comments", "author__replies", "autor-kommentare"])
def test_a_byline_that_links_to_comments_is_none_of_them(name):
    line = "<p>By <a href=/ann>Ann Becker</a></p> <a href=#c>12</a>"
    assert read(f"<div class={name}>{line}</div>").author == "Ann Becker"
    assert read(f"<div class='{name} sidebar'>{line}</div>").author is None
    assert read(after=f"<div class={name}>{TEXT}<p>By <a href=/u class=author>Bob</a></p></div>").author is None


@pytest.mark.parametrize("name", ["comments-author", "author-comment-list comments"])
def test_who_wrote_a_comment_is_not_in_a_byline(name):
    assert read(after=f"<div class='{name}'><p>By <a href=/u class=author>Bob</a></p></div>").author is None


@pytest.mark.parametrize(
    "line",
    [
        "<p>By Ann Becker</p>",
        "<p>By <a href=/ann>Ann Becker</a></p>",
        "<p><a rel=author href=/ann>Ann Becker</a></p>",
        "<p>By <span class=author>Ann Becker</span></p>",
        "<div><p class=byline>By <b>Ann Becker</b> on 3 November 2025</p></div>",
    ],
)
@pytest.mark.parametrize("tag", ["article", "main", "div id=content"])
def test_what_stands_first_in_an_article_says_who_wrote_it_though_its_title_stands_above(line, tag):
    def author_of(body):
        page = f"{HEAD}<h1>Flood in Wulong</h1><{tag}>{body}</{tag.split()[0]}>"
        return extract.fields(html(page, url="http://a.example/x"), WEB).author

    assert author_of(f"{line}{TEXT}") == "Ann Becker"
    assert author_of(f"{TEXT}{line}{TEXT}") == ("Ann Becker" if "byline" in line else None)
    assert author_of(f"<p>By noon all was dry.</p>{TEXT}") is None


SIDEBAR = """<div class=sidebar><nav><a href=../>Back</a>{}<ul class="md-post__meta nav"><li>
    <time datetime="2023-05-05 00:00:00+00:00">May 5, 2023</time><li>1 min read</ul></nav></div>"""
AUTHORS = """<div class=md-post__authors><span class=md-author><img alt=Wang></span>
    <span><strong>Dora Nguyen</strong><br>writer</span></div>"""


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_box_of_a_sidebar_that_is_named_for_the_one_text_tells_of_it(place):
    page = read(**{place: SIDEBAR.format(AUTHORS)})
    assert (page.author, page.published) == ("Dora Nguyen", "2023-05-05T00:00:00Z")


@pytest.mark.parametrize(
    "beside",
    [
        SIDEBAR.format(AUTHORS) * 2,
        f"<div class=related>{SIDEBAR.format(AUTHORS)}</div>",
        f"<div class=sidebar><ul><li><h3>Storm</h3>{SIDEBAR.format(AUTHORS)}</ul></div>",
    ],
)
def test_boxes_of_a_sidebar_for_other_texts_tell_nothing_of_a_page(beside):
    page = read(after=beside)
    assert (page.author, page.published) == (None, None)


ICONS = [
    "<i class='fa fa-user'></i>",
    "<span class='glyphicon glyphicon-user'></span>",
    "<svg class='bi bi-person-fill'><path d=M0></path></svg>",
    "<i class=material-icons>person</i>",
    "<span><i class=icon-user-circle></i></span>",
]


@pytest.mark.parametrize("icon", ICONS)
@pytest.mark.parametrize("name", ["<a href=/u/3>Dora Nguyen</a>", "Dora Nguyen", "by <b>Dora Nguyen</b>"])
@pytest.mark.parametrize("behind", ["", " <i class='fa fa-tag'></i> News"])
def test_the_icon_of_a_person_stands_before_a_name(icon, name, behind):
    assert read(f"<ul class=links><li>{icon} {name}{behind}<li>News</ul>").author == "Dora Nguyen"


@pytest.mark.parametrize(
    "line",
    [
        "<i class='fa fa-users'></i> Dora Nguyen",
        "<i class='fa fa-user-plus'></i> Dora Nguyen",
        "<i class='fa fa-user'></i> Log in",
        "<i class='fa fa-user'></i> 12 readers",
        "<i class='fa fa-user'></i> Dora Nguyen likes <a href=/x>this</a>",
        "<i class='fa fa-user'></i><i class='fa fa-tag'></i> News",
        "<i class=icon>person</i> Dora Nguyen",
        "<i class='fa fa-user'></i> My account",
        "<i class='fa fa-user'></i> My Library",
        "<i class='fa fa-user'></i> Members only",
        "<i class='fa fa-user'></i> For beginners",
        "<i class='fa fa-user'></i> For Business",
        "<i class='fa fa-user'></i> \u4f1a\u5458\u4e2d\u5fc3",
        "<i class='icon-account'></i> Dora Nguyen",
        "<i class='fa fa-user'></i> <a href=/account/orders>Dora</a>",
        "<i class='fa fa-user'></i> <b><a href=/members/>Dora</a></b>",
        "<a href=/login.php><i class='fa fa-user'></i> Dora</a>",
    ],
)
def test_what_stands_behind_another_icon_is_no_name(line):
    assert read(f"<p>{line}</p>").author is None


@pytest.mark.parametrize(
    ("written", "author"),
    [
        ("Vincent van Gogh", "Vincent van Gogh"),
        ("\u738b\u4f1f", "\u738b\u4f1f"),
        ("<a href=/members/dora.12/>Dora</a>", "Dora"),
        ("<a href=/profile.php?id=3>dora</a>", "dora"),
    ],
)
def test_a_link_behind_an_icon_to_the_page_of_somebody_has_a_name(written, author):
    assert read(f"<p><i class='fa fa-user'></i> {written}</p>").author == author


def test_an_icon_elsewhere_says_nothing_of_the_author():
    line = "<div><i class='fa fa-user'></i> <a href=/author/dora/>Dora Nguyen</a></div>"
    assert [read(before=line).author, read(after=line).author, read(before=f"<header>{line}</header>").author] == [
        None
    ] * 3


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("<a href=/blog/author/dora/>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href='https://a.example/authors/dora?x=1'>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href=/author/dora>Dora Nguyen</a>, <a href=/author/bob>Bob Lee</a>", "Dora Nguyen, Bob Lee"),
        ("<a href=/author/dora><img src=/d.png></a> <a href=/author/dora>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href=/author/>Our authors</a>", None),
        ("<a href=/author/dora/more/3>Dora Nguyen</a>", None),
        ("<a href=/author/dora>More from this author</a>", None),
        ("<a href=/autos/dora>Dora Nguyen</a>", None),
        ("<a href='http://[/author/x'>Dora Nguyen</a>", None),
        ("<a href=/author/dora>View all posts</a>", None),
        ("<a href=/author/dora>View all posts by Dora</a>", None),
        ("<a href=/author/dora>Alle Artikel von Dora</a>", None),
        ("<a href=/author/dora>Voir tous ses articles</a>", None),
        ("<a href=/author/dora>Profile</a>", None),
        ("<a href=/author/12>Submit Article</a>", None),
        ("<a href=/authors/submit>Submit Article</a>", None),
        ("<a href=/author/guidelines>guidelines</a>", None),
        ("<a href=/author/dora>Dora Nguyen</a> <a href=/author/dora>View all posts</a>", "Dora Nguyen"),
        ("<a href=/author/dora>Read more</a> <a href=/author/dora/#x>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href=/author/dora>Dora Nguyen</a> <a href=/authors/submit>Submit Article</a>", "Dora Nguyen"),
        ("<a href=/author/dora>Dora Nguyen</a> <a href=/author/bob>Read more</a>", None),  # of two, one has no name
        ("<a href=/author/dnguyen>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href=/author/nguyen-dora.html>Dora Nguyen</a>", "Dora Nguyen"),
        ("<a href=/author/admin>Dora Nguyen</a>", None),
        ("<a href=/author/moreno>Read More</a>", None),
        ("<a href=/author/dora>dora</a>", "dora"),
        ("<a href=/author/jmueller>J\u00fcrgen M\u00fcller</a>", "J\u00fcrgen M\u00fcller"),
        ("<a href=/author/vgogh>Ann-marie van der Gogh</a>", "Ann-marie van der Gogh"),
        ("<a href=/author/12>\u738b\u4f1f</a>", "\u738b\u4f1f"),
        ("<a href=/author/12>\u66f4\u591a\u6587\u7ae0</a>", None),
        ("<a href=/author/%E7%8E%8B%E4%BC%9F>\u738b\u4f1f</a>", "\u738b\u4f1f"),
        ("<a href=/author/%E7%8E%8B%E4%BC%9F>\u674e\u56db</a>", None),
        (
            "<a href=/author/ivan>\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432</a>",
            "\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432",
        ),
        ("<a href=/author/ivan>\u0412\u0441\u0435 \u0441\u0442\u0430\u0442\u044c\u0438</a>", None),
    ],
)
def test_by_a_title_a_link_to_all_that_an_author_wrote_has_the_authors_name(line, author):
    assert read(f"<p>{line}</p>").author == author


POST = """<div class="list__comment js-comment" id=c{0}><div class=comment__info>
    <div class=comment__info__username><a class=comment__info__username__link href=/user/{0}><span>{1}</span></a></div>
    <ul class="comment__info__date js-move-comment-list"><li title="Aug. {0}, 2025, 11:21 a.m.">4mo</ul></div>
    <div class="comment__text">{2}</div></div>"""


@pytest.mark.parametrize("first", [TEXT, "<p>Short.</p>"])
def test_the_first_post_of_a_thread_has_its_own_head_whatever_word_its_names_begin_with(first):
    posts = [POST.format(4, "Dora", first), POST.format(5, "Bob", TEXT), POST.format(6, "Ann", "<p>+1</p>")]
    page = f"{HEAD}<h1 class=headline>Flood in Wulong</h1><div class=comments_list>{''.join(posts)}</div>"
    found = extract.fields(html(page), WEB)
    assert (found.author, found.published) == ("Dora", "2025-08-04T11:21:00Z")
    assert ("Dora" in found.content, "4mo" in found.content, "+1" in found.content) == (False, False, False)


def test_the_head_of_a_comment_below_a_text_is_none_of_the_pages():
    found = read(after=f"<div class=comments_list>{POST.format(4, 'Dora', '<p>Short.</p>')}</div>")
    assert (found.author, found.published) == (None, None)
