"""Where comments stand is found on pages of many shapes, and what only looks like comments is left."""

from __future__ import annotations

from html import escape

import pytest
from discovery import made_up
from discovery.made_up import ENGLISH, ORIGIN, PEOPLE, Visitor

from crawler.base.models import Fetched
from crawler.discovery import comments, propose
from crawler.discovery.page import ParsedPage
from crawler.discovery.sample import Sample
from crawler.extract import content as reading
from crawler.sites import Site

SAID = (
    "I was there on the second day and it was not as bad as this says, number {}.",
    "Thank you. We saw the same {} metres from our end of the town, and nobody came to help us.",
    "Does anybody know whether ward {} is open again?",
    "It is closed until the {}th, as the man at the gate told me this morning.",
)
# Of each comment on a page, the place of the one that it answers.
THREAD = (None, 0, None, 1)


def remarks(one):
    """Returns the comments on an article: author, time, text, and the place of the one that each answers."""
    shown = one.number % 3 + 2  # of them, so that pages differ in how many they have
    return [
        (
            PEOPLE[(one.number + at * 2) % 5],
            f"2026-10-{at + 3:02} 1{at}:{one.number % 60:02}",
            SAID[at].format(one.number + at),
            parent,
        )
        for at, parent in enumerate(THREAD[:shown])
    ]


def samples(shape, count=4):
    found = []
    for one in ENGLISH[:count]:
        body = made_up.page(one.title, shape(one))
        found.append(
            Sample(ParsedPage(Fetched(f"{ORIGIN}/a/{one.number}", 200, "text/html", body.encode())), one.title)
        )
    return found


def wordpress(one):
    """Comments within the ones that they answer, with a form and a list of recent comments beside them."""

    def shown(at, said):
        author, time, text, _parent = said[at]
        inner = "".join(shown(other, said) for other in range(len(said)) if said[other][3] == at)
        children = f'<ol class="children">{inner}</ol>' if inner else ""
        return (
            f'<li id="comment-{one.number}{at}" class="comment {"even" if at % 2 else "odd"} depth-{at}">'
            f'<article class="comment-body"><footer class="comment-meta"><div class="comment-author vcard">'
            f'<img class="avatar" src="/a.png"><b class="fn">{author}</b> <span class="says">says:</span></div>'
            f'<div class="comment-metadata"><a href="/a/{one.number}#comment-{at}"><time datetime="{time}:00Z">'
            f'some days ago</time></a></div></footer><div class="comment-content"><p>{text}</p><p>Regards to {one.number}'
            f'{at}</p></div><div class="reply"><a href="/a/{one.number}?replytocom={at}#respond">Reply</a></div></article>'
            f"{children}</li>"
        )

    said = remarks(one)
    top = "".join(shown(at, said) for at in range(len(said)) if said[at][3] is None)
    recent = "".join(f'<li class="recentcomments">{name} on <a href="/a/1">Flood</a></li>' for name in PEOPLE)
    return (
        f'<article class="post"><h1>{one.title}</h1><div class="entry-content">{one.text}</div></article>'
        f'<div id="comments" class="comments-area"><h2>Replies</h2><ol class="comment-list">{top}</ol>'
        f'<div id="respond" class="comment-respond"><form class="comment-form"><p class="comment-form-author">Name</p>'
        f'<p class="comment-form-comment">Comment</p></form></div></div>'
        f'<aside class="widget widget_recent_comments"><ul>{recent}</ul></aside>'
    )


def tracker(one):
    """Changes of a ticket: the time is in a title, and links to numbers say what each answers, and what answers it."""
    rows = ""
    said = remarks(one)
    for at, (author, time, text, parent) in enumerate(said):
        day, clock = time.split()
        american = f"{day[5:7]}/{23}/{day[2:4]} {clock}:0{at}"
        reply = (
            f'<span class="trac-in-reply-to">in reply to: <a href="#comment:{parent + 1}">{parent + 1}</a></span>'
            if parent is not None
            else ""
        )
        follow_ups = "".join(
            f'<a class="follow-up" href="#comment:{other + 1}">{other + 1}</a>'
            for other in range(len(said))
            if said[other][3] == at
        )
        rows += (
            f'<div class="change" id="trac-change-{at + 1}-17054{one.number}"><h3 class="change"><span class="threading">'
            f'{reply}<span>follow-up: {follow_ups}</span></span><span class="cnum"><a href="#comment:{at + 1}">'
            f'comment:{at + 1}</a></span> by <span class="trac-author">{author}</span>, <a class="timeline" '
            f'href="/timeline?from={day}" title="See timeline at {american}">3 years ago</a></h3>'
            f'<div class="comment searchable"><p>{text}</p></div></div>'
        )
    return (
        f'<div id="ticket"><h1>{one.title}</h1><div class="description"><div class="searchable">{one.text}</div></div></div>'
        f'<div id="changelog">{rows}</div>'
    )


