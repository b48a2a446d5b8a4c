"""Pages without a site's selectors: what they declare, what their parts are named, and how sure each field is.

Whole pages of real applications are saved in `tests/sites/pages/web`.
"""

import pytest
from extract.pages import BASE, html

from crawler import extract, sites

WEB = sites.load("web")
STORY = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(9)
)
SHELL = (
    "<!doctype html><html lang=en><head><title>Flood in Wulong - Riverside</title>{}</head><body>{}<main>{}</main>{}"
)


def read(head="", before="", main=STORY, after=""):
    return extract.fields(html(SHELL.format(head, before, main, after)), WEB)


def ld(text):
    return f"<script type=application/ld+json>{text}</script>"


ARTICLE = '"@type": "NewsArticle", "headline": "Flood in Wulong", "author": {"@type": "Person", "name": "Li Si"}'
DATED = ARTICLE + ', "datePublished": "2026-11-03T14:05:00+08:00"'
META = "<meta property={} content='{}'>".format


@pytest.mark.parametrize(
    "page",
    [
        {"head": ld(f"{{{DATED}}}")},
        {"head": ld(f'{{"@graph": [{{"@type": "WebSite", "name": "Riverside"}}, {{{DATED}}}]}}')},
        {"head": ld(f'{{"@type": "QAPage", "mainEntity": {{{DATED.replace("NewsArticle", "Question")}}}}}')},
        {
            "head": ld(
                '[{"@type": ["BlogPosting"], "name": "Flood in Wulong", "author": [{"@id": "#li"}],'
                '"datePublished": "2026-11-03T06:05:00Z"}, {"@type": "Person", "@id": "#li", "name": "Li Si"}]'
            )
        },
        {
            "main": "<div itemscope itemtype=https://schema.org/DiscussionForumPosting><h1 itemprop=headline>Flood in"
            " Wulong</h1><span itemprop=author itemscope itemtype=https://schema.org/Person><a itemprop=name>Li Si</a>"
            f"</span><time itemprop=datePublished datetime=2026-11-03T06:05:00Z>today</time>{STORY}"
            "<div itemprop=comment itemscope itemtype=https://schema.org/Comment><b itemprop=author>Wang</b>"
            "<time itemprop=datePublished datetime=2026-11-09T06:05:00Z></time></div></div>"
        },
        {
            "main": "<h1>Flood in Wulong</h1><a rel=author href=/li>Li Si</a><time datetime=2026-11-03T06:05:00Z>3 Nov"
            f"</time>{STORY}"
        },
    ],
)
def test_what_a_page_declares_is_exact(page):
    found = read(**page)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:00Z")
    assert {found.sureness[name] for name in ("title", "author", "published")} == {"exact"}
    assert found.sureness["content"] == "guess"
    assert found.content.count("Wulong and the road") == 9


@pytest.mark.parametrize(
    ("written", "published", "sure"),
    [
        ("2026-11-03T14:05:00+08:00", "2026-11-03T06:05:00Z", "exact"),
        ("2026-11-03", "2026-11-03T00:00:00Z", "day"),
        ("2026-11-03 14:05", "2026-11-03T14:05:00Z", "guess"),  # nobody says where the clock hangs
        ("13-10-2025 14:05", "2025-10-13T14:05:00Z", "guess"),  # -2025 is a year
        ("13. M\u00c4RZ 2025 14:05", "2025-03-13T14:05:00Z", "guess"),  # the Z of a word is no zone
        ("13 Oct 2025 14:05 +0800", "2025-10-13T06:05:00Z", "exact"),
        ("13 Oct 2025 2:05 PM +08:00", "2025-10-13T06:05:00Z", "exact"),
        ("Mon Oct 13 14:05:00 +0800 2025", "2025-10-13T06:05:00Z", "exact"),
        ("20251013T140500+0800", "2025-10-13T06:05:00Z", "exact"),
        ("2025-10-13T06:05:00.123Z", "2025-10-13T06:05:00Z", "exact"),
        ("06:05, 13 October 2025 (UTC)", "2025-10-13T06:05:00Z", "exact"),
        ("2099-01-01", None, None),
        ("soon", None, None),
    ],
)
def test_a_date_says_how_sure_it_is(written, published, sure):
    found = read(META("article:published_time", written))
    assert (found.published, found.sureness.get("published")) == (published, sure)


