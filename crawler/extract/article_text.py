"""The text of an article: where its parts are named for it there, else where trafilatura finds it.

Trafilatura only says where the text stands, since it leaves out headings, lists and tables of short ones. What it finds
is the text itself only where the page has no element that holds it, and little else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.base import text
from crawler.base.errors import ExtractError
from crawler.extract import shape
from crawler.extract.around_text import text_of
from crawler.extract.document import absolute, html_of
from crawler.extract.lxml_tree import parse_by_lxml
from crawler.extract.page_templates import BLOCK, MAX_DEPTH, innermost, lineage

if TYPE_CHECKING:
    from crawler.extract.document import Document
    from crawler.extract.page_parts import PageParts

MAX_ELEMENTS_COMPARED = 5_000  # up to here trafilatura asks jusText and readability, too: 3 s at worst
MAX_IMAGES = 100
LITTLE_SHARE = 0.3  # of the text that the page alone has: trafilatura that finds less has missed the article
MAX_LINES = 6  # of one block in a text
MIN_SENTENCE = 30  # characters of a block that may not be within a text by chance
MIN_LETTERS = 12  # of a line that may not be somewhere else on a page by chance
MAX_STRAYS = 50  # lines that are looked for in all of a page, since they aren't behind the one before
FOUND_SHARE = 0.8  # of trafilatura's text, that a page must have for an element to be looked for
HELD_SHARE = 0.95  # of that, which the element must hold
MUCH_LONGER = 2  # times trafilatura's text: an element with so much holds other things as well
FEW_LETTERS = 300  # that an element may have besides, as a short text with a list

# Trafilatura makes one line of a whole table, even of one that lays out the page, and leaves parts of it out.
_pieces = re.compile(r"\n|\s\|\s|(?<=[.!?\u3002\uff01\uff1f])").split
_TEASERS = "//article[contains(@class, 'teaser')][not(.//h1)]"  # which trafilatura takes for the article
_UNREAD = frozenset({"noscript", "script", "style", "template", "textarea"})
_LISTS = frozenset({"blockquote", "dl", "ol", "ul"})  # which are parts of a text


class ArticleText:
    """Reads the text of one page.

    Args:
        document: The page, which is compared with others of its template.
        parts: Its parts.
        heading: The one that is the title; None if it is no heading.
        about: What says whose the text is, and of when.
    """

    def __init__(
        self, document: Document, parts: PageParts, heading: Element | None, about: frozenset[Element | None]
    ) -> None:
        self._document, self._parts, self._heading, self._about = document, parts, heading, about
        self._comparison = document.comparison

    def read(self, elements: int) -> tuple[str, tuple[str, ...]]:
        """Returns the text and the addresses of the images within.

        Args:
            elements: How many the page has.

        Raises:
            ExtractError: `no-content` if no article is found.
        """
        if self._parts.body is not None:
            content, images = self._of(self._parts.body)
            if content:  # if not, what has the name of a text holds none
                return content, images
        own = self._comparison.own_text(self._parts.asides)
        try:
            found = _by_trafilatura(self._document, fast=elements > MAX_ELEMENTS_COMPARED)
        except ExtractError:
            if own is None:
                raise
            return self._of(self._parts.first_post(own[0]))
        content, is_apart = self._without_repeated(text.paragraphs(found.text or ""))
        if own is not None and (len(content) < LITTLE_SHARE * own[1] or not is_apart):
            content_of_own, images = self._of(self._parts.first_post(own[0]))
            if content_of_own:
                return content_of_own, images
        box = self._box_of(content)
        if box is not None:
            content_of_box, images = self._of(box)
            if 0 < len(_folded(content_of_box)) <= MUCH_LONGER * len(_folded(content)) + FEW_LETTERS:
                return content_of_box, images
        return content, absolute([found.image or ""], self._document.html.base)

    def _of(self, body: Element) -> tuple[str, tuple[str, ...]]:
        """Returns the text and the images of an element; of a copy of other pages all, of others what is theirs."""
        asides = self._parts.asides
        content, left_out = text_of(body, self._heading, asides | self._comparison.shared_blocks | self._about)
        if not content.strip():
            content, left_out = text_of(body, self._heading, asides)
        images = body.select("img[src]")[:MAX_IMAGES]
        sources = [one.attr("src") or "" for one in images if left_out.isdisjoint(lineage(one))]
        own = [source for source in sources if not self._comparison.others_have("image", source, BLOCK)]
        return shape.clean(content), absolute(own, self._document.html.base)

    def _without_repeated(self, content: str) -> tuple[str, bool]:
        """Returns a text without its title and without what other pages have as blocks, and whether none of it is left.

        All of it is returned if there is nothing else.
        """
        repeated = {" ".join(one.text.split()) for one in self._comparison.shared_blocks}
        # Letters alone, since trafilatura has signs of its own for lists and tables, and breaks lines within texts.
        left_out = {*map(_folded, repeated), "" if self._heading is None else _folded(self._heading.text)} - {""}
        lines = content.split("\n")
        folded = [*map(_folded, lines)]
        kept, at = [], 0
        while at < len(lines):
            # A block with links or line breaks in it is several lines of trafilatura's.
            runs = ("".join(folded[at : at + length]) for length in range(1, MAX_LINES + 1))
            length = next((length for length, run in enumerate(runs, 1) if run in left_out), 0)
            kept += [] if length else [lines[at]]
            at += length or 1
        own = "\n".join(kept) or content
        return own, not any(len(written) >= MIN_SENTENCE and written in own for written in repeated)

    def _box_of(self, content: str) -> Element | None:
        """Returns the innermost element with nearly all lines of a text; None if the page doesn't have them so."""
        body = self._parts.tree.select_one("body")
        if body is None:
            return None
        starts, holders, written = _folded_texts(body, self._parts.asides)
        lines = [line for line in map(_folded, _pieces(content)) if len(line) >= MIN_LETTERS]
        held: Counter[Any] = Counter()
        behind = strays = 0
        for line in lines:
            at = written.find(line, behind)
            if at < 0 and strays < MAX_STRAYS:
                strays += 1
                at = written.find(line)
            if at >= 0:
                behind = at + len(line)
                around = lineage(holders[bisect_right(starts, at) - 1])
                held.update(dict.fromkeys(islice(around, MAX_DEPTH), len(line)))
        if not held[body] or held[body] < FOUND_SHARE * sum(map(len, lines)):
            return None
        boxes = lineage(innermost(body, held, HELD_SHARE))
        return next(one for one in boxes if one.tag not in _LISTS)


