"""Pages without a site's selectors: what they declare, what their parts are named, and how sure each field is.

Whole pages of real applications are saved in `tests/sites/pages/web`.
"""

from pathlib import Path

import pytest
from extract.pages import BASE, html

from crawler import extract, sites
from crawler.base.errors import ExtractError

WEB = sites.load("web")
APPLICATIONS = Path(__file__).parent / "applications"
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
    assert published["3小时前"]["sureness"] == {"published": "guess", "published_unit": "hour"}
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


TIME = "2026-11-03 06:05:09 UTC"
DOCUMENTATION = (
    "<main role=main><section><h1>Flood in Wulong<a class=headerlink href='#flood'>\u00b6</a></h1>"
    f"<dl class=field-list><dt>Author<span>:</span></dt><dd><p>Li Si</p></dd><dt>Date</dt><dd>{TIME}</dd></dl>"
    "{}<section><h2>Roads <a href='#roads'>#</a></h2><p>All open, see <a href='#note'>\u00a7</a> 5.</p></section>"
)


def test_selectors_read_headings_without_the_signs_of_their_addresses():
    board = sites.parse("name: b\ncontent: {title: css:h1, content: {select: 'css:h2, h2 ~ p', all: true}}", "b.yaml")
    found = extract.fields(html(DOCUMENTATION.format("")), board)
    assert (found.title, found.content) == ("Flood in Wulong", "Roads\nAll open, see \u00a7 5.")


@pytest.mark.parametrize("around", ["<!-- {} -->", "//<![CDATA[\n{}\n//]]>", "/* <![CDATA[ */ {}; /* ]]> */", "&quot;"])
def test_json_that_is_nearly_right_is_read(around):
    written = f"{{{DATED.replace('Flood in Wulong', 'Flood, in' + chr(10) + 'Wulong')},}}"
    script = around.replace("{}", written) if "{}" in around else written.replace('"', around)
    found = read(ld(script), main=f"<h1>Flood, in Wulong</h1>{STORY}")
    assert (found.title, found.author) == ("Flood, in Wulong", "Li Si")


def test_a_name_in_two_parts_is_one():
    person = '{"@type": "Person", "givenName": "Si", "familyName": "Li"}'
    assert read(ld(f'{{"@type": "Article", "headline": "Flood in Wulong", "author": {person}}}')).author == "Si Li"


@pytest.mark.parametrize(
    "name",
    ["Autor", "human", "September", "Written By", "wordpressadmin", "(c) Getty Images", "Riverside", "a.example.com"],
)
def test_what_is_no_name_is_no_author(name):
    assert read(META("og:site_name", "Riverside") + f"<meta name=author content='{name}'>").author is None


@pytest.mark.parametrize(
    "page",
    [
        {"head": META("og:site_name", "LiSi") + ld(f"{{{ARTICLE}}}")},  # whose site it is
        {"head": META("twitter:label1", "Verfasst von") + META("twitter:data1", "Li Si")},
        {"head": ld('{"@type": "NewsArticle", "headline": "Storms", "author": "Li Si"}')},
        {"main": f"<h1>Flood in Wulong</h1><div>Written by</div><div>Li Si</div>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1>{STORY}", "after": "<p class=post-footer>Publicado por Li Si en 12:30</p>"},
        {"main": f"<h1>Flood in Wulong</h1><div class=author-box__name>Li Si</div>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><div class=author>Li Si Senior Flood Reporter</div>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><div class=author>&amp; Li SiUpdated 3 May 2026</div>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><p>Storms, <a href=/authors/li>Li Si</a></p>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><p>ByLi Si</p><figure>Picture by Wang Wu</figure>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><p>Li Si</p>{STORY}<p>Li Si is a reporter from Wulong.</p>"},
        {"head": ld('{"@type": "Report", "author": "li.s"}'), "before": "<h1>Flood in Wulong</h1><p>By Li Si"},
    ],
    ids="site,card,object,label,below,box,role,glued,link,picture,told of,account".split(","),
)
def test_a_name_that_is_not_declared_for_the_page_is_a_guess(page):
    found = read(**page)
    assert (found.author, found.sureness["author"]) == ("Li Si", "guess")


def test_several_elements_that_are_alike_name_several_authors():
    writers = "".join(f"<a class=author-link href=/author/{name[:2]}>{name}</a>, " for name in ("Li Si", "Wang Wu"))
    assert read(main=f"<h1>Flood in Wulong</h1><p>{writers}</p>{STORY}").author == "Li Si, Wang Wu"


