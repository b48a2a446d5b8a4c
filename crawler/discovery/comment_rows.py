"""Finds what may be the comments below content pages: blocks of one name that stand there again and again.

Lists of other articles, menus and forms are repeated, too. They are told by what leads out of them and by their names.

Where each comment is two blocks, such as `<dt>` and `<dd>` or two rows of a table, its row is the head, and the block
behind that has the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.discovery import next_links, selectors
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
FIRST, LAST = 0, -1  # places of the post that a thread begins with, among its blocks
LAST_PLACES = (":last-child", ":last-of-type", ":nth-last-child(2)", ":nth-last-of-type(2)")  # of the last block
_HEADS = "dt, tr, div, h3, h4, h5, h6, p"  # what may stand before the block with the text of the same comment
_BODIES = frozenset({"dd", "tr", "div", "blockquote", "section", "article"})
_MENUS = frozenset({"nav", "form", "header"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_word = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall
COMMENT_WORDS = frozenset(
    """answer answers antwort antworten comment comments commentaire commentaires commentlist comentario comentarios
    commento commenti huifu kommentar kommentare pinglun remark remarks replies reply response responses""".split()
)
# Of notes on what is done about something, and of periodicals and versions as well, whose headings are links.
_NOTE_WORDS = frozenset({"history", "journal", "journals"})
# Of the posts of a thread, and of articles as well.
_POST_WORDS = frozenset(
    "change changelog discussion followup forum history message messages msg post posts thread topic".split()
)
_OTHER_WORDS = frozenset(
    """ad ads breadcrumb breadcrumbs form gallery latest menu nav pager pagination popular promo recent recommended
    recommendations related respond share sidebar similar sponsored tags teaser toc trending widget widgets
    """.split()
)


@dataclass(frozen=True)
class CommentElement:
    """One of the rows on a page.

    Attributes:
        page: The page.
        element: The row.
        inner: Rows that stand in it.
        body: The block behind the row that has the text of the comment, where the row is only its head.
    """

    page: ParsedPage
    element: Any
    inner: tuple[Any, ...] = ()
    body: Any = None

    @property
    def blocks(self) -> tuple[Any, ...]:
        """The row, and the block behind it that has the text, if there is one."""
        return (self.element,) if self.body is None else (self.element, self.body)

    @property
    def shown(self) -> str:
        """The text of the comment with all that stands around it, on one line."""
        return " ".join(" ".join(one.text for one in self.blocks).split())

    @cached_property
    def all_parts(self) -> list[Any]:
        """The elements of the row, and those of the block behind it."""
        return self.own if self.body is None else [*self.own, self.body, *self.body.select("*")]

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
        posts: On each page, the block of the same kind before them, or behind them where the newest comes first, which
            holds the content; empty if there is none.
        body_tag: The tag of the block behind each of them that has its text; empty where they have it themselves.
        is_newest_first: That block stands behind them.
        css_of_all: Selects that block, too.
        each: The selector of them for a site file, which is right on the later pages of a thread, too, if it can be.
    """

    css: str
    pages: tuple[tuple[CommentElement, ...], ...]
    is_named: bool
    is_inside: bool = False
    posts: tuple[tuple[CommentElement, ...], ...] = ()
    body_tag: str = ""
    is_newest_first: bool = False
    css_of_all: str = ""
    each: str = ""

    @cached_property
    def rows(self) -> list[CommentElement]:
        """Those of all pages."""
        return [row for rows in self.pages for row in rows]

    @property
    def removed(self) -> tuple[str, ...]:
        """Selectors of them and of the blocks that have their texts."""
        both = (self.css, f"{self.css} + {self.body_tag}") if self.body_tag else (self.css,)
        return tuple(f"css:{css}" for css in both)

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
    heads = dict.fromkeys(css for page in pages for css in _names_of_heads(page))
    found += [group for css in heads if (tag := _body_tag(css, pages)) and (group := _group(css, pages, contents, tag))]
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
    return bool(words_of(element) & COMMENT_WORDS)


def _names_of_blocks(page: ParsedPage) -> Iterator[str]:
    """Yields selectors that find several blocks of a page."""
    counts: dict[str, int] = {}
    for block in islice(page.tree.select(_BLOCKS), BLOCKS_MAX):
        for css in _names_of(block):
            counts[css] = counts.get(css, 0) + 1
    return (css for css, count in counts.items() if count >= ROWS_MIN)


