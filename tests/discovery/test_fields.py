"""Fields of content pages that are cut out of longer texts."""

from __future__ import annotations

import re

import pytest
from discovery.made_up import ENGLISH, ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery import cut_dates, fields, rules
from crawler.discovery.page import ParsedPage
from crawler.discovery.sample import Sample
from crawler.extract import content as reading
from crawler.sites import Site


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["by Ann Lee on 2026-11-03", "by Bob on 2026-11-04"], "by (.+?) on "),
        (["Posted by Ann Lee | 3 comments", "Posted by Bob | 5 comments"], r"by (.+?) \|"),
        (["by Ann Lee", "by Bob"], "by (.+?)$"),
        (["by Ann Lee 2026-11-03", "by Bob 2026-11-04"], r"by (.+?) \d"),
    ],
)
def test_a_name_between_the_same_words_is_cut_out(texts, pattern):
    assert rules.author_pattern(texts) == pattern
    assert [re.search(pattern, one)[1] for one in texts] == ["Ann Lee", "Bob"]


@pytest.mark.parametrize(
    "texts",
    [
        ["by Ann Lee on 2026-11-03", "by Bob | 5 comments"],
        ["by Ann Lee on 2026-11-03", "by Bob"],
        ["by Ann Lee (2026-11-03)", "by Bob (2026-11-04)"],
        ["Standby Ann by Bob", "Standby Eve by Carl"],
        ["by Ann Lee", "By Bob"],
        ["by Ann Lee", "Bob"],
        [],
    ],
)
def test_no_pattern_is_made_that_would_read_more_than_names(texts):
    assert rules.author_pattern(texts) == ""


def test_an_author_s_element_that_says_more_than_names_is_left():
    said = ("by Ann Lee on 2026-11-03", "by Bob Stone | 5 comments")
    samples = []
    for one, byline in zip(ENGLISH, said, strict=False):
        body = page("", f"<h1>{one.title}</h1><p class=byline>{byline}</p><article>{one.text}</article>").encode()
        samples.append(Sample(ParsedPage(Fetched(f"{ORIGIN}/{one.number}", 200, "text/html", body)), one.title))
    assert "author" not in fields.compare(samples)


def compared(shape, count=4, *, head=lambda _one: "", title=lambda one: one.title):
    """Returns the rules of articles of a shape, and what they read."""
    samples = []
    for one in ENGLISH[:count]:
        body = page(title(one), shape(one), head(one)).encode()
        samples.append(Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}", 200, "text/html", body)), one.title))
    rules = fields.compare(samples[:2], samples[2:])
    site = Site.from_definition({"name": "s", "content": rules})
    return rules, [reading.fields(sample.page.fetched, site) for sample in samples]


def test_a_single_letter_is_no_author():
    rules, read = compared(
        lambda one: (
            f"<h1>{one.title}</h1><div class=user-icon>{one.author[0]}</div><p class=name><a href='/user/1'>"
            f"{one.author}</a></p><article>{one.text}</article>"
        )
    )
    assert rules["author"] == {"select": "css:p.name a"}
    assert [one.author for one in read] == [one.author for one in ENGLISH[:4]]


@pytest.mark.parametrize("mark", ["itemprop=author", "rel=author", "class=post-author"])
def test_what_is_marked_as_an_author_goes_before_what_is_not(mark):
    rules, read = compared(
        lambda one: (
            f"<h1>{one.title}</h1><a class=username href='/user/{one.number % 3}'>Editor {one.number % 3}</a>"
            f"<p>From <b {mark}>{one.author}</b></p><article>{one.text}</article>"
        )
    )
    assert "author" in rules["author"]["select"]
    assert [one.author for one in read] == [one.author for one in ENGLISH[:4]]


def signed(one):
    return (
        f"<h1>{one.title}</h1><article>{one.text}</article><div class=page-footer>by {one.author}<a href='#top'>Top</a>"
        f"</div>"
    )


def test_a_name_that_a_link_follows_at_once_is_left():
    assert "author" not in compared(signed)[0]


def test_a_declared_author_goes_before_one_that_is_cut_out_of_a_text():
    def named(one):
        return signed(one).replace("<a", " <a")

    rules, read = compared(named, head=lambda one: f'<meta name="author" content="{one.author}">')
    assert rules["author"] == {"select": "css:meta[name='author']"}
    assert [one.author for one in read] == [one.author for one in ENGLISH[:4]]


def test_the_number_of_a_page_is_no_part_of_its_title():
    rules, read = compared(
        lambda one: f"<h1>{one.title} <span class=index>#{one.number}</span></h1><article>{one.text}</article>"
    )
    assert rules["title"] == {"select": "css:h1", "remove": ["css:span.index"]}
    assert [one.title for one in read] == [one.title for one in ENGLISH[:4]]


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("{} - My MoinMoin", "^(.+) - My MoinMoin$"),
        ("{} - Topic - FlaskBB", "^(.+) - Topic - FlaskBB$"),
        ("Town: {}", None),
        ("Town | {}", r"^Town \| (.+)$"),
        ("{}", None),
    ],
)
def test_the_name_of_a_site_is_cut_off_its_title(form, pattern):
    rules, read = compared(lambda one: f"<article>{one.text}</article>", title=lambda one: form.format(one.title))
    assert rules["title"] == {"select": "css:title"} | ({"pattern": pattern} if pattern else {})
    if pattern:
        assert [one.title for one in read] == [one.title for one in ENGLISH[:4]]