def test_a_line_by_the_title_says_by_whom_and_when():
    found = read(main=f"<h1>Flood in Wulong</h1><p>By Li Si on February 25, 2026</p>{STORY}")
    assert (found.author, found.published) == ("Li Si", "2026-02-25T00:00:00Z")
    assert found.sureness["author"] == "guess"


@pytest.mark.parametrize(
    "page",
    [
        {"main": f"<h1>Flood in Wulong</h1><p>Li Si</p><p>Joined: Jan 27, 2024</p><p>3 Nov 2025</p>{STORY}"},
        {
            "head": ld(f'{{{ARTICLE}, "datePublished": "Jan 27, 2026", "dateModified": "Jan 27, 2026"}}'),
            "main": f"<h1>Flood in Wulong</h1><p>Published 3 Nov 2025</p><p>Updated Jan 27, 2026</p>{STORY}",
        },
        {
            "head": ld(f'{{{ARTICLE}, "datePublished": "2024-01-27", "dateModified": "2025-11-03"}}'),
            "main": f"<h1>Flood in Wulong</h1><p>Nov 3, 2025</p>{STORY}",
        },
        {
            "main": f"<h1>Flood in Wulong</h1>{STORY}",
            "after": "<aside><h4>Reviewed</h4><p>4 Nov 2025</p><h4>Published</h4><p>3 Nov 2025</p></aside>",
        },
        {"main": f"<h1>Flood in Wulong</h1>{STORY}", "after": "<div><h4>Published</h4><div>3 Nov 2025</div></div>"},
        {"main": f"<h1>Flood</h1>{STORY}<p class=post-meta>Li Si<span class=date>3. November 2025</span></p>"},
        {"main": f"<h1>Flood in Wulong</h1><p>Nov 3, 2025Updated: Jan 27, 2026</p>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1><p>Erstellt: 03.11.2025</p>{STORY}"},
        {"before": "<p class=widget>3-nov-2025</p>", "main": f"<h1>Flood in Wulong</h1>{STORY}"},
        {"main": f"<h1>Flood in Wulong</h1>{STORY}", "after": "<footer>Stand: 3. November 2025</footer>"},
        {"main": f"<h1>Flood in Wulong</h1>{STORY}<p>This entry was posted on Monday, November 3rd, 2025 and is filed"
            " under Rivers, so that you can follow all responses to it by a feed of this site."},
        {"main": f"<h1>Flood in Wulong</h1>{STORY}", "after": "<p>Derni\u00e8re mise \u00e0 jour : 3 nov. 2025</p>"},
        {"main": f"<h1>Flood in Wulong</h1><p>{'It rained. ' * 9}On 9 May 2024, {'it did again. ' * 9}</p>{STORY}"
            "<div class=entry-date>3 Nov 2025</div>"},
        {"main": f"<h1>Flood in Wulong</h1><p class=date>3 Nov 2025</p>{STORY}",
         "after": "<ul><li class=date>4 Nov 2025</li><li class=date>5 Nov 2025</li></ul>"},
        {"main": f"<h1>Flood in Wulong</h1><p>2025. november 3.</p>{STORY}"},
    ],
    ids=["no member's", "not that of the last change", "the change that is shown", "labelled above",
         "the only one that stands alone", "named below the text",
         "glued to another", "dotted", "above the title", "of the page's state", "a sentence about the page",
         "of its last change", "not of what the text tells", "not of other stories", "the year first"],
)  # fmt: skip
def test_a_date_is_the_pages_own(page):
    found = read(**page)
    assert (found.published, found.sureness["published"]) == ("2025-11-03T00:00:00Z", "guess")


@pytest.mark.parametrize(
    ("url", "head", "day"),
    [
        ("https://a.example/2025/11/03/flood", "", "2025-11-03"),  # no date on the page is of that month
        ("https://a.example/2025/12/flood", "", "2025-12-09"),
        ("https://a.example/2025/nov/03/flood", "", "2025-11-03"),
        ("https://a.co.uk/flood", "", "2024-03-11"),
        ("https://a.example/flood", META("og:locale", "en_GB"), "2024-03-11"),
        ("https://a.gov/flood", "", "2024-11-03"),
        ("https://a.example/flood", "", "2025-12-09"),  # 11/03 could be of two months
    ],
)
def test_the_address_tells_which_date_is_the_pages_and_what_comes_first_in_it(url, head, day):
    lines = "<p>Posted 11/03/2024</p><p>Posted 9 Dec 2025</p>"
    page = html(SHELL.format(head, "", f"<h1>Flood in Wulong</h1>{lines}{STORY}", ""), url=url)
    assert extract.fields(page, WEB).published == f"{day}T00:00:00Z"