def _names_of_heads(page: ParsedPage) -> Iterator[str]:
    """Yields selectors that find several blocks of a page which may be heads of comments."""
    counts: dict[str, int] = {}
    for block in islice(page.tree.select(_HEADS), BLOCKS_MAX):
        body = next_block(block)
        if body is None or body.tag not in _BODIES:
            continue
        cells = [one for one in body if isinstance(one, Element)] if body.tag == "tr" else []
        named = [step for one in cells[:1] for step in selectors.steps(one)[:2] if step != one.tag]
        if block.tag in (body.tag, "tr") and not named and not selectors.classes(block):
            continue  # nothing tells one from the other
        for css in (*_names_of(block), *(f"{block.tag}:has(+ {body.tag} > {step})" for step in named)):
            counts[css] = counts.get(css, 0) + 1
    return (css for css, count in counts.items() if count >= ROWS_MIN)


def next_block(element: Any) -> Any:
    """Returns the element right behind another one; None if there is none, or text between the two."""
    for node in element.next_siblings:
        if isinstance(node, Element):
            return node
        if isinstance(node, Text) and str(node.data).strip():
            return None
    return None


def _body_tag(css: str, pages: Sequence[ParsedPage]) -> str:
    """Returns the tag of the blocks that stand right behind all that a selector finds; empty if they aren't bodies."""
    heads = [one for page in pages for one in page.tree.select(css)]
    bodies = [next_block(one) for one in heads]
    tags = {one.tag if one is not None else "" for one in bodies}
    tag = tags.pop() if len(tags) == 1 else ""
    all_heads = frozenset(heads)  # each is looked up in it
    is_paired = all_heads.isdisjoint(bodies) and all(all_heads.isdisjoint(ancestors(one)) for one in heads)
    return tag if tag in _BODIES and is_paired else ""


def _names_of(block: Any) -> Iterator[str]:
    yield from (f"{block.tag}.{name}" for name in selectors.classes(block))
    identity = block.attr("id") or ""
    if stem := re.match(r"([A-Za-z][\w-]*?[_-]?)\d", identity):
        yield f"{block.tag}[id^='{stem[1]}']"
    if (itemprop := block.attr("itemprop") or "") and re.fullmatch(r"\w+", itemprop):
        yield f"{block.tag}[itemprop='{itemprop}']"
    if isinstance(block.parent, Element):
        named = [step for step in selectors.steps(block.parent) if step != block.parent.tag]
        yield from (f"{step} > {block.tag}" for step in named[:2])


def _group(
    css: str, pages: Sequence[ParsedPage], contents: Sequence[Sequence[Any]], body_tag: str = ""
) -> CommentList | None:
    """Returns the blocks that a selector finds, if they may be comments.

    Args:
        css: The selector.
        pages: The pages.
        contents: On each page, its content.
        body_tag: The tag of the block behind each of them that has its text; empty where they have it themselves.
    """
    css_of_all, is_paired = css, bool(body_tag)
    found = [page.tree.select(css) for page in pages]
    place = _place_of_post(found, contents, is_paired=is_paired)
    is_thread = place is not None
    posts: tuple[tuple[CommentElement, ...], ...] = ()
    if place is not None:  # that post is the content, and the others answer it
        own = [[blocks[place]] if blocks else [] for blocks in found]
        rest = [[one for one in blocks if one not in mine] for blocks, mine in zip(found, own, strict=True)]
        posts = tuple(_rows(page, mine, is_paired=is_paired) for page, mine in zip(pages, own, strict=True))
        css = _without(own, css, pages, rest)
        found = [page.tree.select(css) for page in pages] if css else []
        if found != rest:
            return None
    if max(map(len, found), default=0) < ROWS_MIN:
        return None
    groups = tuple(
        _rows(page, blocks[:ROWS_MAX], is_paired=is_paired) for page, blocks in zip(pages, found, strict=True)
    )
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
    return CommentList(
        css,
        groups,
        is_named,
        is_inside=any(held),
        posts=posts,
        body_tag=body_tag,
        is_newest_first=place == LAST,
        css_of_all=css_of_all,
        each=_on_all_pages(css, pages),
    )


def _on_all_pages(css: str, pages: Sequence[ParsedPage]) -> str:
    """Returns the selector of the comments on all pages of a thread, on whose later ones the first post is one, too.

    Args:
        css: Selects them on the first pages.
        pages: Those.
    """
    every, _, last = css.rpartition(" ~ ")
    back = next_links.way_back(pages) if every else ""
    path, step = selectors.xpath_of(every), selectors.xpath_of(last)
    return f"xpath://{path}[preceding-sibling::{step} or {back}]" if back and path and step else f"css:{css}"


