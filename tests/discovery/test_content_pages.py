"""What is proposed for content pages: rules that read what no selectors read, and comments; or nothing but remarks."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from discovery.made_up import ENGLISH, ORIGIN, page

from crawler import extract
from crawler.base.models import Fetched
from crawler.discovery.content.comment_rows import find
from crawler.discovery.content.content_pages import keys_of
from crawler.discovery.content.sample import Sample, read_bare
from crawler.discovery.inquiry import Inquiry
from crawler.discovery.pages.named_parts import is_telling
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.proposal import Notes
from crawler.extract.comments import ReadComment
from crawler.sites import Site

WORDS = "The pumps near {} worked all night, and number {} was the last of them to be switched off by the fire brigade."


NAMES = ("Ann Becker", "Bob Hill", "Carl Ode", "Dora Lee")


def comment(one, number):
    name = f"Ann Becker {number}"
    when = f"<time datetime=2026-03-{number + 10}>{number} March</time>"
    head = f"<i class=user-rank>Senior</i><div class=by>{name}</div>{when}"
    return f"{head}<div class=said><p>{WORDS.format(one.title, number)}</p></div>"


def article(one):
    return f"<h1>{one.title}</h1><article class=text>{''.join(f'<p>{part}</p>' for part in one.paragraphs)}</article>"


def below(one):
    rows = "".join(f"<li class=comment>{comment(one, number)}</li>" for number in (1, 2, 3))
    return f"{article(one)}<ol>{rows}</ol>"


def inside(one):
    rows = "".join(f"<div class=reply>{comment(one, number)}</div>" for number in (1, 2))
    return f"<main class=entry-content>{article(one)}{rows}</main>"


def unnamed(one):
    rows = "".join(f"<div>{comment(one, number)}</div>" for number in (1, 2, 3))
    return f"{article(one)}<section id=comments>{rows}</section>"


def around(one):
    texts = "".join(f"<div class=change>{comment(one, number)}</div>" for number in (1, 2, 3))
    return f"{article(one)}<div>{texts.replace('class=said', 'class=comment')}</div>"


def menu(one):
    links = "".join(f'<li class=post><h3><a href="/p/{n}">{WORDS.format(one.title, n)}</a></h3></li>' for n in (1, 2))
    return f"{article(one)}<ul>{links}</ul>"


def buttons(one):
    return article(one) + "<div class=comment><b class=by>Share</b><p>Send this to your friends now.</p></div>" * 3


def single(one):
    return f"{article(one)}<div class=comment>{comment(one, 1)}</div>"


def thread(one):
    posts = ["<p>".join(one.paragraphs), *(WORDS.format(one.title, number) for number in (1, 2, 3))]
    rows = "".join(
        f"<div class=post><b class=username>{NAMES[number]}</b>"
        f"<a class=posted-on><time datetime=2026-03-{number + 10}T08:00:00Z>{number} March</time></a>"
        f"<div class=said><p>{text}</p></div></div>"
        for number, text in enumerate(posts)
    )
    return f"<h1>{one.title}</h1>{rows}"


def samples_of(shape, title="{}", called="{}"):
    pages = [
        ParsedPage(
            Fetched(f"{ORIGIN}/p/{one.number}", 200, "text/html", page(title.format(one.title), shape(one)).encode())
        )
        for one in ENGLISH[:3]
    ]
    return [
        Sample(one, called.format(article.title), read_bare(one.fetched))
        for one, article in zip(pages, ENGLISH, strict=False)
    ]


def keys(samples):
    notes = Notes()
    return asyncio.run(keys_of(Inquiry(None, "site", "flood", notes), samples)), notes


@pytest.mark.parametrize(("shape", "count"), [(below, 3), (inside, 2), (unnamed, 3), (around, 3)])
def test_comments_are_proposed_with_rules_that_read_the_rest_as_no_selectors_do(shape, count):
    samples = samples_of(shape)
    found, _notes = keys(samples)
    site = Site.from_definition({"name": "site", **found})
    for sample, one in zip(samples, ENGLISH, strict=False):
        fields = extract.fields(sample.page.fetched, site)
        assert fields.title == sample.read.title == one.title
        assert (fields.author, fields.published) == (sample.read.author, sample.read.published)
        assert all(part in fields.content for part in one.paragraphs)
        assert "worked all night" not in fields.content
        said = [(entry.text, entry.author, str(entry.published)[:10]) for entry in fields.comments]
        numbers = range(1, count + 1)
        assert said == [(WORDS.format(one.title, n), f"Ann Becker {n}", f"2026-03-{n + 10}") for n in numbers]


@pytest.mark.parametrize("shape", [article, menu, buttons, single])
def test_what_is_no_list_of_comments_leaves_pages_to_reading_without_selectors(shape):
    found, notes = keys(samples_of(shape))
    assert found == {}
    assert any("read without selectors" in remark for remark in notes.at["content"])


def test_the_first_post_of_a_thread_is_its_text_and_the_others_are_its_comments():
    samples = samples_of(thread)
    found, _notes = keys(samples)
    assert found["content"]["comments"]["each"] == "css:div.post"  # where a thread has one post, no selectors see none
    assert found["content"]["content"] == {"select": "css:div.post div.said", "first_page_only": True, "required": True}
    assert (found["content"]["title"], found["content"]["images"]) == ("auto", "auto")
    site = Site.from_definition({"name": "site", **found})
    for sample, one in zip(samples, ENGLISH, strict=False):
        fields = extract.fields(sample.page.fetched, site)
        assert (fields.title, fields.author, fields.published) == (one.title, "Ann Becker", "2026-03-10T08:00:00Z")
        assert fields.content.split("\n") == [*one.paragraphs]
        assert [comment.text for comment in fields.comments] == [WORDS.format(one.title, n) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("shape", "title", "called", "rule"),
    [
        (article, "{}", "{}", None),
        (lambda one: f"<div class=name>{one.title}</div>{one.text}", "Board", "{}", "css:div.name"),
        (lambda one: f"<p>{one.text}</p>", "Issue 17: {} - Board", "{}", r"^Issue \d+: (.+) - Board$"),
    ],
)
def test_a_title_is_selected_where_the_page_of_results_calls_pages_otherwise(shape, title, called, rule):
    found, _notes = keys(samples_of(shape, title, called))
    written = found.get("content", {}).get("title")
    assert (written["pattern"] if isinstance(written, dict) else written) == rule


@pytest.mark.parametrize(
    ("words", "telling"), [("Flood", True), ("洪水", True), ("#1234", False), ("2 May 2026", False)]
)
def test_numbers_and_dates_name_no_page(words, telling):
    assert is_telling(words) == telling


def test_comments_of_which_no_selectors_say_otherwise_are_only_a_remark():
    samples = samples_of(below)
    said = [ReadComment(WORDS.format(one.title, 1), "Carl Ode", "2026-03-11T00:00:00Z") for one in ENGLISH]
    wrong = [
        Sample(one.page, one.called, replace(one.read, comments=(other,)))
        for one, other in zip(samples, said, strict=False)
    ]
    found, notes = keys(wrong)
    assert found == {}
    assert any(remark.startswith("content: comments: they may be what this finds") for remark in notes.unknown)


def test_a_field_that_is_not_read_is_a_remark_with_what_may_hold_it():
    one = "<h1>{}</h1><table class=head><tr><td class=author>Ann Becker</table><p>{}</p>"
    samples = samples_of(lambda entry: one.format(entry.title, entry.text))
    without = [Sample(entry.page, entry.called, None) for entry in samples]
    _found, notes = keys(without)
    assert "content: author: not read without selectors on 3 of 3 pages; it may be css:td.author ('Ann Becker')" in (
        notes.unknown
    )


def test_a_title_that_the_list_calls_otherwise_is_a_remark():
    samples = [Sample(one.page, f"Another name {at}", one.read) for at, one in enumerate(samples_of(article))]
    _found, notes = keys(samples)
    assert any("title: the list calls it otherwise" in remark for remark in notes.unknown)


def test_pages_with_tags_that_no_selector_can_say_are_read():
    samples = samples_of(lambda one: f"<o:p class=comment>{below(one)}</o:p><a{{ class=post>x</a{{>")
    assert find([sample.page for sample in samples])
    keys(samples)
