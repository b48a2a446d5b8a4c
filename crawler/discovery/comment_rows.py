"""Finds what may be the comments below content pages: blocks of one name that stand there again and again.

Lists of other articles, menus and forms are repeated, too. They are told by what leads out of them and by their names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler.discovery import selectors
from crawler.discovery.page import ancestors, width, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.discovery.page import ParsedPage
    from crawler.discovery.sample import Sample

ROWS_MIN = 2  # on one page: a single block is no list
ROWS_MAX = 40  # of a page, that are looked at
BLOCKS_MAX = 2_000  # of a page, whose names are looked at
GROUPS_MAX = 30  # that are looked at closely, those with the likeliest names first
AROUND_MAX = 4  # elements around a comment whose names may say what it is
LINKS_SHARE = 0.5  # of the letters of a row, or of its heading, in links to other pages: more make a list of them
TEXT_SHARE = 0.5  # of a row, in what is called a comment: less is a number of comments, or a link to them
DISTINCT_SHARE = 0.6  # of the rows: fewer that differ are labels
_BLOCKS = "li, article, div, section, tr, dd, blockquote, details, table"
_MENUS = frozenset({"nav", "form", "header"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall
_COMMENT_WORDS = frozenset(
    """answer answers comment comments commentaire commentaires commentlist comentario comentarios commento commenti
    huifu kommentar kommentare pinglun remark remarks replies reply response responses""".split()  # noqa: SIM905
)
# Of notes on what is done about something, and of periodicals and versions as well, whose headings are links.
_NOTE_WORDS = frozenset({"history", "journal", "journals"})
# Of the posts of a thread, and of articles as well.
_POST_WORDS = frozenset(
    "change changelog discussion followup forum history message messages msg post posts thread topic".split()  # noqa: SIM905
)
_OTHER_WORDS = frozenset(
    """ad ads breadcrumb breadcrumbs form gallery latest menu nav pager pagination popular promo recent recommended
    recommendations related respond share sidebar similar sponsored tags teaser toc trending widget widgets
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class CommentElement:
    """One of the rows on a page.

    Attributes:
        page: The page.
        element: The row.
        inner: Rows that stand in it.
    """

    page: ParsedPage
    element: Any
    inner: tuple[Any, ...] = ()

    @cached_property
    def own(self) -> list[Any]:
        """The elements of the row, in their order; not those of the rows in it."""
        hidden = {one for row in self.inner for one in (row, *row.select("*"))}
        return [one for one in self.element.select("*") if one not in hidden]

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each element of the row among them."""
        return {element: place for place, element in enumerate(self.own)}

    def select(self, css: str) -> list[Any]:
        """Returns what a selector finds in the row, and not in those in it."""
        return [one for one in self.element.select(css) if one in self.places]

    def lineage(self, element: Any) -> list[Any]:
        """Returns an element of the row and those around it, up to the row, which isn't among them."""
        return [element, *takewhile(lambda one: one != self.element, ancestors(element))]


@dataclass(frozen=True)
class CommentList:
    """Blocks that may be comments.

    Attributes:
        css: Selects just them.
        pages: On each page, the first of them.
        is_named: Their names say that they are comments, rather than posts of any kind.
        is_inside: The content holds them, so that they are to be left out of it.
        posts: On each page, the block of the same kind before them, which holds the content; empty if there is none.
    """

    css: str
    pages: tuple[tuple[CommentElement, ...], ...]
    is_named: bool
    is_inside: bool = False
    posts: tuple[tuple[CommentElement, ...], ...] = ()

    @cached_property
    def rows(self) -> list[CommentElement]:
        """Those of all pages."""
        return [row for rows in self.pages for row in rows]

    @property
    def nested(self) -> int:
        """How many rows stand in another one."""
        return len({inner for row in self.rows for inner in row.inner})


def candidates(samples: Sequence[Sample], content: str) -> list[CommentList]:
    """Returns what may be comments, the likeliest first.

    Args:
        samples: Content pages.
        content: The selector of their content, with `css:`, which is its first match; empty: it isn't known.
    """
    pages = [sample.page for sample in samples]
    contents = [page.tree.select(content.removeprefix("css:"))[:1] if content else [] for page in pages]
    names = dict.fromkeys(css for page in pages for css in _names_of_blocks(page))
    found = [group for css in names if (group := _group(css, pages, contents))]
    found.sort(key=lambda group: (not group.is_named, -len(group.rows)))
    return found[:GROUPS_MAX]


