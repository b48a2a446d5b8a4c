"""Tells the results on a page of results from all its other links.

The same search for a word that nothing has shows what isn't a result: what is on both pages belongs to the site. Of
what is left, results are the links that stand in the same place of a repeated block, each to another page with a text
of its own; those that ask the search again (pages, orders, filters) aren't.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlsplit
from zoneinfo import ZoneInfo

from crawler.discovery.pages import selectors
from crawler.discovery.pages.page import Anchor, ancestors, width
from crawler.discovery.pages.search_word import NONSENSE
from crawler.discovery.search.forms import TOKEN_NAME
from crawler.discovery.search.search_template import NAMED
from crawler.extract.dates import to_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.discovery.pages.page import ParsedPage

LEVELS = 6  # how many elements around a link may have a class that tells it from others
TITLE_WIDTH = 40  # a longer text makes no likelier title
MAX_CANDIDATES = 5  # most sets of links, the likeliest first, for which a selector is looked for
MIN_ROWS = 3  # the fewest rows of a table of results whose links say a date or a number
ROW_WIDTHS = 4  # such a row's text is at least so many times as wide as its link's
DATE_ROW_SCORE = 0.1  # what such a row counts: any other links that are as many go before
HEADING_FACTOR = 1.5  # results have titles, which most often stand in headings
MENU_FACTOR = 0.2  # links in a menu, a footer or beside the text seldom are results
# The least share of the links in one place that links with a name of their own may be, as a row may have six links;
# fewer are special ones.
SHARE_OF_BLOCK = 0.15
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})
_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Block:
    """The results on a page.

    Attributes:
        anchors: One link for each result.
        selector: Selects them.
    """

    anchors: tuple[Anchor, ...]
    selector: selectors.CssChoice

    @property
    def urls(self) -> tuple[str, ...]:
        """Where they lead."""
        return tuple(dict.fromkeys(anchor.url for anchor in self.anchors))


def results(page: ParsedPage, others: Sequence[ParsedPage], word: str = "") -> Block | None:
    """Returns the results on a page; None if it has none.

    Args:
        page: A page of results, or one that lists other pages.
        others: Pages of the site without these results, such as that of a search in vain.
        word: That was searched for; empty: the page is no answer to a search.
    """
    # Links are told by their places as well, since the menu of a documentation names each page, and so all results.
    elsewhere = {(anchor.url, _named_place(anchor)) for other in others for anchor in other.anchors}
    fresh = [anchor for anchor in page.anchors if (anchor.url, _named_place(anchor)) not in elsewhere]
    return _of_these(page, others, word, fresh)


def are_alike(page: ParsedPage, none: ParsedPage, word: str) -> bool:
    """Returns whether a search shows the same links for a word as for `NONSENSE`, and so finds nothing by itself.

    Texts don't count: a script's token, a hidden field, a clock and the word itself differ with each answer.
    """
    return _places(page, word, word) == _places(none, NONSENSE, word)


def _places(page: ParsedPage, asked: str, word: str) -> Counter[str]:
    """Returns where links of an answer lead, but those that ask again, each without tokens and what was asked for."""
    places: Counter[str] = Counter()
    for anchor in page.anchors:
        head, _, query = anchor.url.partition("?")
        pairs = [pair for pair in query.split("&") if not TOKEN_NAME.search(pair.partition("=")[0])]
        url = _decoded(f"{head}?{'&'.join(pairs)}", page.encoding)
        if not asks_again(anchor.url, page, asked):
            places[url.replace(NONSENSE, "").replace(word.casefold(), "")] += 1
    return places


def _of_these(page: ParsedPage, others: Sequence[ParsedPage], word: str, fresh: list[Anchor]) -> Block | None:
    """Returns the results among the links of a page that its `others` haven't got; None if none of them look so."""
    # A link that others have may still be a result, of a page that a menu names as well.
    known = frozenset(anchor.element for anchor in page.anchors).difference(anchor.element for anchor in fresh)
    fresh = [
        anchor
        for anchor in fresh
        if not _leads_back(anchor.url, page) and not (word and asks_again(anchor.url, page, word))
    ]
    candidates = sorted(_candidates(fresh), key=lambda links: _score(links, word), reverse=True)
    for likely in candidates[:MAX_CANDIDATES]:
        if _score(likely, word) <= 0:
            break
        links = _different_instead(likely, candidates, page, word) or likely
        elements = [anchor.element for anchor in links]
        wanted = [(page.tree, elements)]
        # Where the site finds something for any word, the other page has results, too.
        selector = selectors.all_of(wanted, [other.tree for other in others if word], known) or selectors.all_of(wanted)
        if selector:
            return Block(tuple(links), selector)
    return None