def test_a_date_that_a_selector_finds_says_so_too():
    board = sites.parse("name: b\ntimezone: Asia/Shanghai\ncontent: {published: css:i, content: css:p}", "b.yaml")
    published = {
        written: extract.fields(html(f"<i>{written}</i><p>text"), board).in_item()
        for written in ("2026年11月3日", "2026-11-03 00:00", "3小时前")
    }
    assert [(one["published"], one["sureness"]) for one in published.values()][:2] == [
        ("2026-11-02T16:00:00Z", {"published": "day"}),
        ("2026-11-02T16:00:00Z", {}),
    ]
    assert published["3小时前"]["sureness"] == {"published": "guess"}
    assert all(type(one["published"]) is str for one in published.values())


def test_bytes_that_cannot_be_read_do_not_pass_in_silence():
    board = sites.parse("name: b\ncontent: {content: css:p}", "b.yaml")
    found = extract.fields(html(b"<p>" + "重庆洪水，多名群众被困".encode() * 9 + b"\xff", "text/html"), board)
    assert found.in_item()["sureness"] == {"content": "guess"}


def test_of_several_articles_none_is_the_page():
    two = ld(f"[{{{DATED}}}, {{{DATED.replace('Li Si', 'Wang Wu').replace('11-03', '11-04')}}}]")
    found = read(two)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", None, None)


def test_an_author_is_neither_the_site_nor_one_who_comments():
    found = read(
        META("og:site_name", "Riverside"),
        before="<div class=author>Riverside</div>",
        after="<div id=comments><b class=author>Wang</b><time datetime=2026-11-09T00:00:01Z></time></div>"
        "<aside><span class=username>Zhao</span></aside>",
    )
    assert (found.author, found.published) == (None, None)


def test_the_first_post_of_a_thread_is_its_text():
    posts = "".join(
        f"<div class='post odd' id=p{n}><b class=username>user{n}</b><div class=body>{text}</div></div>"
        for n, text in enumerate(("The bridge is gone.", "I saw it. " * 50, "So did I. " * 50))
    )
    found = read(main=f"<h1>Flood in Wulong</h1>{posts}")
    assert (found.content, found.author) == ("The bridge is gone.", "user0")


def test_what_accompanies_a_text_is_no_part_of_it():
    found = read(
        main="<h1>Flood in Wulong</h1><div class=share>Share this</div>"
        f"<nav>Home</nav><article><div class=post-meta>in <a>News</a></div>{STORY}<table><tr><td>1<td>2</table>"
        "<img src=/a.png><footer>Imprint</footer><ul class=related><li><a href=/b>Other news</a></ul></article>",
    )
    assert found.content.split("\n")[-1] == "1\t2"
    assert len(found.content.split("\n")) == 10
    assert found.images == (f"{BASE}/a.png",)


@pytest.mark.parametrize(
    "script",
    [
        "[" * 2_000,
        '{"@type": "Article", "author": {"name": {"name": 1}}',
        '{"@type": [{}], "author": [[["x"]]]}',
        "null",
    ],
)
def test_broken_declarations_are_none(script):
    found = read(ld(script))
    assert (found.title, found.author) == ("Flood in Wulong", None)


FORUM = (
    "<!doctype html><title>Town forum: Flood in Wulong</title><div class=header><h1>Town forum</h1>Flood in"
    " Wulong</div><div class=content><div class=forumTime><h1>Flood in Wulong</h1><h3 class=postHdr>(1) By"
    " <a href=/u>Li Si</a> on 2026-11-03 06:05:09 <a href=/raw>[source]</a></h3><div class=forumPostBody>{}</div></div>"
    "{}</div>"
)
REPLY = (
    "<div class=forumTime><h3 class=postHdr>(2) By <a href=/u>Wang Wu</a> on 2026-11-04 07:00:00</h3>"
    "<div class=forumPostBody><p>Thank you</p></div></div>"
)


@pytest.mark.parametrize("replies", ["", REPLY, REPLY * 2])
def test_what_stands_right_before_a_post_says_whose_it_is_whatever_it_is_named(replies):
    found = extract.fields(html(FORUM.format(STORY, replies)), WEB)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:09Z")
    assert found.sureness["published"] == "guess"
    assert found.content.count("Wulong and the road") == 9
    assert "Thank you" not in found.content


TICKET = (
    "<div id=content class=ticket><div id=ticketbox><div class=date><p>Opened <a class=timeline"
    " href='/timeline?from=2026-11-03T06%3A05%3A09Z' title='See timeline at 11/03/26 06:05:09'>3 days ago</a></p></div>"
    "<h1>Flood in Wulong</h1><table class=properties><tr><th>Owned by:</th><td>somebody</td><th>Reported by:</th>"
    "<td><a href=/q>Li Si</a></td></tr></table><div class=description><div class=searchable>{}</div></div></div>"
    "<div id=changelog><h3>Change History (1)</h3><div class=change><h3>comment:1 by Wang Wu</h3>"
    "<div class='comment searchable'>Thank you</div></div></div></div>"
)