@pytest.mark.parametrize(
    ("declared", "heading", "title", "sure"),
    [
        ("Flood at Wulong: all news", "Flood in Wulong", "Flood in Wulong", "guess"),
        ("Welcome to us", "Life is like a river", "Welcome to us", "guess"),
        ("Flood \u00e2\u0080\u0093 a story", "Flood \u00e2\u0080\u0093 a story", "Flood \u2013 a story", "exact"),
        ("SF&amp;#x27;s flood", "SF\u2019s flood", "SF\u2019s flood", "exact"),
        ("Flood", "Title:Flood", "Flood", "exact"),
        ("Flood", "Flood\u00c2\u00b6", "Flood", "exact"),
    ],
    ids=["the heading says the same", "the heading is no title", "misread", "escaped twice", "label", "link"],
)
def test_a_title_is_what_people_see_of_those_that_say_the_same(declared, heading, title, sure):
    head = SHELL.replace("Flood in Wulong - Riverside", declared)
    page = head.format(META("og:title", declared), "", f"<h1>{heading}</h1>{STORY}", "")
    found = extract.fields(html(page), WEB)
    assert (found.title, found.sureness["title"]) == (title, sure)


def test_a_heading_that_leads_home_is_no_title():
    head = SHELL.replace("Flood in Wulong - Riverside", "Flood in Wulong - River News")
    page = head.format("", "<h1><a href=/>River News</a></h1>", f"<h2>Flood in Wulong</h2>{STORY}", "")
    assert extract.fields(html(page), WEB).title == "Flood in Wulong"


def test_a_title_that_every_page_of_a_site_declares_is_not_sure():
    head = META("og:site_name", "Riverside") + META("og:title", "Riverside")
    assert read(head, main=f"<h1>Flood in Wulong</h1>{STORY}").title == "Flood in Wulong"


@pytest.mark.parametrize(
    "attributes",
    [
        "src=data:image/gif;base64,R0 data-src=/a.png",
        "src=/placeholder.png data-lazy-src=/a.png",
        "srcset='/b.png 1x, /a.png 2x'",
        "srcset='/w=8,h=4/b.png 800w, /a.png 1280w,/c.png 320w'",
        "srcset='/a.png, /b.png'",
        "data-srcset='/a.png 1200w, /b.png 320w'",
    ],
)
def test_an_image_is_the_largest_that_it_stands_for(attributes):
    found = read(main=f"<h1>Flood in Wulong</h1>{STORY}<p>A bridge.<img {attributes}></p>")
    assert found.images == (f"{BASE}/a.png",)
    board = sites.parse("name: b\ncontent: {content: css:p, images: css:img}", "b.yaml")
    assert extract.fields(html(f"<p>text<img {attributes}>"), board).images == (f"{BASE}/a.png",)


@pytest.mark.parametrize(("tag", "words"), [("nav", "About the town of"), ("div", "Page")])
def test_a_menu_alone_is_no_text(tag, words):
    menu = "".join(f"<li><a href=/{n}>{words} {n}</a>" for n in range(30))
    with pytest.raises(ExtractError) as caught:
        extract.fields(html(f"<title>Riverside</title><{tag}><ul>{menu}</ul></{tag}><footer>Imprint</footer>"), WEB)
    assert caught.value.reason == "no-content"


def test_a_menu_is_no_part_of_a_text_that_is_shorter():
    menu = "".join(f"<li><a href=/{n}>Section of things number {n}</a>" for n in range(30))
    text = "".join(
        f"<p>The bridge at post {n} was closed on Monday, and people walked to the station.</p>" for n in "ab"
    )
    for part in ("main", "aside", "div"):
        content = extract.fields(
            html(f"<nav><ul>{menu}</ul></nav><h1>Bridges</h1><{part}>{text}</{part}>"), WEB
        ).content
        assert content.startswith("The bridge at post a")
        assert "Section" not in content


def test_what_a_page_says_of_itself_is_no_part_of_its_text():
    line = "<p class=line>By <a rel=author href=/li>Li Si</a> | 3 November 2026</p>"
    unseen = "<p class=sr-only>Skip to it</p><div class=ad>Umbrellas, half price today</div>"
    found = read(main=f"<article><h1>Flood in Wulong</h1>{line}{unseen}{STORY}<h2>Comments</h2></article>")
    assert found.content.split("\n")[0].startswith("The flood took bridge number 0")
    assert found.content.split("\n")[-1].startswith("The flood took bridge number 8")
    assert (found.author, found.published) == ("Li Si", "2026-11-03T00:00:00Z")