def words_of(element: Any) -> frozenset[str]:
    """Returns the words in the names that an element has: class, id, and what it is by schema.org."""
    said = [element.attr(name) or "" for name in ("class", "id", "itemprop", "itemtype")]
    return frozenset(
        word for value in said for word in name_words(value if isinstance(value, str) else " ".join(value))
    )


def name_words(name: str) -> list[str]:
    """Returns the words in a name, in small letters: `post-tags` and `postTags` have two."""
    return [word.lower() for word in _word(name)]


def says_comment(element: Any) -> bool:
    """Returns whether an element's names say that it is a comment, or of one."""
    return bool(words_of(element) & _COMMENT_WORDS)


def _names_of_blocks(page: ParsedPage) -> Iterator[str]:
    """Yields selectors that find several blocks of a page."""
    counts: dict[str, int] = {}
    for block in islice(page.tree.select(_BLOCKS), BLOCKS_MAX):
        for css in _names_of(block):
            counts[css] = counts.get(css, 0) + 1
    return (css for css, count in counts.items() if count >= ROWS_MIN)


def _names_of(block: Any) -> Iterator[str]:
    yield from (f"{block.tag}.{name}" for name in selectors.classes(block))
    identity = block.attr("id") or ""
    if stem := re.match(r"([A-Za-z][\w-]*?[_-]?)\d", identity):
        yield f"{block.tag}[id^='{stem[1]}']"
    if (kind := block.attr("itemprop") or "") and re.fullmatch(r"\w+", kind):
        yield f"{block.tag}[itemprop='{kind}']"
    if isinstance(block.parent, Element):
        named = [step for step in selectors.steps(block.parent) if step != block.parent.tag]
        yield from (f"{step} > {block.tag}" for step in named[:2])


def _group(css: str, pages: Sequence[ParsedPage], contents: Sequence[Sequence[Any]]) -> CommentList | None:
    """Returns the blocks that a selector finds, if they may be comments."""
    found = [page.tree.select(css) for page in pages]
    leading = [_leads(blocks, content) for blocks, content in zip(found, contents, strict=True)]
    is_thread = any(leading)
    posts: tuple[tuple[CommentElement, ...], ...] = ()
    if is_thread:  # the first post is the content, and the others answer it
        if not all(lead for lead, blocks in zip(leading, found, strict=True) if blocks):
            return None
        rest = [blocks[1:] for blocks in found]
        posts = tuple(_rows(page, blocks[:1]) for page, blocks in zip(pages, found, strict=True))
        css = _without_first(css, pages, found)
        found = [page.tree.select(css) for page in pages] if css else []
        if found != rest:
            return None
    if max(map(len, found), default=0) < ROWS_MIN:
        return None
    groups = tuple(_rows(page, blocks[:ROWS_MAX]) for page, blocks in zip(pages, found, strict=True))
    rows = [row for of_page in groups for row in of_page]
    held = [
        any(within(row.element, top) for top in contents[at]) for at, of_page in enumerate(groups) for row in of_page
    ]
    around = [_around(row, content) for of_page, content in zip(groups, contents, strict=True) for row in of_page]
    is_told = all(any(map(says_comment, elements)) for elements in around)
    is_named = is_told or all(any(words_of(one) & _NOTE_WORDS for one in elements) for elements in around)
    may_be = is_named or is_thread or all(_may_be_post(row, near) for row, near in zip(rows, around, strict=True))
    if (
        not may_be
        or any(held) != all(held)
        or (any(held) and not is_named)
        or any(_is_other(row, near) for row, near in zip(rows, around, strict=True))
        or any(_holds(row, content) for of_page, content in zip(groups, contents, strict=True) for row in of_page)
        or (not is_told and any(_is_headed_by_link(row) for row in rows))
        or not _differ(groups)
        or sum(map(_is_list_of_links, rows)) * 2 > len(rows)
    ):
        return None
    return CommentList(css, groups, is_named, is_inside=any(held), posts=posts)


def _leads(blocks: Sequence[Any], content: Sequence[Any]) -> bool:
    """Returns whether the first of some blocks holds the content of the page."""
    return bool(content) and bool(blocks) and within(content[0], blocks[0]) and content[0] != blocks[0]