def test_a_ticket_is_what_its_reporter_described_when_it_was_opened():
    found = read(main=TICKET.format(STORY))
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:09Z")
    assert found.sureness["published"] == "exact"
    assert found.content.count("Wulong and the road") == 9
    assert not any(word in found.content for word in ("Thank you", "Change", "Opened", "somebody"))


TIME = "2026-11-03 06:05:09 UTC"
DOCUMENTATION = (
    "<main role=main><section><h1>Flood in Wulong<a class=headerlink href='#flood'>\u00b6</a></h1>"
    f"<dl class=field-list><dt>Author<span>:</span></dt><dd><p>Li Si</p></dd><dt>Date</dt><dd>{TIME}</dd></dl>"
    "{}<section><h2>Roads <a href='#roads'>#</a></h2><p>All open, see <a href='#note'>\u00a7</a> 5.</p></section>"
)


@pytest.mark.parametrize("main", [DOCUMENTATION, DOCUMENTATION.replace("dt>Date<", "dt>Published on<")])
def test_a_list_of_properties_says_who_wrote_a_page_and_when(main):
    found = extract.fields(html(main.format(STORY)), WEB)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:09Z")
    assert found.content.startswith("The flood took")
    assert found.content.endswith("Roads\nAll open, see \u00a7 5.")


@pytest.mark.parametrize("about", ["<tr><th>Published</th><td>{}</td></tr>", "<dl><dt>Date</dt><dd>{}</dd></dl>"])
def test_when_what_a_page_tells_of_was_is_not_when_it_was_written(about):
    about = about.format(TIME)
    table = f"<table>{about}</table>" if about.startswith("<tr") else about
    assert extract.fields(html(f"<main><h1>Flood in Wulong</h1>{table}{STORY}</main>"), WEB).published is None


def test_the_line_below_a_title_says_whose_a_text_is_and_no_line_in_it_does():
    line = f"<p class=byline>By Li Si on {TIME}</p>"
    below = extract.fields(html(f"<main><h1>Flood in Wulong</h1>{line}{STORY}</main>"), WEB)
    assert (below.author, below.published) == ("Li Si", "2026-11-03T06:05:09Z")
    within = extract.fields(html(f"<main><h1>Flood in Wulong</h1>{STORY}{line}{STORY}</main>"), WEB)
    assert (within.author, within.published) == (None, None)


@pytest.mark.parametrize("line", [f"<p><em>By Li Si, {TIME}</em></p>", f"<div>by Li Si on {TIME}</div>"])
def test_an_unnamed_line_below_a_title_that_says_nothing_else_is_no_text(line):
    found = extract.fields(html(f"<main><h1>Flood in Wulong</h1>{line}{STORY}</main>"), WEB)
    assert (found.author, found.published, found.content[:14]) == ("Li Si", "2026-11-03T06:05:09Z", "The flood took")


@pytest.mark.parametrize(
    "line", ["By Li Si, 3 men were seen", "It came by Li Si, 2026-11-03", "By Li Si, 2026-11-03, in rain"]
)
def test_a_first_sentence_is_text(line):
    found = extract.fields(html(f"<main><h1>Flood in Wulong</h1><p>{line}.</p>{STORY}</main>"), WEB)
    assert found.content.startswith(line)


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("Posted in Floods & rain by Li Si", "Li Si"),
        ("3 November 2026 by Li Si", "Li Si"),
        ("Written by Li Si", "Li Si"),
        ("\u00a9 2026 Desk Powered by Hexo", None),
        ("2026 Theme by Somebody", None),
    ],
)
def test_who_made_the_software_has_not_written_the_text(line, author):
    about = f"<div class=info>{line}, 3 Nov. 2026</div>"
    assert read(main=f"<h1>Flood in Wulong</h1>{about}{STORY}").author == author


LETTER = (
    "<hr>[<a href=2.html>Date Prev</a>]<h1>Flood in Wulong</h1><hr><ul><li><em>To</em>: list</li>"
    "<li><em>Subject</em>: Flood</li><li><em>From</em>: {} &lt;<a href=mailto:li>li@b.example</a>&gt;</li>"
    "<li><em>Date</em>: Tue, 03 Nov 2026 14:05:09 +0800</li></ul><hr><pre>{}</pre>"
)


def test_a_letter_of_an_archive_has_a_head():
    found = extract.fields(html(LETTER.format("Li Si", "The flood took the bridge at Wulong.\n" * 9)), WEB)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:09Z")
    without = LETTER.replace("Subject", "Topic").format("Li Si", "The flood took the bridge at Wulong.\n" * 9)
    assert extract.fields(html(without), WEB).author is None


