"""The title of a page: the heading that `<title>` has, too, what the page declares, or the page's part of `<title>`.

Most sites write their own name, and that of a section, at an end of `<title>`, behind a sign that a title may have as
well. So the part that stands somewhere on the page by itself is the title, rather than what is before the first sign.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from turbohtml import Element, Text

from crawler.base import text
from crawler.extract.declared import first_text, folded
from crawler.extract.page_parts import class_names, naming
from crawler.extract.templates import TITLE, lineage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.extract.declared import Declared
    from crawler.extract.page_parts import PageParts
    from crawler.extract.templates import PageComparison
    from crawler.base.item import Sureness

MIN_FOLDED = 2  # letters and digits of a title that is compared with another one
MIN_PARAGRAPH = 60  # characters of a paragraph of a text, below which no heading is its title
MAX_NUMBER_CHARACTERS = 40  # of a heading that is a number with what it counts
MAX_STANDING = 2_000  # elements whose texts are compared with parts of a title
MAX_SEPARATORS = 20  # of a title

_separators = re.compile(r"\s+[-\u2013\u2014|\u00b7\u2022:\u00bb\u00ab/]+\s+|\s+::\s+|\s*[|\u00bb_]\s*|\s+(?=\[)")
_edges = re.compile(r"\s*[^\w\s]+\s+|\s+[^\w\s]+\s*|\s*[|\u00bb_]\s*")  # the same, and any other sign beside a blank
_colons = re.compile(r":\s+")  # behind the name of a site that stands first
# A heading such as `Issue 12`, `#12` or `2026`.
_is_number = re.compile(r"(?:[^\W\d]+\s*){0,2}[#\u2116]?\s*\d+\W*").fullmatch
_is_bare_number = re.compile(r"[#\u2116(\[]*\s*\d+\s*[)\]]?").fullmatch
_SIGNS_BEYOND_NUMBER = " #:;.,)]|-\u2013\u2014\u00b7\uff1a\u3000"
_HOLDERS = "a, b, strong, em, i, span, div, li, td, th, dt, dd, p, caption, label, summary, h1, h2, h3, h4, h5, h6"
_FRAME = frozenset({"header", "nav", "aside"})
_site_names = naming("brand branding logo masthead site-?name site-?title sitename")


@dataclass(frozen=True, slots=True)
class Title:
    """What a page is called.

    Attributes:
        words: Its title; empty if it has none.
        sure: How sure that is.
        heading: The heading with it; None if it stands in none.
    """

    words: str
    sure: Sureness
    heading: Element | None = None


def read_title(parts: PageParts, declared: Declared, comparison: PageComparison) -> Title:
    """Returns the title of a page."""
    return _Titles(parts, declared, comparison).read()


class _Titles:
    """What may be the title of one page."""

    def __init__(self, parts: PageParts, declared: Declared, comparison: PageComparison) -> None:
        self._parts, self._comparison = parts, comparison
        element = parts.tree.select_one("head title, title")
        self._whole = text.line(element.text) if element is not None else ""
        told = first_text(declared.article.get("headline")) or first_text(declared.article.get("name"))
        self._told, self._og = (one if self._is_own(one) else "" for one in (told, declared.metas.get("og:title", "")))
        behind = _split(self._whole)[1:]
        self._told_site = folded(declared.metas.get("og:site_name", ""))
        self._site_name = self._told_site or folded(behind[-1] if behind else "")
        self._all = [one for one in (self._told, self._og, self._whole) if one]

    def read(self) -> Title:
        numbered: Title | None = None
        for heading, written in self._parts.headings:
            if beyond := _beyond_number(written, (self._told, self._og, *_split(self._whole))):
                numbered = numbered or Title(beyond, "guess", heading)
                continue
            words = self._without_number(heading, written)
            if len(folded(words)) < MIN_FOLDED or folded(words) == self._site_name or not self._is_own(words):
                continue
            if self._is_told(heading, words):
                return Title(words, "exact", heading)
        if self._told:
            return Title(self._told, "exact")
        return numbered or self._first_heading() or self._part()

    def _is_told(self, heading: Element, words: str) -> bool:
        """Returns whether a heading is what a title begins or ends with, up to a sign.

        A heading of the highest level may be what stands before any sign, and below a paragraph; another one may not,
        since headings within a text often have the first words of its title.
        """
        is_highest = heading.tag == "h1"
        if not is_highest and self._is_below_text(heading):
            return False
        signs = _edges if is_highest else _separators
        ends = (end for one in self._all for end in (*_ends(one, signs), *_ends(one, _edges, only_behind=True)))
        return folded(words) in map(folded, ends)

    def _is_below_text(self, heading: Element) -> bool:
        """Returns whether a paragraph of a text stands above a heading."""
        body = self._parts.body
        for element in (self._parts.tree if body is None else body).select("p, h1, h2, h3"):
            if element == heading:
                return False
            if element.tag == "p" and len(element.text) >= MIN_PARAGRAPH and not self._parts.is_aside(element):
                return body is None or body in heading.ancestors
        return False

    def _without_number(self, heading: Element, words: str) -> str:
        """Returns the words of a heading without a number behind them that is in an element of its own.

        No title of the page has it there, but one has the words before: `Lamp broken <span>#12</span>`.
        """
        last = next(
            (one for one in reversed([*heading.descendants]) if isinstance(one, Text) and one.data.strip()), None
        )
        number = text.line(last.data) if last is not None and last.parent != heading else ""
        rest = words.removesuffix(number).rstrip()
        if not number or _is_bare_number(number) is None or rest == words:
            return words
        titles = [*map(folded, self._all)]
        is_beside = any(folded(rest) in one for one in titles) and not any(folded(words) in one for one in titles)
        return rest if is_beside else words

    def _first_heading(self) -> Title | None:
        """Returns the first heading of the highest level, unless it stands in a text, or only above it."""
        for heading, written in self._parts.headings:
            words = self._without_number(heading, written)
            if heading.tag == "h1" and self._is_own(words):
                body = self._parts.body
                is_near = body is None or body in heading.ancestors or not self._og
                return Title(words, "guess", heading) if is_near and not self._is_below_text(heading) else None
        return None

    def _part(self) -> Title:
        """Returns the page's own part of what its head has for a title."""
        if self._og and self._og != self._whole and self._og in _ends(self._whole, _separators):
            return Title(self._og, "exact")
        title = self._og or self._whole
        if standing := self._standing(title):
            return Title(standing, "guess")
        parts = _split(title)
        parts = [part for part in parts if _is_bare_number(part) is None] or parts
        own = [at for at, part in enumerate(parts) if self._is_own(part)]
        is_only = len(own) == 1 and bool(self._og)
        if len(own) == len(parts) or not own:  # nothing is known of other pages, or these have all of it
            return Title(parts[0] if own else "", "exact" if is_only else "guess")
        # Behind an end that other pages have, too, all is the page's.
        start = title.index(parts[own[0]])
        return Title(title[start : title.rindex(parts[own[-1]]) + len(parts[own[-1]])], "exact" if is_only else "guess")

    def _standing(self, title: str) -> str:
        """Returns the longest beginning or end of a title that is the whole text of an element; empty for none.

        It is the one of most parts; of two alike the beginning, since most sites' names stand at the end. What leads to
        the first page of a site is its name.
        """
        ends = (*_ends(title, _separators), *_ends(title, _colons, only_behind=True))
        wanted = {one.casefold(): one for one in ends if folded(one) not in ("", self._told_site) and self._is_own(one)}
        found: list[tuple[int, bool, bool, int, str]] = []
        for element in self._parts.tree.select(_HOLDERS)[:MAX_STANDING] if wanted else ():
            written = element.text
            one = wanted.get(text.line(written).casefold()) if len(written) <= 2 * len(title) + MIN_PARAGRAPH else None
            if one is not None and not _is_of_frame(element):
                is_in_frame = not _FRAME.isdisjoint(around.tag for around in lineage(element))
                found.append((len(_split(one)), title.startswith(one), not is_in_frame, len(one), one))
        return max(found)[-1] if found else ""

    def _is_own(self, words: str) -> bool:
        return not self._comparison.others_have("title", words.casefold(), TITLE)


