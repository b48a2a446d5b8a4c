"""What pages of one template have in common, by which a page's own text is told from what stands on each of them.

A template is what a host makes its pages with: its pages have the same outer parts, so their skeletons are equal. Of a
few pages of each template the marks are kept, which are digests of their blocks of text, and of what was taken for a
title, an author or a date. A mark that many other pages have says nothing of a page. Nothing else of a page is kept.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler.base import text
from crawler.base.urls import host

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    import turbohtml

# Of each template so many pages are kept: enough to tell a box that stands on a third of them. Each is at most 1.5 kB,
# 24 kB a template; most have some 60 marks, 6 kB a template.
MAX_PAGES = 16
MAX_MARKS = 256
MARK_BYTES = 6  # two different texts of a template are taken for one in 1 of 10^11 cases
KEY_BYTES = 12  # of a template, or of a page's address; there may be millions
MAX_TEMPLATES = 256  # that a worker remembers; those that it met longest ago are forgotten
MAX_BLOCKS = 4_000  # that are compared; long articles have some hundreds
EDGE_BLOCKS = 100  # from each end of a page that leave marks: menus and footers are there, and the text between
MAX_PARTS = 60  # outer parts of a page that make its skeleton
MAX_DEPTH = 100  # of a block, within which the block that holds most text is looked for
MIN_SENTENCE = 40  # characters of a block that is a part of a text, and not a line about it
MIN_CHARACTERS = 2  # of a block that is compared
MAX_CHARACTERS = 2_000  # of a text that make its mark
HOLDS_SHARE = 0.7  # of the own text of a block: an inner one that holds so much is the content instead


@dataclass(frozen=True, slots=True)
class Threshold:
    """On how many other pages something must be to be none of a page's own.

    Attributes:
        pages: So many at least.
        share: And so large a part of all other pages that are known.
    """

    pages: int
    share: float


# Boxes stand on some pages alone; a remark such as "Thanks!" may be on several, but not on a third of them.
BLOCK = Threshold(pages=3, share=0.3)
# A thread's pages have one title, and a forum some threads that are called alike, but not half of all pages.
TITLE = INSTANT = Threshold(pages=3, share=0.5)
# One person may write all articles of a week, and news of one day have one date: on all of many it is no page's own.
AUTHOR = DAY = Threshold(pages=8, share=0.9)

_PARTS = frozenset("article aside div footer form header main nav section table ul".split())
_HOLDERS = _PARTS | {"blockquote", "center", "dd", "dl", "fieldset", "li", "ol", "tbody", "td", "tr"}
_WITHIN_TEXT = frozenset({"blockquote", "dd", "dl", "dt", "li", "ol", "ul"})  # what is around a block of a text
_BLOCKS = """address article aside blockquote caption dd div dl dt figcaption footer form h1 h2 h3 h4 h5 h6 header
    legend li main nav ol p pre section summary table td th ul"""
_BLOCK_CSS = ", ".join(_BLOCKS.split())
_CELLS = ("caption", "td", "th")
_LABELS = frozenset("caption dt figcaption h2 h3 h4 h5 h6 legend summary".split())
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 legend".split())
_digits = re.compile(r"\d+").sub


@dataclass(frozen=True, slots=True)
class Marks:
    """What is kept of a page.

    Attributes:
        host: Its host.
        template: The key of its template.
        page: The key of its address.
        marks: First that of its content as a whole, by which copies at other addresses are known; then all others.
    """

    host: str
    template: bytes
    page: bytes
    marks: bytes


@dataclass(frozen=True, slots=True)
class KnownPages:
    """What is known of a template.

    Attributes:
        pages: The marks of some of its pages, by the keys of their addresses.
        counts: On how many of them each mark is that is on several.
        contents: The marks of their contents as a whole, of which no two are equal: copies aren't kept.
    """

    pages: Mapping[bytes, bytes] = field(default_factory=dict)
    counts: Mapping[bytes, int] = field(default_factory=dict)
    contents: frozenset[bytes] = frozenset()

    def with_pages(self, pages: Mapping[bytes, bytes]) -> KnownPages:
        """Returns what is known with further pages; those that are copies, junk or too many are left out."""
        kept = dict(self.pages)
        contents = set(self.contents)
        for page, marks in pages.items():
            whole, is_sound = marks[:MARK_BYTES], 0 < len(marks) <= MAX_MARKS * MARK_BYTES
            if len(kept) < MAX_PAGES and page not in kept and whole not in contents and is_sound:
                kept[page] = marks
                contents.add(whole)
        if len(kept) == len(self.pages):
            return self
        counts = Counter(mark for marks in kept.values() for mark in _each(marks))
        return KnownPages(kept, {mark: count for mark, count in counts.items() if count > 1}, frozenset(contents))


class PageTemplates:
    """The templates that a worker knows. Comparisons may be made in another thread than pages are added in."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, KnownPages] = OrderedDict()

    def compare(self, tree: turbohtml.Document, url: str, canonical_url: str | None) -> PageComparison:
        """Returns the comparison of a page with what is known of its template.

        Args:
            url: The page's address.
            canonical_url: The address that the page gives for itself.
        """
        template = _digest(KEY_BYTES, host(url), *skeleton(tree))
        return PageComparison(tree, url, canonical_url, template, self._known.get(template) or KnownPages())

    def of(self, template: bytes) -> KnownPages:
        """Returns what is known of a template."""
        return self._known.get(template) or KnownPages()

    def add(self, template: bytes, pages: Mapping[bytes, bytes]) -> bool:
        """Adds pages to a template; returns whether one was new and there was room for it."""
        before = self.of(template)
        after = self._known[template] = before.with_pages(pages)
        self._known.move_to_end(template)
        while len(self._known) > MAX_TEMPLATES:
            self._known.popitem(last=False)
        return after is not before

    def forget_all(self) -> None:
        """Forgets all templates."""
        self._known.clear()