TIMES = ("05 11:37 AM", "28 02:58 PM", "13 12:05 AM", "06 01:00 PM")
READ = ("05T11:37:00Z", "28T14:58:00Z", "13T00:05:00Z", "06T13:00:00Z")


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        (
            '<p class=by>Added <a title="01/{day}/2025 {time}" href="/a">almost 2 years</a> ago</p>',
            {"select": "css:p.by a[title]::attr(title)", "format": "%m/%d/%Y %I:%M %p"},
        ),
        (
            '<p class=by><span title="Sender\'s time: January {day}, 2025, {time}">January {day}</span></p>',
            {"select": "css:p.by span[title]::attr(title)"},
        ),
        (
            '<p class=by><relative-time datetime="2025-01-{iso}">today</relative-time></p>',
            {"select": "css:relative-time"},
        ),
    ],
)
def test_a_time_that_an_attribute_says_more_exactly_is_read_there(shown, rule):
    def shape(one):
        at = one.number - 101
        day, _, time = TIMES[at].partition(" ")
        return f"<h1>{one.title}</h1>{shown.format(day=day, time=time, iso=READ[at])}<article>{one.text}</article>"

    rules, read = compared(shape)
    assert rules["published"] == rule
    assert [one.published for one in read] == [f"2025-01-{one}" for one in READ]


def test_a_day_that_could_be_a_month_on_all_pages_is_left():
    assert cut_dates.rule_of(["01/05/2025 11:37 AM", "02/06/2025 02:58 PM"], "") is None


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("names", ["id=comments", "class=comment-list"])
def test_a_date_below_the_content_in_what_is_named_for_comments_is_not_the_page_s(count, names):
    def shape(one):
        said = "".join(
            f"<dt>2026-11-{at + one.number % 9 + 1:02} - {one.author}</dt><dd>It was number {at + one.number}.</dd>"
            for at in range(count)
        )
        return f"<h1>{one.title}</h1><article>{one.text}</article><dl {names}>{said}</dl>"

    rules, read = compared(shape)
    assert not {"author", "published"} & rules.keys()
    assert not any(one.published or one.author for one in read)


def test_a_date_above_the_content_of_a_post_is_read_whatever_the_names_around_it():
    def shape(one):
        return (
            f"<h1>{one.title}</h1><div class=comments-area><div class=comment><p class=comment-head><b class=author>"
            f"{one.author}</b> <time>{one.date}</time></p><div class=comment-text>{one.text}</div></div></div>"
        )

    rules, read = compared(shape)
    assert [one.author for one in read] == [one.author for one in ENGLISH[:4]]
    assert [one.published[:10] for one in read] == [one.date[:10] for one in ENGLISH[:4]]
    assert rules["published"] == {"select": "css:time"}


def test_a_date_without_a_name_is_told_by_the_picture_before_it():
    rules, read = compared(
        lambda one: (
            f"<h1>{one.title}</h1><ul class=links><li><i class='fa fa-user'></i> <a href='/author/{one.number}/'>"
            f"{one.author}</a></li><li><i class='fa fa-calendar'></i> {one.date}</li></ul><article>{one.text}</article>"
        )
    )
    assert rules["published"] == {"select": "css:li:has(> i.fa-calendar)"}
    assert [one.published[:16] for one in read] == [one.date.replace(" ", "T") for one in ENGLISH[:4]]


@pytest.mark.parametrize(
    ("texts", "name", "date"),
    [
        (["Jan. 2, 2026, 5:19 p.m. - Ann Lee", "Jan. 3, 2026, noon - Bob"], " - (.+)$", "^(.+?) - "),
        (["2026-01-02 | Ann - Lee", "2026-01-03 | bob77"], r" \| (.+)$", r"^(.+?) \| "),
        (["Ann \u00b7 2 January 2026", "Bob \u00b7 3 January 2026"], "^(.+) \u00b7 ", "^.+ \u00b7 (.+)$"),
    ],
)
def test_a_name_and_a_date_on_one_line_are_told_apart(texts, name, date):
    found = rules.beside_date(texts, "en")
    assert found == rules.NamedDate(name, {"pattern": date})


@pytest.mark.parametrize(
    "texts",
    [
        ["2026-01-02 - Reply", "2026-01-03 - Reply"],
        ["2026-01-02 - 3 comments", "2026-01-03 - 5 comments"],
        ["2026-01-02 - Ann", "2026-01-03, Bob"],
        ["2026-01-02 - a text that goes on and on", "2026-01-03 - another one of those texts"],
        ["Eve - Ann", "Eve - Bob"],
        ["01/02/2026 - Ann", "02/03/2026 - Bob"],
        [],
    ],
)
def test_no_line_is_parted_that_is_no_name_and_date(texts):
    assert rules.beside_date(texts, "en") is None