def _ends(title: str, signs: re.Pattern[str], *, only_behind: bool = False) -> Iterator[str]:
    """Yields a title, what stands before each of its signs, and what stands behind it.

    Args:
        title: As written.
        signs: What separates its parts.
        only_behind: Without what stands before a sign.
    """
    yield title
    for at, match in enumerate(signs.finditer(title)):
        if at >= MAX_SEPARATORS:
            return
        yield from () if only_behind else (title[: match.start()],)
        yield title[match.end() :]


def _is_of_frame(element: Element) -> bool:
    """Returns whether an element is of the site, and on each of its pages: its name, a way to its start, a footer."""
    links = [element] if element.tag == "a" else element.select("a[href]")
    homes = (urlsplit(one.attr("href") or "") for one in links if "[" not in (one.attr("href") or ""))
    leads_home = any(one.path in ("", "/") and (one.path or one.netloc) and not one.query for one in homes)
    return leads_home or any(
        one.tag == "footer" or _site_names.search(class_names(one)) is not None for one in lineage(element)
    )


def _split(title: str) -> list[str]:
    """Returns what stands between the separators of a title, such as that before the site's name."""
    return [part for part in _separators.split(title) if part] or [title]


def _beyond_number(heading: str, titles: Iterable[str]) -> str:
    """Returns the title that begins with the number that is all of a heading, and says more; empty: none does.

    It is without that number where a kind is named with it: `Issue 12: Lamp broken` is the title `Lamp broken`, but
    `2026 floods` stays as it is.
    """
    is_number = len(heading) <= MAX_NUMBER_CHARACTERS and _is_number(heading)
    number = folded(heading) if is_number else ""
    for title in titles if number else ():
        at = 0
        while at < min(len(title), 2 * MAX_NUMBER_CHARACTERS) and len(folded(title[:at])) < len(number):
            at += 1
        if folded(title[:at]) == number and not title[at : at + 1].isdigit():
            beyond = title[at:].lstrip(_SIGNS_BEYOND_NUMBER)
            if beyond.startswith("(") and beyond.find(")") == len(beyond) - 1:
                beyond = beyond[1:-1]
            return title if beyond and heading.isdigit() else beyond
    return ""