def _without_first(css: str, pages: Sequence[ParsedPage], found: Sequence[Sequence[Any]]) -> str:
    """Returns a selector of all but the first block of each page; empty if there is none.

    What the first blocks alone have goes before their place, which is another one on the second page of a thread.

    Args:
        css: Selects all of them.
        pages: The pages.
        found: On each page, the blocks.
    """
    last = css.rpartition(" > ")[2]
    firsts = [blocks[0] for blocks in found if blocks]
    others = {mark for blocks in found for block in blocks[1:] for mark in _marks(block)}
    shared = set.intersection(*(set(_marks(first)) for first in firsts)) - others if len(firsts) > 1 else set()
    tried = [f"{css}:not({mark})" for mark in _marks(firsts[0]) if mark in shared]
    tried.append(f"{css} ~ {last}")
    rest = [list(blocks[1:]) for blocks in found]
    return next((one for one in tried if [page.tree.select(one) for page in pages] == rest), "")


def _marks(block: Any) -> list[str]:
    """Returns selectors by which one block of a list may be told: its classes, and attributes that a site makes up."""
    made_up = [
        f"[{name}='{value}']"
        for name, value in block.attrs.items()
        if re.fullmatch(r"data-[a-z][a-z-]*", name) and isinstance(value, str) and re.fullmatch(r"[\w-]{1,20}", value)
    ]
    return [f".{name}" for name in selectors.classes(block)] + made_up


def _rows(page: ParsedPage, blocks: Sequence[Any]) -> tuple[CommentElement, ...]:
    inner: dict[Any, list[Any]] = {block: [] for block in blocks}
    for block in blocks:
        if outer := next((one for one in ancestors(block) if one in inner), None):
            inner[outer].append(block)
    return tuple(CommentElement(page, block, tuple(inner[block])) for block in blocks)


def _around(row: CommentElement, content: Sequence[Any]) -> list[Any]:
    """Returns a row and the elements around it that don't hold the page's content as well."""
    outer = takewhile(
        lambda one: one.tag not in ("body", "html", "main") and not any(within(top, one) for top in content),
        ancestors(row.element),
    )
    return [row.element, *islice(outer, AROUND_MAX)]


def _may_be_post(row: CommentElement, around: Sequence[Any]) -> bool:
    """Returns whether a row may be a post, by the names of what is in it and around it.

    A part of it must have the name of a comment: any part, where what is around it has that of posts; else most of it.
    """
    named = [one for one in row.own if says_comment(one)]
    if any(words_of(one) & _POST_WORDS for one in around):
        return bool(named)
    return any(width(one.text) >= TEXT_SHARE * width(row.element.text) for one in named)


def _is_other(row: CommentElement, around: Sequence[Any]) -> bool:
    """Returns whether a row is part of a menu, a form, or a list of other pages."""
    lineage = [*around, *ancestors(row.element)]
    return any(one.tag in _MENUS for one in lineage) or any(words_of(one) & _OTHER_WORDS for one in around)


def _holds(row: CommentElement, content: Sequence[Any]) -> bool:
    return any(within(top, row.element) for top in content)


def _is_headed_by_link(row: CommentElement) -> bool:
    """Returns whether the heading of a row is a link to another page, as in a list of articles."""
    for heading in [one for one in row.own if one.tag in _HEADINGS]:
        linked = max((width(one.text) for one in heading.select("a[href]") if _leads_away(row.page, one)), default=0)
        if linked > LINKS_SHARE * width(" ".join(heading.text.split())):
            return True
    return False


def _is_list_of_links(row: CommentElement) -> bool:
    linked = sum(width(one.text) for one in row.own if one.tag == "a" and _leads_away(row.page, one))
    whole = width(" ".join(row.element.text.split())) - sum(width(one.text) for one in row.inner)
    return linked > LINKS_SHARE * whole


def _leads_away(page: ParsedPage, anchor: Any) -> bool:
    """Returns whether a link leads to another page: one to a place in a page is a comment's own address."""
    href = anchor.attr("href") or ""
    if "#" in href:
        return False
    there, here = page.absolute(href), page.url
    # A comment's own address may differ from its page's by parameters alone.
    return bool(there) and there.partition("?")[0] != here.partition("?")[0]


def _differ(groups: Sequence[Sequence[CommentElement]]) -> bool:
    """Returns whether rows differ from each other, and from those of other pages."""
    texts = [[" ".join(row.element.text.split()).casefold() for row in rows] for rows in groups]
    together = [text for page in texts for text in page]
    return len(set(together)) >= DISTINCT_SHARE * len(together) and all(together)
