"""Articles and the comments on them are told apart, on pages of many shapes: whole proposals, and what they read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from discovery import made_up
from discovery.made_up import ENGLISH, ORIGIN, PEOPLE, Visitor

from crawler.discovery import comments, fields, propose
from crawler.discovery.page import ParsedPage
from crawler.discovery.sample import Sample
from crawler.base.models import Fetched

SAID = (
    "I was there on the second day and it was not as bad as this says, number {}.",
    "Thank you. We saw the same {} metres from our end of the town, and nobody came to help us.",
    "Does anybody know whether ward {} is open again, or when it will be?",
)


class Shaped(made_up.Site):
    """A site whose articles have a shape; a search finds them."""

    def __init__(self, shape):
        self.shape = shape

    def respond(self, request):
        if request.path == "/":
            return made_up.page("Town", '<h2>Town</h2><form action="/find"><input type="search" name="q"></form>')
        if request.path == "/find":
            found = self.found(request.query.get("q", ""))[:9]
            rows = "".join(f'<li class=hit><a href="/a/{one.number}">{one.title}</a></li>' for one in found)
            return made_up.page("Found", f"<ul>{rows}</ul>" if rows else "<p class=none>Nothing</p>")
        one = self.article(request.path.removeprefix("/a/"))
        return made_up.page(f"{one.title} - Town", self.shape(one)) if one else None


def posts(one):
    """Returns the article and the comments on it: author, time, text."""
    said = [
        (PEOPLE[(one.number + 2 * at) % 5], f"2026-10-{at + 13:02}T1{at}:{one.number % 60:02}:00Z", text)
        for at, text in enumerate(text.format(one.number + at) for at, text in enumerate(SAID))
    ]
    return [(one.author, f"{one.date.replace(' ', 'T')}:00Z", one.text), *((a, t, f"<p>{s}</p>") for a, t, s in said)]


def avatars(one):
    """A thread that says by schema.org what its posts are, each with the first letter of a name as a picture."""
    rows = "".join(
        f'<li data-index="{at}" itemscope itemtype="http://schema.org/Comment"><meta itemprop="datePublished" '
        f'content="{time}"><div class="user-icon">{author[0]}</div><strong><a href="/user/{author[:3]}" '
        f'itemprop="author">{author}</a></strong><span class="timeago" title="{time}"></span>'
        f'<div class="content" itemprop="text">{text}</div></li>'
        for at, (author, time, text) in enumerate(posts(one))
    )
    return f'<h1>{one.title}</h1><ul class="posts">{rows}</ul>'


def unnumbered(one):
    """The same thread, where nothing but its place tells the first post."""
    return avatars(one).replace("data-index", "data-pid").replace('data-pid="', f'data-pid="{one.number}')


def timeline(one):
    """A tracker whose article has the markup of a comment, among notes on what was done."""
    rows = "".join(
        f'<div class="event comment{" first" if at == 0 else ""}" id="n-{one.number}{at}"><a class="muted" '
        f'href="/{author[:3]}">{author}</a> commented <a href="#n"><relative-time datetime="{time}">then'
        f'</relative-time></a><div class="render">{text}</div></div><div class="event">somebody of team '
        f"{one.number + at} added the label no. {one.number - at} to this</div>"
        for at, (author, time, text) in enumerate(posts(one))
    )
    return f'<h1>{one.title} <span class="index">#{one.number}</span></h1><div class="timeline">{rows}</div>'


def boxed(one):
    """Posts of a forum that stand in boxes of their own."""
    rows = "".join(
        f'<div class="box"><div class="post"><b class="username">{author}</b><time datetime="{time}">then</time>'
        f'<div class="body">{text}</div></div></div>'
        for author, time, text in posts(one)
    )
    return f'<h1>{one.title}</h1><div class="all">{rows}</div>'


def journal(one):
    """A tracker whose article and notes have texts of one class; some of what was done has no note."""
    rows = ""
    for at, (name, time, said) in enumerate(posts(one)[1:]):
        hour = int(time[11:13])
        when = f"10/{time[8:10]}/2026 {time[11:16]} {'AM' if hour < 12 else 'PM'}"
        head = (
            f'<a class="place" href="#note-{at}">#{at}</a><h4>Updated by <a class="user" href="/users/{at}">{name}</a> '
            f'<a title="{when}" href="/activity?from=1">almost 2 years</a> ago</h4>'
        )
        rows += (
            f'<div class="journal has-notes" id="change-{one.number}{at}">{head}<div class="wiki">{said}</div></div>'
            f'<div class="journal has-details">{head}<ul><li>Status changed</li></ul></div>'
        )
    month, day, hour = one.date[5:7], one.date[8:10], int(one.date[11:13])
    added = f"{month}/{day}/2026 {hour % 12 or 12:02}:{one.date[14:]} {'AM' if hour < 12 else 'PM'}"
    return (
        f'<h1>Tracker</h1><div class="subject"><h3>{one.title}</h3></div><p class="author">Added by <a class="user" '
        f'href="/users/1">{one.author}</a> <a title="{added}" href="/activity?from={month}">almost 2 years</a> ago. '
        f'Updated <a title="11/28/2026 01:00 PM" href="/activity">today</a>.</p><div class="description">'
        f'<b>Description</b><div class="wiki">{one.text}</div></div><div id="tab-content-history">{rows}</div>'
    )


def weblog(one):
    """Comments, links to share the article and to other ones, tags and a byline, all in one block with its text."""
    rows = "".join(
        f'<div id="comment-{one.number}{at}" class="comment media"><div class="media-body"><h4 class="media-heading">'
        f'{name} <small class="timespan">{one.number - 90} months ago</small></h4>{said}<a href="#reply">Reply</a>'
        f"</div></div>"
        for at, (name, _time, said) in enumerate(posts(one)[1:])
    )
    other = ENGLISH[(one.number - 102) % 36]
    return (
        f'<h1>{one.title}</h1><div class="row"><div class="col-md-7"><h6 class="post-meta">Posted by: <a href="/blog/'
        f'author/{one.author[:3]}/">{one.author}</a> 3 months ago</h6><p>(<a href="#comments">3 comments</a>)</p>'
        f'{one.text}<ul class="tags"><li>Tags: harbour {one.number}</li></ul><a class="btn share-twitter" '
        f'href="https://social.test/?{one.number}">Share on Twitter</a><ul class="pager"><li>'
        f'<a href="/a/{other.number}">{other.title}</a></li></ul><div id="comments"><h3>Comments</h3>{rows}</div>'
        f"</div></div>"
    )


SHAPES = {
    avatars: "css:ul.posts > li:not([data-index='0'])",
    unnumbered: "css:ul.posts > li ~ li",
    timeline: "css:div.comment:not(.first)",
    boxed: "css:div.box ~ div.box",
    journal: "css:div.has-notes",
    weblog: "css:div.comment",
}


def comparable(text):
    return "".join(text.split())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
async def test_an_article_and_the_comments_on_it_are_told_apart(shape):
    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(shape)), word="flood")
    content = proposal.definition["content"]
    assert content["comments"]["each"] == SHAPES[shape]
    assert len(proposal.fields) == 4
    for read in proposal.fields.values():
        one = next(one for one in ENGLISH if one.title == read.title)
        assert comparable(read.content) == comparable("".join(one.paragraphs))
        written = posts(one)
        assert read.author == one.author
        assert [comment.author for comment in read.comments] == [author for author, _time, _text in written[1:]]
        assert [f"<p>{comment.text}</p>" for comment in read.comments] == [text for _author, _time, text in written[1:]]
        if shape is not weblog:
            assert read.published == written[0][1]
            assert [comment.published for comment in read.comments] == [time for _author, time, _text in written[1:]]


async def test_a_thread_over_several_pages_is_divided_only_by_what_its_first_post_alone_has():
    def over_pages(shape):
        more = '<a rel="next" href="/a/{}?page=2">Next</a>'
        return lambda one: shape(replace(one, paragraphs=one.paragraphs[:1])) + more.format(one.number)

    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(over_pages(avatars))), word="flood")
    assert proposal.definition["content"]["content"]["first_page_only"]
    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(over_pages(unnumbered))), word="flood")
    assert proposal.definition["content"]["content"]["all"]


def test_what_is_all_of_a_content_is_no_list_of_comments_on_it():
    samples = [
        Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}", 200, "text/html", page.encode())), one.title)
        for one in ENGLISH[:4]
        for page in [made_up.page(one.title, avatars(one))]
    ]
    assert comments.find(samples, "css:ul.posts") is None


def test_no_part_is_removed_that_is_all_of_the_content_on_a_page():
    samples = [
        Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}", 200, "text/html", page.encode())), one.title)
        for one, text in zip(ENGLISH, ("{}", "{}", "<div class=tags>{}</div>"), strict=False)
        for page in [
            made_up.page(
                one.title,
                f"<h1>{one.title}</h1><article>{text.format(one.text)}<div class=tags>flood</div></article>",
            )
        ]
    ]
    assert fields.compare(samples[:2], samples[2:])["content"] == {"select": "css:article"}
    assert fields.compare(samples[:2])["content"] == {"select": "css:article", "remove": ["css:.tags"]}
