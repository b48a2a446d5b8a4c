"""The pages that are crawled: threads of a forum, some 11 kB each, and what a crawler must find on every one of them.

A page follows from its number alone, so a run on another machine crawls the same bytes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EDITION = 2  # of the pages; changed with them, so that old ones are made anew
LINKS = 20  # to other threads, on each page
POSTS = 5
SENTENCES = (76, 66, 56)  # words of a post's paragraphs
FOLDER_PAGES = 1_000  # pages in one folder
# That links lead to: of 20,000 pages' 400,000 links 57 % are the first to their thread, as in a real crawl.
THREADS = 320_000
FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)
MINUTES = 1_000_000  # after it, in which threads are opened: nearly two years
WORDS = (
    "river water level station bridge road morning night report city north south rescue boat power line school "
    "hospital village market train flood dam storm wind rain warning closed open people family house street help "
    "food shelter phone number photo video news official local team volunteer doctor driver teacher farmer "
    "yesterday today tomorrow still never always maybe really about after before between under over through "
    "because while when where which what that this there here they we you it is was has had will would could "
    "Straßenbahn café naïve Gdańsk 重庆 洪水 救援 停电"
).split()
NAMES = ("li_wei", "anna.k", "Zhang San", "m-petrov", "josé", "night_owl", "Kim", "river99", "ольга", "t.nakamura")
SECTIONS = ("Local news", "Weather", "Traffic", "Help offered", "Help wanted", "Off topic", "Photos")


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a thread; no text has markup in it."""

    author: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Thread:
    """What stands on a page.

    Attributes:
        number: From 0.
        published: UTC, ISO 8601.
        links: Numbers of other threads, each once.
    """

    number: int
    title: str
    section: str
    published: str
    tags: tuple[str, ...]
    views: str
    posts: tuple[Post, ...]
    links: tuple[int, ...]


def path(number: int) -> str:
    """Returns the path of a thread's page, with its slash."""
    return f"/thread/{number // FOLDER_PAGES:03d}/{number:06d}.html"


def thread(number: int) -> Thread:
    """Returns the thread of a number, the same each time."""
    draw = random.Random(number)
    opened = FIRST_DAY + timedelta(minutes=draw.randrange(MINUTES))
    return Thread(
        number=number,
        title=f"{_words(draw, 6)} #{number}",
        section=draw.choice(SECTIONS),
        published=opened.strftime("%Y-%m-%dT%H:%M:%SZ"),
        tags=tuple(draw.sample(WORDS, 4)),
        views=str(draw.randrange(10, 100_000)),
        posts=tuple(
            Post(draw.choice(NAMES), tuple(_sentence(draw, words) for words in SENTENCES)) for _ in range(POSTS)
        ),
        links=tuple(draw.sample(range(THREADS), LINKS)),
    )


def item(one: Thread, base: str) -> dict[str, object]:
    """Returns what a crawler must find on a thread's page.

    Args:
        one: The thread.
        base: Origin of the server.
    """
    return {
        "url": base + path(one.number),
        "title": one.title,
        "author": one.posts[0].author,
        "published": one.published,
        "section": one.section,
        "tags": list(one.tags),
        "views": one.views,
        "content": "\n".join(text for post in one.posts for text in post.paragraphs),
        "links": [base + path(number) for number in one.links],
    }


def html(one: Thread) -> str:
    """Returns a thread's page."""
    author = one.posts[0].author
    tags = "".join(f'<a class="tag" rel="tag" href="/tag/{index}">{tag}</a> ' for index, tag in enumerate(one.tags))
    posts = "\n".join(_post(one, index, post) for index, post in enumerate(one.posts))
    links = "\n".join(_link(one, index, number) for index, number in enumerate(one.links))
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{one.title} - Riverside Forum</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/forum.css"><script src="/static/forum.js" defer></script></head>
<body class="thread-page">
<header class="top"><a class="logo" href="/">Riverside Forum</a>
<nav class="menu"><ul><li><a href="/new">New</a></li><li><a href="/hot">Hot</a></li><li><a href="/rules">Rules</a></li>
<li><a href="/login">Log in</a></li></ul></nav>
<form class="search" action="/search"><input name="q" placeholder="Search"><button type="submit">Go</button></form>
</header>
<main>
<div class="breadcrumbs"><a href="/">Home</a> &raquo;
<a class="section" href="/section/{one.number % 7}">{one.section}</a></div>
<article class="thread" data-id="{one.number}">
<h1 class="title">{one.title}</h1>
<div class="meta">by <a class="author" href="/user/{one.number % 97}">{author}</a> on
<time datetime="{one.published}">{one.published[:10]}</time>, <span class="views">{one.views}</span> views</div>
<div class="tags">{tags}</div>
<div class="posts">
{posts}
</div>
</article>
<aside class="related"><h2>Other threads</h2><ul>
{links}
</ul></aside>
</main>
<footer><p>Riverside Forum, since 2009. <a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></p></footer>
</body></html>
"""


def write(folder: Path, pages: int) -> None:
    """Writes the first `pages` pages below a folder, unless they are there.

    What a stopped run has left half done is done again.
    """
    stamp = folder / f".written-{EDITION}"
    if stamp.exists() and int(stamp.read_text()) >= pages:
        return
    for number in range(pages):
        file = folder / path(number)[1:]
        if number % FOLDER_PAGES == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html(thread(number)), encoding="utf-8")
    stamp.write_text(str(pages))


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(WORDS, k=count))


def _sentence(draw: random.Random, count: int) -> str:
    return f"{_words(draw, count).capitalize()}."


def _post(one: Thread, index: int, post: Post) -> str:
    paragraphs = "".join(f"<p>{text}</p>" for text in post.paragraphs)
    place = one.number * POSTS + index
    return f"""<div class="post" id="p{place}">
<div class="side"><img class="avatar" src="/avatar/{place % 97}.png" alt="">
<a class="poster" href="/user/{place % 97}">{post.author}</a><span class="rank">member</span></div>
<div class="post-body">{paragraphs}</div>
<div class="buttons"><a href="/quote/{place}">Quote</a> <a href="/report/{place}">Report</a>
<span>#{index + 1}</span></div>
</div>"""


def _link(one: Thread, index: int, number: int) -> str:
    # Every fifth as it stands in hand-written pages: relative to this one, up and down again.
    href = f"../..{path(number)}" if index % 5 == 0 else path(number)
    return f'<li><a href="{href}">Thread {number}, {SECTIONS[(one.number + index) % len(SECTIONS)]}</a></li>'
