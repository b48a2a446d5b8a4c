"""When pages without a site's selectors were published: which times are theirs, and which are of something else."""

from datetime import UTC, datetime

import pytest
from extract.pages import html

from crawler import extract, sites

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)
TIME = "<time datetime=2026-01-18T13:53:42Z>then</time>"
TODAY = datetime.now(UTC).strftime("%A, %B %d, %Y")


def read(below="", before="", after="", within=""):
    head = "<!doctype html><html lang=en><title>Flood in Wulong - Riverside</title>"
    page = f"{head}{before}<h1>Flood in Wulong</h1>{below}<article>{TEXT}{within}</article>{after}"
    return extract.fields(html(page), WEB)


@pytest.mark.parametrize(
    ("line", "published", "sure"),
    [
        (
            '<p>opened <relative-time datetime="2025-01-18T13:53:42Z">x</relative-time></p>',
            "2025-01-18T13:53:42Z",
            "exact",
        ),
        ('<p><a title="01/28/2025 11:37 AM" href=/a>almost 2 years</a> ago</p>', "2025-01-28T11:37:00Z", "guess"),
        ('<p><span title="2025-01-28 11:37">almost 2 years ago</span></p>', "2025-01-28T11:37:00Z", "guess"),
        ('<p><span title="2025-01-28T11:37:00Z">28 Jan</span></p>', "2025-01-28T11:37:00Z", "exact"),
        ('<p><del datetime="2025-01-18T13:53:42Z">x</del></p>', None, None),
        ('<p><a title="2025-01-28 11:37" href=/a>Permanent link</a></p>', None, None),
        (
            '<p>Added <a title="2025-01-28 11:37Z">2 years</a> ago. Edited <a title="2025-03-01 07:00Z">1 year</a> ago',
            "2025-01-28T11:37:00Z",
            "exact",
        ),
    ],
)
def test_an_attribute_says_what_a_text_tells_only_in_part(line, published, sure):
    found = read(line)
    assert (found.published, found.sureness.get("published")) == (published, sure)


def test_a_time_within_a_text_is_what_it_tells_of():
    assert read(within='<p>At <relative-time datetime="2025-01-18T13:53:42Z">x</relative-time></p>').published is None


CHANGED = (
    "This page (revision-3) was last changed on <a href=/d>21-Feb-2025 10:12</a> by Dara Neill<a href=#top>Top</a>"
)
MODIFIED = "modified 2025-10-01 18:28:22Z by <a href=/users/emil class='editor homepage local'>emil</a>."


@pytest.mark.parametrize("around", ['<div class="page-footer">{}</div>', "<footer>{}</footer>", "<div><p>{}</p></div>"])
@pytest.mark.parametrize(
    ("line", "author", "published"),
    [(CHANGED, "Dara Neill", "2025-02-21T10:12:00Z"), (MODIFIED, "emil", "2025-10-01T18:28:22Z")],
)
def test_the_only_line_that_tells_of_a_change_says_when_and_by_whom(around, line, author, published):
    found = read(after=around.format(line))
    assert (found.author, found.published) == (author, published)
    several = read(after=around.format(line) + around.format(line.replace("Dara", "Li").replace("emil<", "li<")))
    assert several.author is None


@pytest.mark.parametrize(
    ("box", "line", "published"),
    [
        (f"<header><div class=current-date>{TODAY}</div></header>", "", None),
        (f"<div class=date>{TODAY}</div>", "", None),
        (f"<div class=date>{TODAY} 00:00:01 UTC</div>", "<p>3 November 2025</p>", "2025-11-03T00:00:00Z"),
        (f"<div class=date>{TODAY} 00:00:01 UTC</div>", "", datetime.now(UTC).strftime("%Y-%m-%dT00:00:01Z")),
        ("", f"<p class=date>{TODAY}</p>", datetime.now(UTC).strftime("%Y-%m-%dT00:00:00Z")),
    ],
)
def test_today_elsewhere_on_a_page_is_not_when_it_was_published(box, line, published):
    assert read(line, before=box).published == published


