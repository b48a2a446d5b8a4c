"""Content pages of sites without selectors, read by what usually tells: each field says how sure it is.

The page becomes blocks (`blocks.py`); its type is told, and for each block the odds that it is the page's own text, by
evidence with weights (`evidence.py`, `weights.py`). What it is called, who wrote it and when is read from what it
declares, and from the blocks around its heading. Wrong is worse than empty: what isn't found where it is usual is left
out.
"""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from crawler.base import reasons, text
from crawler.base.errors import ExtractError
from crawler.extract.author import WrittenNames, read_author, says_by_whom, without_label
from crawler.extract.blocks import blocks_of
from crawler.extract.collector import collector_paused
from crawler.extract.comments import MAX_COMMENTS, ReadComment
from crawler.extract.dates import Guess
from crawler.extract.dates.spans import date_in_line
from crawler.extract.declared import folded
from crawler.extract.document import absolute
from crawler.extract.evidence import LINKED_SHARE, LONG_WORDS, BlockEvidence, words_of
from crawler.extract.field_kinds import Fields
from crawler.extract.heading import read_title, site_names_of
from crawler.extract.images import source_of
from crawler.extract.login import is_login
from crawler.extract.main_text import likely_places, text_of, tidied
from crawler.extract.markdown import as_markdown, markdown_of
from crawler.extract.posts import own_places, posts_of
from crawler.extract.properties import of_author, of_date, properties_of
from crawler.extract.published import (
    WrittenTimes,
    dates_elsewhere,
    language_of_dates,
    last_change,
    read_published,
)
from crawler.extract.weights import signs_of_type, weights

if TYPE_CHECKING:
    from crawler.extract.blocks import PageBlocks, TextBlock
    from crawler.extract.declared import Declared
    from crawler.extract.document import Document
    from crawler.extract.posts import Post
    from crawler.sites import Site

MAX_IMAGES = 100
SURE_SHARE = 0.5  # of the types that a page may have, for the likeliest
OWN_SHARE = 0.5  # of the words of a box with an image, that are the page's text
DECLARED_TIMES = 2  # as many words as were found, that a page declares of its text, if most of that isn't on it
MAX_LINES_BEFORE, MAX_LINES_BEHIND = 8, 14  # the heading, that may say who wrote a page and when
MAX_LINES_BELOW = 8  # the text, that may say who wrote it and when
MAX_TOUCHING = 2  # lines from the heading to one that is its own, whatever box it stands in
MAX_WORDS_BEHIND = 60  # the heading, in the lines that may say who wrote a page and when
MAX_BYLINE_CHARACTERS = 200
_COUNTER_PIXELS = frozenset({"0", "1"})  # wide or high, as what only counts visits is
_LISTS = frozenset({"listing", "collection"})  # types of pages whose entries are posts only where they are named so
_OWN = frozenset({"<article>", "<main>"})  # boxes whose last lines may say whose they are


@collector_paused()
def read_article(document: Document, site: Site, *, markdown: bool = False) -> Fields:
    """Returns what a page says of itself, clean, and how sure each field is.

    Args:
        document: The page.
        site: Whose dates it has.
        markdown: Whether its text is wanted as Markdown, too.

    Returns:
        Without content where the page has no text of its own.

    Raises:
        ExtractError: Those of `Document.html` and `blocks_of`; `login` for a page that is one.
    """
    html, url = document.html, document.page.url
    declared = html.declared
    element = html.tree.select_one("title")
    whole = element.text if element is not None else ""
    page = blocks_of(html.tree, weights().names_of)
    evidence = BlockEvidence(page, whole)
    shares = weights().type_shares(signs_of_type(evidence, url, declared.metas, declared.json_ld_text))
    title = read_title(evidence, declared, whole, url)
    page_type = weights().types[shares.index(max(shares))]
    scores = weights().scores(evidence, shares)
    language = language_of_dates(declared, _language(document), url)
    posts = posts_of(evidence, scores, site, language)
    if page_type in _LISTS:
        posts = [post for post in posts if post.is_comment]
    likely = likely_places(evidence, scores)
    thread_share = max(shares) if page_type == "forum" else 0.0
    own = own_places(evidence, scores, likely, posts, thread_share)
    # Some threads are no more than the title of what they link to.
    places = tidied(evidence, own, title.words) or (own if page_type == "forum" else [])
    # By the title of a list stand the names and times of its entries.
    is_list = page_type in _LISTS and max(shares) >= SURE_SHARE
    lines = [] if is_list else _lines_around(page, evidence, title.place, places)
    properties, change = properties_of(lines), last_change(evidence, places)
    refused = (title.words, *site_names_of(declared, url))
    names = WrittenNames(lines, evidence.texts, [*of_author(properties)], change)
    author, author_sure = read_author(declared, names, refused)
    opener = posts[0] if posts and page_type == "forum" else None
    first_post = None if opener is None or isinstance(opener.published, Guess) else opener.published
    elsewhere = partial(dates_elsewhere, evidence, title.place, [post.box for post in posts])
    times = WrittenTimes(first_post, lines, [*of_date(properties)], change, elsewhere)
    published, published_sure = read_published(declared, times, site, language, url)
    if author is None and opener and not opener.is_comment and (published or "")[:10] == (first_post or "-")[:10]:
        author = opener.author
    own_blocks = [page.blocks[place] for place in _without_byline(evidence, places, author or "")]
    content, own_markdown = text_of(own_blocks), markdown_of(own_blocks, html.base) if markdown else ""
    declared_text = _declared_text(declared)
    if declared_text and len(words_of(declared_text)) > DECLARED_TIMES * len(words_of(content)):
        content, own_markdown = declared_text, as_markdown(declared_text) if markdown else ""
    values = {
        "title": title.words,
        "author": author,
        "published": published,
        "content": content,
        "images": absolute(_images(page, evidence, places), html.base),
    }
    sure = {"title": title.sure, "author": author_sure, "published": published_sure}
    fields = Fields.of(
        values,
        missing=tuple(name for name, value in values.items() if not value),
        sureness={name: sure.get(name, "guess") for name, value in values.items() if value},
        canonical_url=html.canonical_url,
        comments=tuple(_comments(page, posts)[:MAX_COMMENTS]),
        truncated=("comments",) if len(posts) > MAX_COMMENTS else (),
        page_type=page_type,
        markdown=own_markdown or None,
    )
    if is_login(url, html.tree, " ".join(evidence.texts)):
        raise ExtractError(reasons.LOGIN, "it asks for a password, and its address is a login's")
    return fields