@pytest.mark.parametrize("layout", ["<table><tr><td>{}", "<table><tr><td><table><tr><td>{}", "<table><tr><td>{}<td>x"])
def test_a_page_laid_out_by_tables_has_its_text_once(layout):
    lines = "<br>".join(
        f"The flood took bridge number {n} at Wulong and the road behind it, people say." for n in range(9)
    )
    assert read(main=layout.format(lines)).content.count("bridge number 3") == 1


def test_a_time_is_of_the_page_only_where_its_property_says_so():
    offer = "<p><b itemprop=validThrough content=2025-01-01>until then</b></p>"
    assert read(main=f"<h1>Flood in Wulong</h1>{offer}{STORY}").published is None


def test_a_name_beside_a_place_is_the_name_alone():
    person = "<div itemprop=author><b itemprop=name>Jane Doe</b>, Berlin, Germany</div>"
    assert read(main=f"<h1>Flood in Wulong</h1>{person}{STORY}").author == "Jane Doe"


def test_a_title_that_no_page_has_is_none():
    assert extract.fields(html(f"<title>404</title><main>{STORY}</main>"), WEB).title == ""


def test_a_text_that_is_only_declared_has_its_paragraphs_in_markdown_too():
    body = "\\n".join(f"The flood took the bridge * number {n} at Wulong." for n in range(20))
    head = ld(f'{{{ARTICLE}, "articleBody": "{body}"}}')
    found = extract.fields(
        html(SHELL.format(head, "", "<h1>Flood in Wulong</h1><p>Sign in.</p>", "")), WEB, markdown=True
    )
    assert len(found.content.split("\n")) == 20
    assert found.markdown.count("bridge \\* number") == 20


def test_what_waits_for_scripts_is_read_where_little_else_is():
    page = "<body><p>Loading</p><noscript>{0}</noscript></body>"
    found = extract.fields(html(f"<title>Flood</title>{page.format(STORY)}"), WEB)
    assert found.content.count("Wulong and the road") == 9


def test_the_text_may_be_wanted_as_markdown():
    main = (
        "<article><h1>Flood in Wulong</h1>"
        f"{STORY}<h2>What to do on such a day in the town</h2><ul><li>Call the <a href=/help>people of the town</a> "
        "who know the river and its bridges.<li>Leave <code>the_house</code> by the upper door, where the water "
        "doesn't reach, with the others.</ul>"
        "<table><tr><td>The <b>old</b> bridge on the way to the school of the town<td>1871, as people say.<tr><td>The "
        "bridge of the road to the other towns on the river<td>1954, when the road was made.</table>"
        "<p>All bridges of the town are open for people and cars again, the mayor says.</article>"
    )
    found = extract.fields(html(SHELL.format("", "", main, "")), WEB, markdown=True)
    assert found.page_type == "article"
    assert "## What to do on such a day in the town" in found.markdown
    assert f"- Call the [people of the town](<{BASE}/help>) who know" in found.markdown
    assert "- Leave `the_house` by" in found.markdown
    row = "| The **old** bridge on the way to the school of the town | 1871, as people say. |"
    assert f"{row}\n| --- | --- |\n| The bridge of the road" in found.markdown


@pytest.mark.parametrize(
    ("application", "title", "author", "published", "sure"),
    [
        ("pelican", "Flood in Wulong", "Li Wei", "2026-11-03T02:00:00Z", "exact"),
        ("datasette", "articles: 3", "Li Wei", "2026-11-03T02:00:00Z", "exact"),
        ("trac", "Flood in Wulong", "Li Wei", "2026-11-03T02:00:00Z", "exact"),
        ("fossil", "Flood in Wulong", "Li Wei", "2026-11-03T02:00:00Z", "guess"),  # nobody says where the clock hangs
        ("wiki", "Flood in Wulong", "Li Wei", "2026-11-03T02:00:00Z", "guess"),  # it was changed then
    ],
)
def test_pages_like_those_of_applications_say_by_whom_and_when(application, title, author, published, sure):
    found = extract.fields(html((APPLICATIONS / f"{application}.html").read_bytes()), WEB)
    assert (found.title, found.author, found.published) == (title, author, published)
    assert found.sureness["published"] == sure
    assert "bridge number 7 at Wulong" in found.content