@pytest.mark.parametrize(
    "around",
    [
        "<section class=more-stories>{}</section>",
        "<div id=responses>{}</div>",
        "<footer>{}</footer>",
        "<aside>{}</aside>",
        "<div><a href=/b>Other news</a> {}</div>",
    ],
)
def test_a_time_behind_the_text_is_of_something_else(around):
    assert read(after=around.format(TIME)).published is None
    assert read(f"<p>{TIME}</p>", after=around.format(TIME.replace("18T", "19T"))).published == "2026-01-18T13:53:42Z"
    plain = f"<title>Flood in Wulong</title><h1>Flood in Wulong</h1>{TEXT}{around.format(TIME)}"
    assert extract.fields(html(plain), WEB).published is None


def test_what_is_named_for_one_text_may_stand_behind_it():
    assert read(after=f"<div class=post-meta>Posted {TIME}</div>").published == "2026-01-18T13:53:42Z"


@pytest.mark.parametrize(
    ("line", "published"),
    [
        ("<i class='fa fa-calendar'></i> March 15, 2017", "2017-03-15T00:00:00Z"),
        ("<i class='fa fa-clock-o'></i> <span>2017-03-15 10:20Z</span>", "2017-03-15T10:20:00Z"),
        ("<span class=material-symbols-outlined>calendar_today</span> March 15, 2017", "2017-03-15T00:00:00Z"),
        ("<i class='fa fa-clock'></i> 5 min read", None),
    ],
)
def test_the_icon_of_a_calendar_or_a_clock_stands_before_a_time(line, published):
    found = read(f"<ul class=links><li>Dora</li><li>{line}</li><li>News</li></ul>")
    assert found.published == published
    assert found.sureness.get("published") in ("day", "guess", None)


def test_a_date_behind_an_icon_that_tells_of_a_change_counts_last():
    changed = "<li><i class='fa fa-calendar'></i> Updated March 15, 2017</li>"
    both = f"<ul class=links>{changed}<li><i class='fa fa-calendar'></i> March 3, 2017</li></ul>"
    assert (read(both).published, read(both).sureness["published"]) == ("2017-03-03T00:00:00Z", "day")
    alone = read(f"<ul class=links>{changed}</ul>")
    assert (alone.published, alone.sureness["published"]) == ("2017-03-15T00:00:00Z", "guess")


@pytest.mark.parametrize("text", ["4mo", "3h", "2 d", "28 Oct '25", "yesterday"])
def test_the_title_of_a_short_relative_time_is_the_time(text):
    found = read(f"<ul class=about><li title='Oct. 28, 2025, 12:05 a.m.'>{text}</li></ul>")
    assert (found.published, found.sureness["published"]) == ("2025-10-28T00:05:00Z", "guess")


@pytest.mark.parametrize(
    "line",
    [
        "<div class=pagedate>Last edited <span class=date>2017-06-08 03:11:13Z</span></div>",
        "<div class=pagedate>Last edited <time datetime=2017-06-08T03:11:13Z>8 June</time></div>",
        "<div class=lastmod>2017-06-08 03:11:13Z</div>",
    ],
)
def test_a_time_of_a_change_is_only_a_guess_of_when_a_page_was_published(line):
    for found in (read(after=line), read(line)):
        assert (found.published, found.sureness["published"]) == ("2017-06-08T03:11:13Z", "guess")


@pytest.mark.parametrize(
    "place", ["<time datetime=2017-06-08T03:11:13Z>8 June</time>", "<span class=date>2017-06-08 03:11:13Z</span>"]
)
@pytest.mark.parametrize(
    ("before", "sure"),
    [
        ("Last edited ", "guess"),
        ("Updated on ", "guess"),
        ("Modified: ", "guess"),
        ("This page was last changed by Ann Lee on ", "guess"),
        ("Edited by Ann Lee ", "exact"),
        ("This guide was updated for the new edition. ", "exact"),
    ],
)
def test_words_make_a_time_one_of_a_change_only_if_they_lead_to_it(before, place, sure):
    found = read(f"<p>{before}{place}</p>")
    assert (found.published, found.sureness["published"]) == ("2017-06-08T03:11:13Z", sure)


def test_names_for_updates_do_not_make_a_change_of_a_time_when_something_was_asked():
    found = read(before="<div class=post-update-info>asked 2017-06-08 03:11:13Z</div><p>a</p><p>b</p>")
    assert (found.published, found.sureness["published"]) == ("2017-06-08T03:11:13Z", "exact")