class PageComparison:
    """One page beside others of its template. Whatever is asked about leaves a mark.

    Attributes:
        shared_blocks: The blocks of text that other pages have, too; none if all have, since the page is a copy then.
    """

    def __init__(
        self, tree: turbohtml.Document, url: str, canonical_url: str | None, template: bytes, known: KnownPages
    ) -> None:
        self._tree, self._known, self._template = tree, known, template
        self._host = host(url)
        own = canonical_url if canonical_url is not None and host(canonical_url) == self._host else url
        self._page = _digest(KEY_BYTES, own)
        self._blocks = _blocks(tree)
        title = tree.select_one("title")
        longest = max((written for _block, written in self._blocks), key=len, default="")
        whole = _digest(MARK_BYTES, "page", "" if title is None else text.line(title.text), longest)
        self._marks: dict[bytes, None] = {whole: None}
        # The page itself may be known already, or a copy of it at another address: 1 then, else 0.
        self._own = int(whole in known.contents or self._page in known.pages)
        self._others = len(known.pages) - self._own
        self.shared_blocks = self._find_shared_blocks()

    @property
    def is_known(self) -> bool:
        """Whether enough other pages are known to tell this page's own text."""
        return self._others >= BLOCK.pages

    @property
    def marks(self) -> Marks:
        """The page's marks, as far as it was read until now."""
        return Marks(self._host, self._template, self._page, b"".join(self._marks))

    def others_have(self, kind: str, written: str, rule: Threshold) -> bool:
        """Returns whether other pages have the same.

        Args:
            kind: What it was taken for, such as `title`.
            written: As it stands on the page.
            rule: On how many of them it must be.
        """
        return self._is_shared(self._mark(kind, written), rule)

    def own_text(self, besides: Container[Any] = frozenset()) -> tuple[Any, int] | None:
        """Returns the innermost element with most of what no other page has, and how many characters that is.

        Args:
            besides: Elements that don't count, such as comments.

        Returns:
            None where too little is known of the template, or the page has nothing of its own.
        """
        if not self.is_known:
            return None
        held: Counter[Any] = Counter()
        for block, written in self._blocks:
            around = [*islice(lineage(block), MAX_DEPTH)] if block not in self.shared_blocks else []
            if not any(one in besides for one in around):
                held.update(dict.fromkeys(around, len(written)))
        body = self._tree.select_one("body")
        if body is None or not held[body]:
            return None
        top = innermost(body, held, HOLDS_SHARE)
        return top, held[top]

    def _find_shared_blocks(self) -> frozenset[Any]:
        found: set[Any] = set()
        follows_own = False  # what comes after is the page's own; a heading of it is, too
        edge = len(self._blocks) - EDGE_BLOCKS
        for at in range(len(self._blocks) - 1, -1, -1):
            block, written = self._blocks[at]
            is_at_edge = at < EDGE_BLOCKS or at >= edge
            mark = self._mark("block", written) if is_at_edge else _digest(MARK_BYTES, "block", written)
            if self._is_shared(mark, BLOCK) and not (block.tag in _LABELS and follows_own):
                found.add(block)
                follows_own = False
            else:
                follows_own = True
        found -= self._within_texts(found)
        return frozenset(found) if len(found) < len(self._blocks) else frozenset()

    def _within_texts(self, shared: set[Any]) -> set[Any]:
        """Returns the shared blocks between others of one text: their author wrote them, as those of other pages did.

        What else pages have in common stands at an end of a text, or in a box of its own.
        """
        kept: set[Any] = set()
        since_own: dict[Any, list[Any]] = {}  # the shared blocks after the last own one, by what holds the text
        for block, written in self._blocks:
            around = islice(lineage(block), 1, MAX_DEPTH)
            text_box = next((one for one in around if one.tag not in _WITHIN_TEXT), None)
            if block in shared:
                since_own.get(text_box, []).append(block)
            elif len(written) >= MIN_SENTENCE and block.tag not in _HEADINGS:
                kept.update(since_own.get(text_box, ()))
                since_own[text_box] = []
        return kept

    def _mark(self, kind: str, written: str) -> bytes:
        mark = _digest(MARK_BYTES, kind, written)
        if len(self._marks) < MAX_MARKS:
            self._marks[mark] = None
        return mark

    def _is_shared(self, mark: bytes, rule: Threshold) -> bool:
        count = self._known.counts.get(mark, 0) - self._own
        return count >= rule.pages and count >= rule.share * self._others