MENU = "<div class='bar has-sidebar'><div class=content-body><button>Menu</button><span>Appearance</span></div></div>"


@pytest.mark.parametrize("names", ["content has-sidebar", "with-comments", "sidebar"])
def test_a_menu_that_is_named_like_a_text_is_none(names):
    page = f"{MENU}<div class='{names}'><main class=main><h1>Flood in Wulong</h1>{STORY}</main></div>"
    found = extract.fields(html(page), WEB)
    assert (found.title, found.content[:14], "Appearance" in found.content) == (
        "Flood in Wulong",
        "The flood took",
        False,
    )


def test_where_what_is_named_like_a_text_holds_none_the_page_is_looked_through():
    page = f"<h1>Flood in Wulong</h1><div class=entry-content><nav>Menu of all</nav></div><div>{STORY}</div>"
    assert "Wulong and the road" in extract.fields(html(page), WEB).content


SENT = (
    "<pre><a href=../><b>public inbox</b></a>\n<a href=help/>help</a></pre>"
    "<pre id=b>From: Li Si &lt;li@b.example&gt;\nTo: list\nSubject: <a href=#r>Flood in Wulong</a>\n"
    "Date: Tue, 03 Nov 2026 14:05:09 +0800\t<a href=#r>[thread]</a>\nMessage-ID: &lt;7@h&gt;\n\n"
    "The flood took the bridge.\n\n  Indented: so.\n</pre><hr><pre>This is a public inbox</pre>"
)


def test_a_letter_that_stands_there_as_it_was_sent_is_its_text():
    found = extract.fields(html(f"<title>Flood in Wulong - Li Si</title>{SENT}"), WEB)
    assert (found.title, found.author, found.published) == ("Flood in Wulong", "Li Si", "2026-11-03T06:05:09Z")
    assert found.content == "The flood took the bridge.\n\n  Indented: so."


@pytest.mark.parametrize(("address", "author"), [("mailto:list", "Li Si"), ("/li", None)])
def test_a_letter_may_have_name_and_time_without_labels(address, author):
    head = (
        f"<h1>[town] Flood in Wulong</h1><b>Li Si</b> <a href={address}>li at b.example</a><br>"
        "<i>Tue Nov  3 06:05:09 UTC 2026</i><p><ul><li>Next: <a href=2.html>after</a></ul><hr>"
    )
    found = extract.fields(html(f"{head}<pre>{'The flood took the bridge at Wulong.' * 9}</pre>"), WEB)
    assert (found.author, found.published) == (author, author and "2026-11-03T06:05:09Z")


def test_a_letter_that_is_an_example_is_not_the_page():
    found = extract.fields(html(f"<main><h1>How mail is written</h1>{STORY}{SENT}</main>"), WEB)
    assert (found.title, found.author, found.published) == ("How mail is written", None, None)
    assert found.content.startswith("The flood took bridge number 0")


def test_selectors_read_headings_without_the_signs_of_their_addresses():
    board = sites.parse("name: b\ncontent: {title: css:h1, content: {select: 'css:h2, h2 ~ p', all: true}}", "b.yaml")
    found = extract.fields(html(DOCUMENTATION.format("")), board)
    assert (found.title, found.content) == ("Flood in Wulong", "Roads\nAll open, see \u00a7 5.")


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Issue 12: Flood in Wulong - Town tracker", "Issue12", "Flood in Wulong"),
        ("#12 (Flood in Wulong) - Town tracker", "#12", "Flood in Wulong"),
        ("Issue 12: Flood (again) - Town tracker", "Issue 12", "Flood (again)"),
        ("工单 12：武隆洪水 - 市民热线", "工单12", "武隆洪水"),
        ("Chapter 3 - A flood", "Chapter 3", "Chapter 3"),
        ("2026 floods in Wulong - Riverside", "2026", "2026 floods in Wulong"),
    ],
)
def test_a_heading_that_is_only_a_number_is_no_title_where_a_title_says_more(title, heading, expected):
    page = f"<!doctype html><html lang=en><title>{title}</title><h2>{heading}</h2><main>{STORY}</main>"
    assert extract.fields(html(page), WEB).title == expected


def test_a_whole_title_in_a_heading_counts_for_more_than_a_number_in_another():
    title = "Lot 12 goes to Wulong"
    page = f"<!doctype html><title>{title} - Riverside</title><h2>Lot 12</h2><main><h1>{title}</h1>{STORY}</main>"
    assert extract.fields(html(page), WEB).title == title
