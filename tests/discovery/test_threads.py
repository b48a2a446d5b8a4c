"""Articles and the comments on them are told apart, on pages of many shapes: whole proposals, and what they read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from discovery import made_up
from discovery.made_up import ENGLISH, ORIGIN, PEOPLE, Visitor

from crawler.base.models import Fetched
from crawler.discovery import comments, fields, next_links, propose
from crawler.discovery.page import ParsedPage
from crawler.discovery.sample import Sample
from crawler.extract import content as reading
from crawler.sites import Site

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


def headed(one):
    """Posts of a forum with heading and byline above their texts, in one block with them."""
    rows = "".join(
        f'<div id="{one.number}{at}" class="card my-3"><div class="row"><div class="col-md-10"><h4 class="subject">'
        f'{"Re: " if at else ""}{one.title}</h4><p>By: <a href="/member/{at}/">{author}</a> on {time[:10]} '
        f'{time[11:16]}</p><div class="post-content">{text}</div></div><div class="col-md-2"><div class="username">'
        f"<b>{author}</b></div><div>Posts: {one.number + at}</div></div></div></div>"
        for at, (author, time, text) in enumerate(posts(one))
    )
    return f'<div class="container"><h1>{one.title}</h1><div class="row"><div class="col-12">{rows}</div></div></div>'


SHAPES = {
    avatars: "css:ul.posts > li:not([data-index='0'])",
    unnumbered: "css:ul.posts > li ~ li",
    timeline: "css:div.comment:not(.first)",
    boxed: "css:div.box ~ div.box",
    journal: "css:div.has-notes",
    weblog: "css:div.comment",
    headed: "css:div.card ~ div.card",
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


def paged(one, number):
    """A page of a thread of two pages, with links to both of them above it, one of which leads nowhere."""
    hrefs = [f"?page={number - 1}" if number > 1 else "", f"?page={number + 1}" if number < 2 else ""]
    links = "".join(f'<li><a href="{href}">{sign}</a></li>' for href, sign in zip(hrefs, "«»", strict=True))
    return made_up.page(one.title, f"<ul class=pagination>{links}</ul>{headed(one)}")


def paged_samples():
    return [
        Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}/", 200, "text/html", page.encode())), one.title)
        for one in ENGLISH[:4]
        for page in [paged(one, 1)]
    ]


def proposed(samples):
    """Returns the site that is proposed for some content pages."""
    rules = fields.compare(samples[:2], samples[2:])
    found = comments.find(samples, rules["content"]["select"])
    following = next_links.to_second_pages([one.page for one in samples])
    content = rules | ({"next_page": following} if following else {})
    return Site.from_definition({"name": "s", "content": content | ({"comments": found.rules} if found else {})})


def test_the_first_post_of_a_later_page_is_one_of_its_replies_where_a_link_leads_back():
    site = proposed(paged_samples())
    one = ENGLISH[0]
    address = f"{ORIGIN}/a/{one.number}/"
    first = reading.fields(Fetched(address, 200, "text/html", paged(one, 1).encode()), site)
    assert first.next_page == f"{address}?page=2"
    assert comparable(first.content) == comparable("".join(one.paragraphs))
    assert len(first.comments) == len(SAID)
    last = reading.fields(Fetched(first.next_page, 200, "text/html", paged(one, 2).encode()), site, continues=True)
    assert not last.next_page
    assert not last.content
    assert len(last.comments) == 1 + len(SAID)


@pytest.mark.parametrize("rules", ["", '<div class="rules">Be kind to all others here.</div>'])
@pytest.mark.parametrize("first", ["Open? {}", "Is it open, or is it not yet? {}"])
def test_the_text_of_a_first_post_is_read_as_those_of_its_replies_are(first, rules):
    """Be it so short on some page that what stands around it there is as long."""
    end = '</div></div><div class="col-md-2">'
    found = [
        (one, made_up.page(one.title, headed(one).replace(end, rules + end)))
        for one in [*(replace(one, paragraphs=(first.format(one.number),)) for one in ENGLISH[:2]), *ENGLISH[2:4]]
    ]
    samples = [
        Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}/", 200, "text/html", page.encode())), one.title)
        for one, page in found
    ]
    site = proposed(samples)
    for (one, _page), sample in zip(found, samples, strict=True):
        read = reading.fields(sample.page.fetched, site)
        more = "Be kind to all others here." if rules else ""
        assert comparable(read.content) == comparable("".join(one.paragraphs) + more)
        assert read.author == one.author
        assert len(read.comments) == len(SAID)


async def test_the_first_post_of_a_later_page_is_no_text_of_the_item_where_no_link_leads_back():
    def shape(one):
        return f'{headed(one)}<a href="/a/{one.number}?page=2">Next</a>'

    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(shape)), word="flood")
    content = proposal.definition["content"]
    assert content["next_page"] == "xpath://a[normalize-space()='Next']"
    assert content["content"] == {"select": "css:div.post-content", "first_page_only": True, "required": True}
    assert content["comments"]["each"] == "css:div.card ~ div.card"
    assert "of each further page, the first one is left out" in proposal.text


def newest_first(one):
    """A tracker whose messages are two rows of a table each, the newest first: the last one is what was reported."""
    rows = "".join(
        f'<tr><th><a href="/message/{at}">message {at}</a></th><th>Author: {author}</th><th>Date: {time}</th></tr>'
        f'<tr><td colspan="3" class="content"><pre>{text}</pre></td></tr>'
        for at, (author, time, text) in reversed([*enumerate(dated(one))])
    )
    return (
        f'<main><table class="form"><tr><th>Title</th><td>{one.title}</td></tr></table><p>Created on <b>{one.date}</b> '
        f'by <b>{one.author}</b>, last changed by <b>{PEOPLE[one.number % 3]}</b>.</p><table class="messages">'
        f'<tr><th colspan="3" class="header">Messages</th></tr>{rows}</table></main>'
    )


def dated(one):
    """Returns the posts, the first of which was before all others."""
    (author, _time, text), *others = posts(one)
    return [(author, "2025-10-01T08:00:00Z", text), *others]


async def test_the_last_post_is_the_text_where_the_newest_comes_first():
    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(newest_first)), word="flood")
    assert len(proposal.fields) == 4
    assert "the newest comes first" in proposal.text
    assert "each is two blocks" in proposal.text
    for read in proposal.fields.values():
        one = next(one for one in ENGLISH if one.title == read.title)
        assert comparable(read.content) == comparable("".join(one.paragraphs))
        written = [(author, time, comparable(text)) for author, time, text in reversed(dated(one)[1:])]
        assert [(c.author, c.published, f"<p>{comparable(c.text)}</p>") for c in read.comments] == written


async def test_a_thread_that_begins_with_the_newest_post_is_not_about_that_one():
    def shape(one):
        rows = "".join(
            f'<div class="post"><b class="username">{author}</b><time datetime="{time}">then</time><div class="body">'
            f"{text}</div></div>"
            for author, time, text in reversed(dated(one))
        )
        return f'<h1>{one.title}</h1><div class="all">{rows}</div>'

    proposal = await propose(f"{ORIGIN}/", Visitor(Shaped(shape)), word="flood")
    for read in proposal.fields.values():
        one = next(one for one in ENGLISH if one.title == read.title)
        assert comparable("".join(one.paragraphs)) in comparable(read.content)


def test_what_stands_above_an_article_is_no_answer_to_it():
    def shape(one, times):
        teasers = "".join(
            f'<div class="entry"><b class="author">{PEOPLE[at]}</b><time datetime="{time}">then</time>'
            f'<div class="body">{SAID[at].format(one.number)}</div></div>'
            for at, time in enumerate(times)
        )
        own = f'<b class="author">{one.author}</b><time datetime="2025-01-01T10:00:00Z">then</time>'
        return f'<h1>{one.title}</h1>{teasers}<div class="entry">{own}<div class="body text">{one.text}</div></div>'

    for times, is_thread in (
        (("2026-10-03", "2026-10-02", "2026-10-01"), True),
        (("2026-10-01", "2026-10-03", "2026-10-02"), False),
    ):
        samples = [
            Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}", 200, "text/html", page.encode())), one.title)
            for one in ENGLISH[:4]
            for page in [made_up.page(one.title, shape(one, times))]
        ]
        assert (comments.find(samples, "css:.text") is not None) == is_thread