def lineage(element: Element) -> Iterator[Element]:
    """Yields an element and all that it is in."""
    yield element
    for parent in element.ancestors:
        if isinstance(parent, Element):
            yield parent


def innermost(top: Element, held: Counter[Any], share: float) -> Element:
    """Returns the innermost box within an element that holds so large a share of what that one holds.

    Args:
        held: What each element holds; those that aren't in it hold nothing.
    """
    enough = share * held[top]
    for _ in range(MAX_DEPTH):
        boxes = (one for one in top if isinstance(one, Element) and one.tag in _HOLDERS)
        inner = max(boxes, key=held.__getitem__, default=None)
        if inner is None or held[inner] < enough:
            break
        top = inner
    return top


def skeleton(tree: turbohtml.Document) -> tuple[str, ...]:
    """Returns the names of a page's outer parts: those of the outermost element that has more than one.

    Numbers in names are left out, and parts that are alike stand for one, so that neither the length of a text nor the
    number of a thread makes another template.
    """
    top: Any = tree.select_one("body")
    for _ in range(MAX_DEPTH):
        parts = [] if top is None else [one for one in top if isinstance(one, Element) and one.tag in _PARTS]
        if len(parts) != 1:
            break
        top = parts[0]
    else:
        return ()
    return tuple(sorted({_name(one) for one in parts[:MAX_PARTS]}))


def _name(element: Element) -> str:
    classes = element.attr("class") or ""
    names = classes.split() if isinstance(classes, str) else [*classes]
    return f"{element.tag} {_digits('', element.attr('id') or (names[0] if names else ''))}"


def _blocks(tree: turbohtml.Document) -> list[tuple[Any, str]]:
    """Returns the blocks of text that have no others within, each with its text; a table of plain cells is one."""
    found: list[tuple[Any, str]] = []
    tables: set[Any] = set()
    for element in tree.select(_BLOCK_CSS)[:MAX_BLOCKS]:
        if element.tag == "table":
            if element.select_one(_IN_LAYOUTS) is not None:
                continue
            tables.add(element)
        elif element.tag in _CELLS and element.closest("table") in tables:
            continue
        if element.tag != "table" and element.select_one(_BLOCK_CSS) is not None:
            continue
        written = " ".join(element.text.split())
        if len(written) >= MIN_CHARACTERS:
            found.append((element, written))
    return found


_IN_LAYOUTS = ", ".join(one for one in _BLOCKS.split() if one not in _CELLS)


def _digest(size: int, *parts: str) -> bytes:
    whole = "\0".join(part[:MAX_CHARACTERS] for part in parts)
    return blake2b(whole.encode(errors="replace"), digest_size=size).digest()


def _each(marks: bytes) -> Iterable[bytes]:
    return {marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)}