def thread(one):
    """A thread of posts alike, the first of which is the content; words before a link say what each answers."""
    posts = [(one.author, "2026-10-01 08:00", one.text, None)]
    posts += [
        (author, time, f"<p>{text}</p>", (parent + 1 if parent is not None else 0))
        for author, time, text, parent in remarks(one)
    ]
    rows = ""
    for at, (author, time, text, parent) in enumerate(posts):
        reply = f'in reply to <a href="/post/{one.number}{parent}">{parent + 1}</a>' if parent is not None else ""
        heading = f"<h1>{one.title}</h1>" if at == 0 else ""
        rows += (
            f'<div class="forumPost" id="p{one.number}{at}">{heading}<h3 class="postHead">({at + 1}) By '
            f'<a href="/timeline?u={escape(author)}">{author}</a> on {time} {reply} <a href="/post/{one.number}{at}">link</a>'
            f'</h3><div class="postBody">{text}</div></div>'
        )
    return f'<div class="content">{rows}</div>'


def declared(one):
    """Comments that say by schema.org what they are, on a blog that builds its classes anew each time."""
    rows = "".join(
        f'<div itemprop="comment" itemscope itemtype="https://schema.org/Comment"><span itemprop="author">{author}</span>'
        f'<time itemprop="datePublished" datetime="{time}">then</time><div itemprop="text">{text}</div></div>'
        for author, time, text, _parent in remarks(one)
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><section>{rows}</section></main>'


def attributed(one):
    """A flat list whose attributes say what each answers."""
    rows = "".join(
        f'<li class="c-comment" data-comment-id="{one.number}{at}" '
        f"{f'data-parent-id={one.number}{parent}' if parent is not None else ''}>"
        f'<a class="c-user" href="/users/{at}">{author}</a><relative-time class="c-date" datetime="{time}">last month</relative-time>'
        f'<p class="c-text">{text}</p><button>Like</button></li>'
        for at, (author, time, text, parent) in enumerate(remarks(one))
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><ul class="discussion">{rows}</ul></main>'


def loose(one):
    """Comments whose text has no element of its own."""
    rows = "".join(
        f'<div class="comment"><b>{author}</b> <i>{time}</i><br>{text}</div>'
        for author, time, text, _parent in remarks(one)
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><div>{rows}</div></main>'


def table(one):
    """Comments in the rows of a table, whose cells say what they are."""
    rows = "".join(
        f'<tr class="athing comtr" id="{one.number}{at}"><td class="default"><span class="comhead"><a class="hnuser" '
        f'href="user?id={at}">{author}</a> <span class="age" title="{time.replace(" ", "T")}:00">10 days ago</span></span>'
        f'<div class="comment"><div class="commtext c00">{text}</div><div class="reply"><a href="reply?id={at}">reply</a>'
        f"</div></div></td></tr>"
        for at, (author, time, text, _parent) in enumerate(remarks(one))
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div></main><table><tbody>{rows}</tbody></table>'


def glossary(one):
    """Comments that are terms and what they mean: date and author, and then the text."""
    rows = ""
    for at, (author, time, text, _parent) in enumerate(remarks(one)):
        hour, minute = int(time[11:13]), time[14:]
        when = f"Oct. {int(time[8:10])}, 2026, {hour % 12 or 12}:{minute} {'a.m.' if hour < 12 else 'p.m.'}"
        rows += f'<dt id="c{one.number}{at}">{when} - {author}</dt> <dd><p>{text}</p></dd>'
    form = '<form><p><label for="id_comment">Comment:</label><textarea id="id_comment"></textarea></p></form>'
    return (
        f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><h3>Comments:</h3><dl id="comments">{rows}</dl>'
        f"{form}</main>"
    )


def two_rows(one):
    """Comments of which each is two rows of a table, whose cells have no names."""
    rows = "".join(
        f'<tr><th><a href="/message/{at}">message {at}</a></th><th>Author: {author}</th><th>Date: {time}</th></tr>'
        f'<tr><td colspan="3" class="said"><pre>{text}</pre></td></tr>'
        for at, (author, time, text, _parent) in enumerate(remarks(one))
    )
    return (
        f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><table class="comments"><tr><th colspan="3">'
        f"Comments</th></tr>{rows}</table></main>"
    )


def two_blocks(one):
    """Comments of which each is a head and a text, side by side with those of all others."""
    rows = "".join(
        f'<div class="comment-head"><a href="/user/{at}" class="author">{author}</a> · <time datetime="{time}">then'
        f'</time></div><div class="comment-said">{text}</div>'
        for at, (author, time, text, _parent) in enumerate(remarks(one))
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><section>{rows}</section></main>'


NESTED, SAID_SO = (wordpress,), (tracker, thread, attributed)


@pytest.fixture(
    params=[wordpress, tracker, thread, declared, attributed, loose, table, glossary, two_rows, two_blocks],
    ids=lambda shape: shape.__name__,
)
def shape(request):
    return request.param


def content_of(shape):
    return {
        wordpress: "css:.entry-content",
        tracker: "css:.description .searchable",
        thread: "css:h1 ~ .postBody",
    }.get(shape, "css:.text")


def read(shape, rules, page):
    site = Site.from_definition({"name": "s", "content": {"title": "css:h1", "comments": rules}})
    return reading.fields(page.fetched, site)


def test_comments_are_read_as_they_were_written(shape):
    pages = samples(shape)
    found = comments.find(pages, content_of(shape))
    for one, sample in zip(ENGLISH, pages, strict=False):
        item = read(shape, found.rules, sample.page).in_item()
        written = remarks(one)
        order = sorted(
            range(len(written)), key=lambda at: (0, at) if shape is not wordpress else _depth_first(written, at)
        )
        assert [comment.author for comment in item["comments"]] == [written[at][0] for at in order]
        for comment, at in zip(item["comments"], order, strict=True):
            assert comment.text.startswith(written[at][2])
            day, clock = written[at][1].split()
            expected = f"2026-10-23T{clock}:0{at}" if shape is tracker else f"{day}T{clock}:00"
            assert comment.published == f"{expected}Z"


def _depth_first(written, at):
    """Returns the way to a comment from the top of the page."""
    way = [at]
    while written[way[0]][3] is not None:
        way.insert(0, written[way[0]][3])
    return way


@pytest.mark.parametrize("shape", [*NESTED, *SAID_SO], ids=lambda shape: shape.__name__)
def test_which_comment_each_one_answers_is_read_where_the_page_says_so(shape):
    pages = samples(shape)
    found = comments.find(pages, content_of(shape))
    assert ("parent" in found.rules) == (shape in SAID_SO)
    for one, sample in zip(ENGLISH, pages, strict=False):
        said = read(shape, found.rules, sample.page).in_item()["comments"]
        answered = {comment.text[:40]: said[comment.parent].text[:40] for comment in said if comment.parent is not None}
        written = remarks(one)
        assert answered == {text[:40]: written[parent][2][:40] for _, _, text, parent in written if parent is not None}


def related(one):
    """Other articles below an article, each with author, time and the beginning of its text."""
    others = ENGLISH[one.number - 100 : one.number - 97]
    rows = "".join(
        f'<article class="post"><h3><a href="/a/{other.number}">{other.title}</a></h3><span class="author">{other.author}'
        f'</span><time>{other.date}</time><p class="comment-count">{other.number} comments: read on</p>'
        f"<p>{other.paragraphs[0]}</p></article>"
        for other in others
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><div class="posts">{rows}</div></main>'


def suggested(one):
    """Other articles in a list that the word `comments` stands around, as where a page goes on below its comments."""
    return related(one).replace('<div class="posts">', '<div class="post-comments related-posts">')


def periodical(one):
    """Other articles of the same journal, as publishers list them."""
    return related(one).replace('<div class="posts">', '<div class="journal-articles">')


def cards(one):
    """Other articles of which each is a link as a whole."""
    rows = "".join(
        f'<li class="comment-card"><a href="/a/{other.number}"><b class="author">{other.author}</b><time>{other.date}</time>'
        f"<p>{other.paragraphs[0]}</p></a></li>"
        for other in ENGLISH[one.number - 100 : one.number - 97]
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><ul>{rows}</ul></main>'


def questions(one):
    """Questions and answers that nobody signed."""
    rows = "".join(
        f'<div class="answer"><h3>Question {text[:20]}</h3><p>{text}</p></div>' for _, _, text, _ in remarks(one)
    )
    return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><div>{rows}</div></main>'


def praised(one):
    """What readers said of the site, the same on all pages."""
    return loose(ENGLISH[0]).replace(ENGLISH[0].title, one.title).replace(ENGLISH[0].text, one.text)


def single(one):
    """No more than one comment on any page."""
    author, time, text, _parent = remarks(one)[0]
    return (
        f'<main><h1>{one.title}</h1><div class="text">{one.text}</div>'
        f'<div class="comment"><b>{author}</b> <i>{time}</i><p>{text}</p></div></main>'
    )


@pytest.mark.parametrize(
    "shape", [related, suggested, periodical, cards, questions, praised, single], ids=lambda shape: shape.__name__
)
def test_what_is_no_list_of_comments_is_left(shape):
    assert comments.find(samples(shape), "css:.text") is None


def test_comments_within_the_content_are_told_to_stand_there():
    pages = samples(declared)
    assert comments.find(pages, "css:main").is_inside
    assert not comments.find(pages, "css:.text").is_inside


@pytest.mark.parametrize("shape", [glossary, two_rows, two_blocks], ids=lambda shape: shape.__name__)
def test_comments_of_two_blocks_are_left_out_of_a_content_with_both(shape):
    pages = samples(shape)
    found = comments.find(pages, "css:main")
    assert found.is_inside
    content = {"select": "css:main", "remove": list(found.removed)}
    site = Site.from_definition({"name": "s", "content": {"content": content}})
    for one, sample in zip(ENGLISH, pages, strict=False):
        text = reading.fields(sample.page.fetched, site).content
        assert all(paragraph in text for paragraph in one.paragraphs)
        assert not any(author in text or said in text for author, _time, said, _parent in remarks(one))


def test_the_head_of_a_comment_may_be_a_name_alone():
    def shape(one):
        rows = "".join(f"<dt>{author}</dt><dd>{text}</dd>" for author, _time, text, _parent in remarks(one))
        return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><dl class="replies">{rows}</dl></main>'

    pages = samples(shape)
    found = comments.find(pages, "css:.text")
    assert found.rules == {
        "each": "css:dl.replies > dt",
        "text": "xpath:following-sibling::*[1][self::dd]",
        "author": "xpath:.",
    }


def test_a_list_of_terms_is_no_list_of_comments():
    def shape(one):
        rows = "".join(f"<dt>{said[:20]}</dt><dd>{said}</dd>" for _author, _time, said, _parent in remarks(one))
        return f'<main><h1>{one.title}</h1><div class="text">{one.text}</div><dl class="replies">{rows}</dl></main>'

    assert comments.find(samples(shape), "css:.text") is None


def test_a_term_without_a_meaning_has_none_of_the_next_one():
    pages = samples(glossary)
    rules = comments.find(pages, "css:.text").rules
    page = pages[0].page
    body = page.fetched.body.replace(b"<dd>", b"<i hidden></i><dd>", 1)
    lacking = ParsedPage(Fetched(page.url, 200, "text/html", body))
    written = [text for _author, _time, text, _parent in remarks(ENGLISH[0])]
    assert [one.text for one in read(glossary, rules, page).comments] == written
    assert [one.text for one in read(glossary, rules, lacking).comments] == ["", *written[1:]]


def test_pages_without_comments_do_not_hinder_those_that_have_some():
    pages = [
        *samples(attributed, 2),
        *samples(lambda one: f'<main><h1>{one.title}</h1><div class="text">{one.text}</div>', 2),
    ]
    assert comments.find(pages, "css:.text").rules["each"] == "css:li.c-comment"


async def test_the_proposal_has_the_comments_on_lines_of_their_own():
    proposal = await propose(f"{ORIGIN}/", Visitor(made_up.Blog()), word="flood")
    assert (
        "  comments:\n    each: css:li.comment\n    text: css:p\n    author: css:cite.fn\n    published: css:time\n"
        in proposal.text
    )
    assert [len(fields.comments) for fields in proposal.fields.values()] == [3] * 4


async def test_that_none_were_found_is_said():
    proposal = await propose(f"{ORIGIN}/", Visitor(made_up.News()), word="flood")
    assert "  # comments: no list of comments was found on these pages" in proposal.text
    assert not [one for one in proposal.unknown if "comments" in one]


async def test_a_thread_that_is_read_as_one_text_has_no_comments_besides():
    proposal = await propose(f"{ORIGIN}/", Visitor(made_up.Parts()), word="flood")
    assert proposal.definition["content"]["content"]["all"]
    assert "comments" not in proposal.definition["content"]
