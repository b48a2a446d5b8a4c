"""Comments as a list: rows of a page, read by rules within the row."""

import pytest
from extract.pages import html, json, reason

from crawler import extract, sites
from crawler.base.item import Comment
from crawler.extract.comments import ReadComment, count_in, in_item, joined

THREAD = """
name: blog
timezone: Asia/Shanghai
content:
  content: css:article
  next_page: css:a.next
  comments:
    each: css:li.comment
    text: {select: css:.body, remove: [css:.sig]}
    author: css:.who::text
    published: css:time
    likes: css:.likes
"""
BLOG = sites.parse(THREAD, "blog.yaml")
FLAT = sites.parse(
    """
name: flat
content:
  type: json
  content: json:text
  comments: {each: "json:comments[]", text: {select: json:html, html: true}, author: json:user.name, likes: json:n,
    published: json:at, id: json:id, parent: json:to, max: 3}
""",
    "flat.yaml",
)


def li(text, who="Li", inner="", likes="", time="2026-11-03 14:05"):
    return (
        f"<li class=comment><b class=who>{who}</b><time>{time}</time><div class=body><p>{text}</p><i class=sig>--</i>"
        f"</div>{likes and f'<u class=likes>{likes}</u>'}<ol>{inner}</ol></li>"
    )


def test_comments_are_read_row_by_row_and_one_within_another_answers_it():
    page = html(
        f"<article>Text</article><ol>{li('One', inner=li('Two', 'Wang', inner=li('Three', likes='1,234 likes')))}"
        f"{li('One')}{li('', '')}{li('Four', '', time='2026-11-03', likes='1.2k')}</ol>"
    )
    found = extract.fields(page, BLOG)
    assert in_item(found.comments) == [
        Comment("One", "Li", "2026-11-03T06:05:00Z", None, None),
        Comment("Two", "Wang", "2026-11-03T06:05:00Z", 0, None),
        Comment("Three", "Li", "2026-11-03T06:05:00Z", 1, 1234),
        Comment("One", "Li", "2026-11-03T06:05:00Z", None, None),  # as often as it stands there
        Comment("Four", None, "2026-11-02T16:00:00Z", None, None),
    ]
    assert found.content == "Text"


@pytest.mark.parametrize(("continues", "texts"), [(False, ["Two", "Three"]), (True, ["One", "Two", "Three"])])
def test_the_first_row_of_the_first_page_may_be_the_text(continues, texts):
    """Of a further page it is a comment; and the bound counts comments alone."""
    site = sites.parse(
        THREAD.replace("each: css:li.comment", "each: css:li.comment\n    skip_first: true\n    max: 3"), "s"
    )
    page = html(f"<article>Text</article><ol>{li('One')}{li('Two', inner=li('Three'))}</ol>")
    found = extract.fields(page, site, continues=continues)
    assert [comment.text for comment in found.comments] == texts
    assert found.comments[-1].parent == len(texts) - 2
    assert "comments" not in found.truncated


def test_comments_may_stand_in_a_second_answer():
    """Those of the page count if it has any."""
    rules = {"each": "json:comments[]", "text": "json:body", "max": 2}
    entry = {"url": "{base}/c/{id}", "values": {"id": "css:b"}, "type": "json", "comments": rules}
    content = {"content": "css:p", "comments": {"each": "css:li", "text": "css:i"}, "joined": [entry]}
    site = sites.Site.from_definition({"name": "s", "base": "http://127.0.0.1:8800", "content": content})
    answer = json({"comments": [{"body": text} for text in ("One", "Two", "Three")]})
    more = extract.joined_fields(answer, site, joined=site.content.joined[0])
    bare = extract.fields(html("<p>text</p><b>1</b>"), site)
    assert [comment.text for comment in bare.filled(more).comments] == ["One", "Two"]
    assert bare.filled(more).truncated == ("comments",)
    own = extract.fields(html("<p>text</p><b>1</b><li><i>own</i>"), site)
    assert [comment.text for comment in own.filled(more).comments] == ["own"]
    assert own.filled(more).truncated == ()


def test_the_text_of_a_comment_may_be_the_block_behind_its_row():
    pairs = sites.parse(
        """
name: pairs
content:
  content: css:article
  comments:
    each: css:dl.comments > dt
    text: xpath:following-sibling::*[1][self::dd]
    author: css:b
""",
        "pairs.yaml",
    )
    page = html(
        "<article>Text</article><dl class=comments><dt><b>Li</b><dd>One<dt><b>Wang</b><dt><b>Ann</b><dd>Two</dl>"
    )
    assert [(one.author, one.text) for one in extract.fields(page, pairs).comments] == [
        ("Li", "One"),
        ("Wang", ""),
        ("Ann", "Two"),
    ]


def test_comments_of_json_name_what_they_answer_and_end_at_the_maximum():
    comments = [
        {"id": 7, "html": "<p>One</p>", "user": {"name": "Li"}, "n": 2, "at": 1762150000},
        {"id": 8, "to": 7, "html": "Two"},
        {"id": 9, "to": 99, "html": "Three"},
        {"id": 10, "html": "Four"},
    ]
    found = extract.fields(json({"text": "Text", "comments": comments}), FLAT)
    assert in_item(found.comments) == [
        Comment("One", "Li", "2025-11-03T06:06:40Z", None, 2),
        Comment("Two", None, None, 0, None),
        Comment("Three", None, None, None, None),
    ]
    assert found.truncated == ("comments",)


def test_comments_of_several_pages_follow_each_other():
    pages = [
        extract.fields(html(f"<article>Text</article>{li('One', inner=li('Two'))}"), BLOG),
        extract.fields(html(li("One", inner=li("Two"))), BLOG, continues=True),
    ]
    whole = extract.join(pages, max_comments=3)
    assert [(one.text, one.parent) for one in whole.comments] == [("One", None), ("Two", 0), ("One", None)]
    assert (whole.content, whole.truncated) == ("Text", ("comments",))
    assert [one.parent for one in extract.join(pages).comments] == [None, 0, None, 2]


def test_a_later_page_of_a_thread_has_comments_and_no_text():
    found = extract.fields(html(li("One")), BLOG)
    assert (found.content, len(found.comments)) == ("", 1)
    assert reason(extract.fields, html("<p>Not found</p>"), BLOG) == "no-content"


@pytest.mark.parametrize(
    ("written", "count"),
    [("12", 12), ("12 likes", 12), ("1,234", 1234), ("1.2k", None), ("3万", None), ("none", None), ("", None)],
)
def test_a_number_is_exact_or_none(written, count):
    assert count_in(written) == count


def test_rows_within_rows_take_bounded_time():
    page = html("<article>Text</article>" + "<li class=comment><p class=body>x<ul>" * 600)
    assert len(extract.fields(page, BLOG).comments) > 1


def test_numbers_that_begin_anew_on_each_page_are_those_of_the_page():
    first, second = ([ReadComment("a", key="1"), ReadComment("b", key="2", answers="1")] for _ in range(2))
    third = [ReadComment("c", answers="2"), ReadComment("d", answers="9")]
    assert [one.parent for one in in_item(joined([first, second, third]))] == [None, 0, None, 2, 1, None]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("3 Kommentare", 3),
        ("12 messages", 12),
        ("1,234 mentions", 1_234),
        ("1.2k", None),
        ("1.2 K likes", None),
        ("2 Mio. Aufrufe", None),
        ("5 million", None),
        ("3 mil", None),
        ("4M", None),
        ("3\u4e07", None),
    ],
)
def test_a_number_that_was_rounded_is_none_and_a_word_behind_it_rounds_nothing(written, number):
    assert count_in(written) == number
