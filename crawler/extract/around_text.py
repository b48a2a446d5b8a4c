"""The text of its box without what only stands around it there: buttons, tags, lists of links, what nobody sees."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.extract.extents import Extents
from crawler.extract.html_text import HtmlText
from crawler.extract.lines import line_of
from crawler.extract.page_parts import MAX_CANDIDATES, SMALL_CHARACTERS, class_names, is_hiding, naming
from crawler.extract.page_templates import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS_SHARE = 0.7  # of the letters of a list of links
WHOLE_SHARE = 0.7  # of a text: what holds so much of it is the text, however it is styled and wherever it stands
MAX_CHANGE_CHARACTERS = 200  # of a line that says when a page was changed

_FRAME = "footer, form, header, [role=banner], [role=contentinfo]"
_accompanies = naming(
    """a11y action-links? actions buttons byline catlinks controls docinfo editsection entry-header entry-terms
    (?:article|entry|page|post)-(?:footer|meta) jump-link meta noprint pager post-(?:tags|terms) posted-on printfooter
    ratings? screen-reader-text secedit share sharing signature skip social sr-only tag-?cloud tag-?list tags tags-links
    taxonomies taxonomy toc toolbar vcard visually-hidden"""
).search
_HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADINGS = ", ".join(_HEADING_TAGS)
_BLOCKS = ("article", "blockquote", "div", "dl", "figure", "ol", "p", "pre", "section", "table", "ul", *_HEADING_TAGS)
_unseen_style = re.compile(
    r"(?:^|[;\s])(?:font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:;|!|$)|(?:left|right|top|text-indent)\s*:\s*-\d{3})",
    re.IGNORECASE,
).search
# A line such as "This page was last changed on 3 May 2026 by Li Si".
_says_change = re.compile(
    r"""(?:(?:this\s(?:page|article|document|entry|post|topic)|diese\sseite|cette\spage|esta\sp\u00e1gina)\b[^.!?]{0,60}\s)?
    (?:(?:page\s)?last\s(?:changed|modified|edited|updated|revised)|zuletzt\s(?:ge\u00e4ndert|bearbeitet|aktualisiert)
    |derni\u00e8re\s(?:modification|mise\s\u00e0\sjour)|\u00faltima\s(?:modificaci\u00f3n|actualizaci\u00f3n|edici\u00f3n)
    |\u6700\u540e(?:\u4fee\u6539|\u7f16\u8f91|\u66f4\u65b0)|\u6700\u7d42\u66f4\u65b0)
    \b(?=[^\d]{0,40}\d)[^!?]*""",
    re.IGNORECASE | re.VERBOSE,
).fullmatch


def text_of(body: Element, title: Element | None, besides: frozenset[Any]) -> tuple[str, frozenset[Any]]:
    """Returns the text of an element without what only accompanies it, and what was left out.

    Args:
        body: The element.
        title: The heading that is the title; None if it is no heading.
        besides: Elements that are no part of it, such as comments, or those that other pages have, too.
    """
    extents = Extents(body)
    skip = {*besides, *_accompanying(body, extents), *_unseen(body, extents)}
    skip |= {title, *_above(title, body)} if title is not None else set()
    skip.discard(body)
    skip.update(_headings_of_nothing(body, skip, extents))
    skip.update(_change_line(body, skip, extents))
    return HtmlText(marked=True).of(body, skip), frozenset(skip)


def _accompanying(body: Element, extents: Extents) -> Iterator[Element]:
    """Yields the frame of a text, the small parts of it that are named for something else, and lists of links."""
    yield from body.select(_FRAME)
    for element in body.select("[class], [id]"):
        is_named = _accompanies(class_names(element)) is not None and extents.characters(element) < SMALL_CHARACTERS
        if is_named and not _is_named_by_heading(element):
            yield element
    boxes = chain(body.select("ul, ol, div, section"), _with_link_to_comments(body))
    yield from (one for one in boxes if extents.links_share(one) > LINKS_SHARE)


def _with_link_to_comments(body: Element) -> dict[Element, None]:
    """Returns the paragraphs that link to the page's comments, which may say no more than how many there are."""
    links = body.select('a[href*="#comment"], a[href*="#respond"]')
    found = dict.fromkeys(one for link in links if (one := link.closest("p")) is not None)
    return {one: None for one in found if body in one.ancestors}


def _is_named_by_heading(element: Element) -> bool:
    """Returns whether an element is a heading, or has one, whose words are its id, as where it is a link's target."""
    first = element if element.tag in _HEADING_TAGS else next(filter(_has_text, element), None)
    if not isinstance(first, Element) or first.tag not in _HEADING_TAGS or _accompanies(first.attr("class") or ""):
        return False
    words, anchor = ("".join(filter(str.isalnum, one.casefold())) for one in (first.text, element.attr("id") or ""))
    return words == anchor


def _unseen(body: Element, extents: Extents) -> Iterator[Element]:
    """Yields what nobody sees: it is out of the picture, or for nobody's ears, and more than an icon."""
    whole = body.text
    found = [one for one in body.select("[class]") if is_hiding(one)]
    found += (one for one in body.select("[style]") if _unseen_style(one.attr("style") or "") is not None)
    for element in body.select("[aria-hidden=true]")[:MAX_CANDIDATES]:
        if element.tag in _BLOCKS or ((written := element.text.strip()) and whole.count(written) > 1):
            found.append(element)
    yield from (one for one in found if extents.characters(one) < WHOLE_SHARE * len(whole))


def _above(title: Element, body: Element) -> Iterator[Element]:
    """Yields what stands above the title of a text, such as a column at the left, unless that is most of it."""
    around = title
    above: list[Element] = []
    while around is not body:
        above += (one for one in around.previous_siblings if isinstance(one, Element))
        if not isinstance(around.parent, Element):
            return
        around = around.parent
    if sum(len(one.text) for one in above) < WHOLE_SHARE * len(body.text):
        yield from above


def _headings_of_nothing(body: Element, skip: set[Any], extents: Extents) -> Iterator[Element]:
    """Yields the headings of what is left out, and those of nothing but such headings."""
    headings = body.select(_HEADINGS)
    below = _below(headings, extents)
    found: set[Any] = set()
    for heading in reversed(headings):
        next_one = below.get(heading)
        is_deeper = isinstance(next_one, Element) and (next_one.tag not in _HEADING_TAGS or next_one.tag > heading.tag)
        if is_deeper and (next_one in skip or next_one in found):
            found.add(heading)
            yield heading


def _below(headings: list[Element], extents: Extents) -> dict[Any, Any]:
    """Returns what stands next below each heading in its box and has a text: all of a box is walked through once."""
    found: dict[Any, Any] = {}
    for box in dict.fromkeys(one.parent for one in headings if one.parent is not None):
        last = None
        for one in reversed([*box]):
            if isinstance(one, Element) and one.tag in _HEADING_TAGS:
                found[one] = last
            last = one if extents.has_text(one) else last
    return found


def _change_line(body: Element, skip: set[Any], extents: Extents) -> Iterator[Element]:
    """Yields the last line of a text if it says when the page was changed, and by whom."""
    around = body
    for _ in range(MAX_DEPTH):
        last = next((one for one in reversed([*around]) if extents.has_text(one) and one not in skip), None)
        if not isinstance(last, Element):
            return
        line = line_of(last) if extents.characters(last) <= MAX_CHANGE_CHARACTERS else ""
        if _says_change(line):
            yield last
            return
        around = last


def _has_text(node: Any) -> bool:
    return bool((node.data if isinstance(node, Text) else node.text if isinstance(node, Element) else "").strip())