def asks_again(url: str, page: ParsedPage, word: str) -> bool:
    """Returns whether a link asks the page's own search again: for another page, order or part of the results."""
    there, here = urlsplit(url), urlsplit(page.url)
    if there.netloc != here.netloc:
        return False
    asked = {pair for pair in _pairs(here.query, page.encoding) if pair[1] == word.casefold()}
    names = {name for name, _value in _pairs(here.query, page.encoding)}
    if asked and there.path == here.path and {name for name, _value in _pairs(there.query, page.encoding)} == names:
        return True  # the same search for other words
    if asked:
        below = any(_is_below(*paths) for paths in ((there.path, here.path), (here.path, there.path)))
        is_format = there.path.startswith(f"{here.path}.")  # `/list.json` has the results of `/list`
        return (there.path == here.path or below or is_format) and bool(asked & _pairs(there.query, page.encoding))
    ours, theirs = (_decoded(parts.path, page.encoding).split("/")[1:] for parts in (here, there))
    says = [part for part in ours if word.casefold() in (part, NAMED.sub("", part))]
    if says:
        return theirs[:1] == ours[:1] and says[0] in theirs
    return there.path == here.path and not there.query  # a search by POST: only its own address


def _leads_back(url: str, page: ParsedPage) -> bool:
    """Returns whether a link leads to a site's front page, or to the page itself without what it was asked."""
    there, here = urlsplit(url), urlsplit(page.url)
    return there.netloc == here.netloc and not there.query and there.path in ("", "/", here.path)


def _pairs(query: str, encoding: str) -> set[tuple[str, str]]:
    pairs = (pair.partition("=") for pair in re.split("[&;]", query))
    return {(name, _decoded(value, encoding)) for name, _, value in pairs}


def _decoded(value: str, encoding: str) -> str:
    return unquote_plus(value, encoding=encoding, errors="replace").casefold()


def _is_below(path: str, top: str) -> bool:
    return path.startswith(top.rstrip("/") + "/")


def _place(anchor: Anchor) -> tuple[str, ...]:
    """Returns the tags of all that a link is in, by which repeated blocks are told."""
    return tuple(outer.tag for outer in ancestors(anchor.element))


def _named_place(anchor: Anchor) -> tuple[tuple[str, ...], ...]:
    """Returns the tags and classes of all that a link is in, by which it is told from one in a menu."""
    return tuple((outer.tag, *selectors.classes(outer)) for outer in ancestors(anchor.element))


def _candidates(anchors: Sequence[Anchor]) -> list[list[Anchor]]:
    """Returns sets of links that may be the results: those in one place of the tree, and those of them with a name."""
    places: defaultdict[Any, list[Anchor]] = defaultdict(list)
    for anchor in anchors:
        places[_place(anchor)].append(anchor)
    sets = []
    for links in places.values():
        sets.append(links)
        named: defaultdict[Any, list[Anchor]] = defaultdict(list)
        for anchor in links:
            for level, element in enumerate([anchor.element, *_near(anchor.element)]):
                for name in selectors.classes(element):
                    named[level, name].append(anchor)
                if element.tag in ("td", "th"):
                    named[level, _column(element)].append(anchor)
        sets += [subset for subset in named.values() if SHARE_OF_BLOCK * len(links) <= len(subset) < len(links)]
    return sets