def _place_of_post(found: Sequence[Sequence[Any]], contents: Sequence[Sequence[Any]], *, is_paired: bool) -> int | None:
    """Returns the place of the block that holds the content: the first of each page, or the last; None: no block does.

    Args:
        found: On each page, the blocks.
        contents: On each page, the content, or nothing.
        is_paired: The block behind each of them has its text, and may be the content itself.
    """
    both = [(blocks, content[:1]) for blocks, content in zip(found, contents, strict=True) if blocks]
    for place in (FIRST, LAST):
        if both and all(_has(blocks[place], content, is_paired=is_paired) for blocks, content in both):
            return place
    return None


def _has(block: Any, content: Sequence[Any], *, is_paired: bool) -> bool:
    if is_paired:
        return any(within(top, next_block(block)) for top in content)
    return any(within(top, block) and top != block for top in content)


def _without(
    posts: Sequence[Sequence[Any]], css: str, pages: Sequence[ParsedPage], rest: Sequence[Sequence[Any]]
) -> str:
    """Returns a selector of all blocks but the first, or the last, of each page; empty if there is none.

    What those posts alone have goes before their place, which is another one on the second page of a thread.

    Args:
        posts: On each page, that block.
        css: Selects all of them.
        pages: The pages.
        rest: On each page, the other blocks.
    """
    last = css if css.endswith(")") else css.rpartition(" > ")[2]
    firsts = [one for of_page in posts for one in of_page]
    others = {mark for blocks in rest for block in blocks for mark in _marks(block)}
    shared = set.intersection(*(set(_marks(first)) for first in firsts)) - others if len(firsts) > 1 else set()
    tried = [f"{css}:not({mark})" for mark in _marks(firsts[0]) if mark in shared]
    tried += [f"{css} ~ {last}", *(f"{css}:not({mark})" for mark in LAST_PLACES)]
    wanted = [list(blocks) for blocks in rest]
    return next((one for one in tried if [page.tree.select(one) for page in pages] == wanted), "")


def last_of(css: str, pages: Sequence[ParsedPage]) -> str:
    """Returns the selector of the last of the blocks of each page; empty if there is none.

    Args:
        css: Selects all of them.
        pages: The pages.
    """
    wanted = [page.tree.select(css)[-1:] for page in pages]
    tried = (f"{css}{mark}" for mark in LAST_PLACES)
    return next((one for one in tried if [page.tree.select(one) for page in pages] == wanted), "")


def _marks(block: Any) -> list[str]:
    """Returns selectors by which one block of a list may be told: its classes, and attributes that a site makes up."""
    made_up = [
        f"[{name}='{value}']"
        for name, value in block.attrs.items()
        if re.fullmatch(r"data-[a-z][a-z-]*", name) and isinstance(value, str) and re.fullmatch(r"[\w-]{1,20}", value)
    ]
    return [f".{name}" for name in selectors.classes(block)] + made_up


def _rows(page: ParsedPage, blocks: Sequence[Any], *, is_paired: bool) -> tuple[CommentElement, ...]:
    if is_paired:
        return tuple(CommentElement(page, block, body=next_block(block)) for block in blocks)
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
    named = [one for one in row.all_parts if says_comment(one)]
    if any(words_of(one) & _POST_WORDS for one in around):
        return bool(named) or row.body is not None
    return any(width(one.text) >= TEXT_SHARE * width(row.shown) for one in named)


def _is_other(row: CommentElement, around: Sequence[Any]) -> bool:
    """Returns whether a row is part of a menu, a form, or a list of other pages."""
    lineage = [*around, *ancestors(row.element)]
    return any(one.tag in _MENUS for one in lineage) or any(words_of(one) & _OTHER_WORDS for one in around)


def _holds(row: CommentElement, content: Sequence[Any]) -> bool:
    return any(within(top, one) for top in content for one in row.blocks)


def _is_headed_by_link(row: CommentElement) -> bool:
    """Returns whether the heading of a row is a link to another page, as in a list of articles."""
    for heading in [one for one in row.own if one.tag in _HEADINGS]:
        linked = max((width(one.text) for one in heading.select("a[href]") if _leads_away(row.page, one)), default=0)
        if linked > LINKS_SHARE * width(" ".join(heading.text.split())):
            return True
    return False


def _is_list_of_links(row: CommentElement) -> bool:
    linked = sum(width(one.text) for one in row.all_parts if one.tag == "a" and _leads_away(row.page, one))
    whole = width(row.shown) - sum(width(one.text) for one in row.inner)
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
    texts = [[row.shown.casefold() for row in rows] for rows in groups]
    together = [text for page in texts for text in page]
    return len(set(together)) >= DISTINCT_SHARE * len(together) and all(together)
