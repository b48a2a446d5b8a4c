"""Tells which link of a page leads to the next one: by what it says, or by the arrow that it has in place of words."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.discovery.pages import selectors
from crawler.sites.selector import Selector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.discovery.pages.page import Anchor, ParsedPage

_says_next = re.compile(
    r"(?:next|older|more|下一?[页頁]|下頁|后一?页|次へ|次の|다음|weiter|suivante?|siguiente).{0,12}|[>\u00bb\u203a\u2192\u232a\u25b6\u25ba\u276f\u27e9]{1,2}",
    re.IGNORECASE,
).fullmatch
_is_arrow = re.compile(
    r"(?:angle|arrow|caret|chevron|triangle)[-_]?right|(?:^|[-_])(?:next|forward)\b", re.IGNORECASE
).search
# An arrow whose class says this leads to the last page, or stands for something else.
_is_other_arrow = re.compile(r"double|end|fast|last|mail|reply|share|skip|step", re.IGNORECASE).search
_numbers = re.compile(r"\d+")
_XPATH_BLANKS = re.compile(r"[ \t\r\n]+")  # normalize-space() takes these for blanks, but no no-break space
_LABELS = ("aria-label", "title")  # attributes that say in words what a picture means


def says_next(anchor: Anchor) -> bool:
    """Returns whether a link says that it leads to the next page, by its words or by its `rel`."""
    return bool(_says_next(anchor.text)) or "next" in (anchor.element.attr("rel") or "").lower().split()


def next_links(page: ParsedPage) -> list[Anchor]:
    """Returns the links of a page that may lead to the next one, on the same host, the likeliest first."""
    host = urlsplit(page.url).netloc
    own = [anchor for anchor in [*page.next_in_head, *page.anchors] if urlsplit(anchor.url).netloc == host]
    marked = [anchor for anchor in own if "next" in (anchor.element.attr("rel") or "").lower().split()]
    worded = [anchor for anchor in own if _says_next(anchor.text)]
    classed = [anchor for anchor in own if {"next", "nxt"} & set((anchor.element.attr("class") or "").lower().split())]
    near = [anchor for anchor in own if _is_of_same_path(anchor.url, page.url)]
    labelled = [anchor for anchor in near if _label(anchor)]
    drawn = [anchor for anchor in near if _arrow(anchor)]
    # Arrows that lead to several pages stand beside the links of a list.
    drawn = drawn if len({anchor.url for anchor in drawn}) == 1 else []
    return list(dict.fromkeys([*marked, *worded, *classed, *labelled, *drawn]))


def selector_of(page: ParsedPage, following: Anchor) -> str:
    """Returns the selector of the link to the next page; empty if there is none."""
    return next(selectors_of(page, following), "")


def selectors_of(page: ParsedPage, following: Anchor) -> Iterator[str]:
    """Yields selectors whose first match leads to the next page: by its name, by its words, or by its picture.

    Any other selector comes last: the first link beside the one to the next page may lead back on another page.
    """
    element = following.element
    choice = selectors.first_of(page.tree, element)
    by_name = f"css:{choice.css}" if choice else ""
    text = _XPATH_BLANKS.sub(" ", element.text).strip(" ")
    # What can't be seen in a text isn't written into a file.
    is_plain = bool(text) and " ".join(text.split()) == following.text and "'" not in text
    by_text = f"xpath://a[normalize-space()='{text}']" if is_plain else ""
    label = _label(following)
    by_label = f"css:a[{label}='{element.attr(label)}']" if label else ""
    picture = _arrow(following)
    by_picture = f"css:a:has({picture})" if picture else ""
    is_named = any(mark in by_name for mark in ("next", "nxt"))
    tried = [by_text, by_label, by_picture]
    tried = [by_name, *tried] if is_named else [*tried, by_name]
    return (select for select in tried if select and _leads_on(select, page, following))


def to_second_pages(pages: Sequence[ParsedPage]) -> str:
    """Returns the selector of a content page's link to its own second page; empty if no page has one.

    A link to the next article isn't one: the address of a second page is that of the first with a 2, at its end or
    in place of a 1.
    """
    for page in pages:
        for anchor in next_links(page):
            if _is_second(anchor.url, page.url):
                tried = selectors_of(page, anchor)
                if select := next((select for select in tried if _goes_on(select, pages)), ""):
                    return select
    return ""


def _goes_on(select: str, pages: Sequence[ParsedPage]) -> bool:
    """Returns whether what a selector finds first on content pages leads nowhere but to their second pages."""
    addresses = ((first_url(select, page), page.url) for page in pages)
    return all(there in ("", here) or _is_second(there, here) for there, here in addresses)


def _is_second(there: str, here: str) -> bool:
    ours, theirs = (re.split(r"(\d+)", url) for url in (here, there))
    if len(ours) == len(theirs):
        return [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]] == [("1", "2")]
    first = re.escape(here.rstrip("/").removesuffix(".html"))
    return bool(re.fullmatch(first + r"(?:/?[?&][\w-]+=2|[/_-](?:page[/_-]?)?2/?)(?:\.html)?", there))


def _leads_on(select: str, page: ParsedPage, following: Anchor) -> bool:
    """Returns whether what a selector finds first on a page leads to the next one."""
    return first_url(select, page) == following.url


def first_url(select: str, page: ParsedPage) -> str:
    """Returns the address to which the first match of a selector leads; empty for none."""
    with contextlib.suppress(ValueError):  # the text of the link is longer than a selector may be
        matches: Any = Selector.parse(select).search(page.tree)
        return page.absolute(matches[0].attr("href") or "") if matches else ""
    return ""


def _label(anchor: Anchor) -> str:
    """Returns the attribute in which a link says that it leads to the next page; empty for none."""
    labels = ((name, anchor.element.attr(name) or "") for name in _LABELS)
    return next((name for name, words in labels if _says_next(words) and words.replace(" ", "").isalnum()), "")


def _arrow(anchor: Anchor) -> str:
    """Returns the selector of the arrow that a link has in place of words; empty for none."""
    if anchor.text:
        return ""
    for element in anchor.element.select("[class]"):
        names = [name for name in selectors.classes(element) if _is_arrow(name) and not _is_other_arrow(name)]
        if names and (tag := selectors.tag_of(element)):
            return f"{tag}.{names[0]}"
    return ""


def _is_of_same_path(there: str, here: str) -> bool:
    """Returns whether an address has the path of a page, but for numbers in it, or more behind that path."""
    path, own = (_numbers.sub("", urlsplit(url).path) for url in (there, here))
    return path == own or path.startswith(f"{own.rstrip('/')}/")