def _folded_texts(top: Element, skip: frozenset[Any]) -> tuple[list[int], list[Any], str]:
    """Returns where each text in an element begins, what it is in, and all of them, folded, as one."""
    starts: list[int] = []
    holders: list[Any] = []
    texts: list[str] = []
    rest: list[Any] = [top]
    width = 0
    while rest:
        node = rest.pop()
        if isinstance(node, Element) and node not in skip and node.tag not in _UNREAD:
            rest += reversed([*node])
        elif isinstance(node, Text) and (folded := _folded(node.data)):
            starts.append(width)
            holders.append(node.parent)
            texts.append(folded)
            width += len(folded)
    return starts, holders, "".join(texts)


def _by_trafilatura(document: Document, *, fast: bool) -> Any:
    from trafilatura import bare_extraction  # takes half a second to import, and most workers never need it

    root = parse_by_lxml(html_of(document.page)[0])
    try:
        found = bare_extraction(
            root,
            url=document.page.url,
            fast=fast,
            with_metadata=True,
            include_comments=False,
            prune_xpath=_TEASERS,
        )
    except MemoryError:  # the node's fault, not the page's
        raise
    except Exception as error:  # of heuristics on a hostile page: whatever it is, there is no article
        raise ExtractError("no-content", f"trafilatura: {type(error).__name__}: {error}") from error
    if found is None or isinstance(found, dict):  # a dict is returned only for an option that isn't set
        raise ExtractError("no-content", "trafilatura found no article")
    return found


def _folded(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))