def _different_instead(
    links: Sequence[Anchor], candidates: Sequence[list[Anchor]], page: ParsedPage, word: str
) -> list[Anchor] | None:
    """Returns links that are different in each row, of rows in which the given ones repeat as those to authors do.

    They may be dates: where results have no titles, these lead to them.

    Returns:
        None: There are none; or the given ones say the word, as titles do, and so repeat a result.
    """
    if not _repeat(links) or _share_with(word, links) * 2 > 1:
        return None
    different = [candidate for candidate in candidates if not _repeat(candidate) and _are_told(candidate)]
    for others in sorted(different, key=lambda candidate: _quality(candidate, word), reverse=True):
        own = {anchor.element for anchor in others}
        rest = [anchor for anchor in links if anchor.element not in own]
        if _repeat(rest) and _one_between_any_two(rest, others, page):
            return others
    return None


def _repeat(links: Sequence[Anchor]) -> bool:
    return len({anchor.url for anchor in links}) < len(links)


def _are_told(links: Sequence[Anchor]) -> bool:
    """Returns whether texts tell links from each other, as "Reply" in each row doesn't."""
    return _are_dates(links) or len({anchor.text for anchor in links}) * 2 > len(links)


def _one_between_any_two(rows: Sequence[Anchor], links: Sequence[Anchor], page: ParsedPage) -> bool:
    """Returns whether one of some links stands in each row, where rows are told by other links."""
    at = sorted(page.order[anchor.element] for anchor in links)
    tops = [page.order[anchor.element] for anchor in rows]
    return all(bisect_left(at, top) < bisect_left(at, following) for top, following in pairwise(tops))


def _are_dates(links: Sequence[Anchor]) -> bool:
    """Returns whether links say when something was, or only count."""
    dated = sum(to_utc(anchor.text, _UTC) is not None or anchor.text.isdecimal() for anchor in links)
    return dated * 2 > len(links)


def _score(links: Sequence[Anchor], word: str) -> float:
    """Returns how likely links are the results; dates or numbers are none but where each row of a table has one."""
    if not _are_dates(links):
        return _quality(links, word)
    urls = {anchor.url for anchor in links}
    is_column = len(urls) == len(links) >= MIN_ROWS and all(_has_row(anchor) for anchor in links)
    return DATE_ROW_SCORE * len(urls) if is_column else 0.0


def _has_row(anchor: Anchor) -> bool:
    """Returns whether a link stands in a row of a table that says more than the link does."""
    row = next((outer for outer in ancestors(anchor.element) if outer.tag == "tr"), None)
    return row is not None and width(row.text) >= ROW_WIDTHS * max(width(anchor.text), ROW_WIDTHS)


def _quality(links: Sequence[Anchor], word: str) -> float:
    """Returns how many results some links seem to be: more with long texts of their own, and with the word in them."""
    texts = [anchor.text for anchor in links]
    urls = {anchor.url for anchor in links}
    quality = median(min(width(text), TITLE_WIDTH) for text in texts) / TITLE_WIDTH
    quality *= len({text for text in texts if text}) / len(texts) * len(urls) / len(links)
    tags = Counter(outer.tag for anchor in links for outer in _near(anchor.element) if outer.tag in _HEADINGS)
    quality *= HEADING_FACTOR if sum(tags.values()) * 2 > len(links) else 1.0
    in_menu = sum(
        any(outer.tag in ("nav", "footer", "aside") for outer in ancestors(anchor.element)) for anchor in links
    )
    quality *= MENU_FACTOR if in_menu * 2 > len(links) else 1.0
    return len(urls) * quality * (1 + _share_with(word, links))


def _share_with(word: str, links: Sequence[Anchor]) -> float:
    """Returns how many of some links say the word, from 0 for none to 1 for all."""
    return sum(word.casefold() in anchor.text.casefold() for anchor in links) / len(links) if word else 0.0


def _near(element: Any) -> list[Any]:
    return [outer for outer, _level in zip(ancestors(element), range(LEVELS), strict=False)]


def _column(cell: Any) -> int:
    return sum(1 for _ in zip(range(LEVELS * 10), cell.previous_siblings, strict=False))
