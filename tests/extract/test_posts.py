"""Posts of threads, and comments below pages, without selectors: the shape of a page shows them."""

import pytest
from extract.pages import html

from crawler import extract, sites

WEB = sites.load("web")
PAGE = "<!doctype html><html lang=en><head><title>Flood in Wulong</title></head><body><h1>Flood in Wulong</h1>{}"
STORY = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people of the town say.</p>"
    for n in range(9)
)
# By software: a post, and how it quotes.
SHAPES = {
    "article": "<article class='message odd'><h4><a class=username>{name}</a></h4><time datetime={time}>then</time>"
    "<div class=body>{text}</div><div>Reply Like</div></article>",
    "row": "<tr id=post{number}><td><a href='/member.php?u={number}'>{name}</a><div>Joined: 1 May 2001</div></td>"
    "<td><small>{day} 14:05</small><div>{text}</div></td></tr>",
    "signed": "<div class='post bg{number}'><p class=line>by <b class=author>{name}</b> on {day} 14:05</p>"
    "<div class=content>{text}</div></div>",
    "programs": "<li class=answer><meta itemprop=datePublished content={time}><a href=/user/{name}>{name}</a>"
    "<div class=text>{text}</div></li>",
}
POSTS = [
    (
        "Li Wei",
        "2026-11-03T14:05:00Z",
        "<p>The flood took both bridges at Wulong, and the road behind them as well.</p>",
    ),
    (
        "zhao_7",
        "2026-11-04T14:05:00Z",
        "<blockquote>Li Wei said: The flood took both</blockquote><p>Not mine, I think.</p>",
    ),
    ("Anna", "2026-11-05T14:05:00Z", "<p>When will they be built again? The school is on the other side of it.</p>"),
]


def thread(shape, posts=POSTS):
    return "".join(
        SHAPES[shape].format(number=number, name=name.replace(" ", "_"), time=time, day=time[:10], text=text)
        for number, (name, time, text) in enumerate(posts, 1)
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_posts_of_a_thread_are_its_comments_and_its_text(shape):
    found = extract.fields(
        html(PAGE.format(f"<table>{thread(shape)}</table>" if shape == "row" else thread(shape))), WEB
    )
    assert [(post.author, post.published) for post in found.comments] == [
        (name.replace(" ", "_"), time) for name, time, _text in POSTS
    ]
    assert [post.text.split("\n")[-1].split()[0] for post in found.comments] == ["The", "Not", "When"]
    assert all(words in found.content for words in ("road behind them", "Not mine, I think.", "other side of it"))
    assert "Joined" not in found.content
    assert "Reply" not in found.content


@pytest.mark.parametrize("paragraphs", [9, 4])  # few and many beside the comments
@pytest.mark.parametrize("is_within", [True, False])
def test_comments_on_an_article_are_no_part_of_its_text_and_name_nobody(is_within, paragraphs):
    story = "</p>".join([*STORY.split("</p>")[:paragraphs], ""])
    box = (
        "<details class=CommentBox open><summary><p class=CommentPoster>Posted Nov 3, 2026 by <b>reader_one</b></p>"
        "</summary><div><p>I do not agree with what the writer says, and neither do my neighbours.</p></div></details>"
    )
    page = f"<main><article>{story}{2 * box}</article></main>" if is_within else f"<main>{story}</main>{2 * box}"
    found = extract.fields(html(PAGE.format(page)), WEB)
    assert "agree" not in found.content
    assert found.content.count("bridge number") == paragraphs
    assert found.author is None
    assert [post.author for post in found.comments] == ["reader_one"] * 2


def test_an_answer_within_another_comment_says_which_it_answers():
    answer = SHAPES["article"].format(name="Anna", time="2026-11-05T14:05:00Z", text="<p>Nor do I, as it stands.</p>")
    first = SHAPES["article"].format(
        name="Bob", time="2026-11-04T14:05:00Z", text="<p>I do not agree with it at all.</p>"
    )
    both = first.replace("</article>", f"{answer}</article>")
    found = extract.fields(html(PAGE.format(STORY + both)), WEB)
    assert [(post.author, post.parent) for post in found.comments] == [("Bob", None), ("Anna", 0)]


def test_entries_of_a_list_of_other_pages_are_no_posts():
    entry = (
        "<div class=entry><h3><a href=/{0}>Story number {0} of the town</a></h3><span class=author>Li Wei</span>"
        "<time datetime=2026-11-0{0}T14:05:00Z>then</time><p>What story number {0} tells in a line or two.</p></div>"
    )
    found = extract.fields(html(PAGE.format(STORY + "".join(map(entry.format, range(1, 6))))), WEB)
    assert found.comments == ()