def _comments(page: PageBlocks, posts: list[Post]) -> list[ReadComment]:
    """Returns posts as comments; one within another one answers it."""
    numbers = {post.box: number for number, post in enumerate(posts)}
    comments = []
    for post in posts:
        around = post.box.parent
        while around is not None and around not in numbers:
            around = around.parent
        written = text_of([page.blocks[place] for place in post.places])
        published = str(post.published) if post.published else None
        comments.append(ReadComment(written, post.author, published, parent=numbers[around] if around else None))
    return comments


def _declared_text(declared: Declared) -> str:
    """Returns the text that a page declares to be its own, in clean paragraphs; empty for none."""
    body = declared.article.get("articleBody")
    return text.paragraphs(body) if isinstance(body, str) else ""


def _without_byline(evidence: BlockEvidence, places: list[int], author: str) -> list[int]:
    """Returns places without those of lines that say by whom and when the page was written, and no more."""
    names = [name for name in author.split(", ") if name]
    return [place for place in places if not _is_byline(evidence.texts[place], evidence.has_digit[place], names)]


def _is_byline(line: str, has_digit: bool, names: list[str]) -> bool:  # noqa: FBT001 -- what is known of the line
    if len(line) > MAX_BYLINE_CHARACTERS:
        return False
    date = date_in_line(line) if has_digit else None
    rest = line.replace(date[0], "") if date else line
    for name in names:
        rest = rest.replace(name, "")
    return rest != line and not folded(without_label("", f"{rest.strip()} "))


def _lines_around(page: PageBlocks, evidence: BlockEvidence, heading: int, places: list[int]) -> list[TextBlock]:
    """Returns the short blocks around the heading of a page, those behind it first; without one, around its text.

    The last ones are those below its text, where many pages say so instead.
    """
    start = heading + 1 if heading >= 0 else places[0] if places else 0
    last_before = heading - 1 if heading >= 0 else start - 1
    around: list[int] = []
    words = 0
    for place in range(start, min(len(page.blocks), start + MAX_LINES_BEHIND)):
        around.append(place)
        words += evidence.counts[place] if evidence.share_linked(place) < LINKED_SHARE else 0
        if words > MAX_WORDS_BEHIND:
            break
    last = next((place for place in reversed(places) if evidence.counts[place] >= LONG_WORDS), len(page.blocks))
    below = takewhile(
        lambda place: evidence.counts[place] < LONG_WORDS,
        range(max(last, start + len(around) - 1) + 1, min(len(page.blocks), last + 1 + MAX_LINES_BELOW)),
    )
    signed = (
        place
        for place in below
        if not _OWN.isdisjoint(page.blocks[place].box.lineage.path) or says_by_whom(evidence.texts[place])
    )
    around += (*range(last_before, max(-1, last_before - MAX_LINES_BEFORE), -1), *signed)
    return [
        page.blocks[place]
        for place in around
        if abs(place - heading) <= MAX_TOUCHING
        or says_by_whom(evidence.texts[place])
        or not evidence.is_beside(page.blocks[place].box)
    ]


def _images(page: PageBlocks, evidence: BlockEvidence, places: list[int]) -> list[str]:
    """Returns the addresses of the images in boxes whose text is the page's."""
    own = [0] * (len(page.blocks) + 1)
    for place in places:
        own[place + 1] = evidence.counts[place]
    for place in range(len(page.blocks)):
        own[place + 1] += own[place]
    sources = []
    for box, image in page.images:
        if not _COUNTER_PIXELS.isdisjoint((image.attr("width") or "", image.attr("height") or "")):
            continue
        around = box
        while around.parent is not None and not evidence.words_in(around):
            around = around.parent
        if own[around.end] - own[around.first] > OWN_SHARE * evidence.words_in(around) and (source := source_of(image)):
            sources.append(source)
            if len(sources) >= MAX_IMAGES:
                break
    return sources


def _language(document: Document) -> str:
    root = document.html.tree.select_one("html")
    return ((root.attr("lang") or "") if root is not None else "").strip()
