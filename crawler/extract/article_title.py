"""The title of a page: the heading that `<title>` has, too, what the page declares, or the page's part of `<title>`.

Most sites write their own name, and that of a section, at an end of `<title>`, behind a sign that a title may have as
well. So the part that stands somewhere on the page by itself is the title, rather than what is before the first sign.
Where none does, what is known to be the site's is left out: what the page has for its site's name, and what other pages
have, too. Where nothing is known, it is a guess: behind a sign such as `|`, which hardly ever stands within a title,
all is the site's; behind others, such as dashes, only the last part, and before it what may be names of sections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from turbohtml import Element, Text

from crawler.base import text
from crawler.extract.declared import first_text, folded
from crawler.extract.lines import line_of
from crawler.extract.page_parts import class_names, naming
from crawler.extract.page_templates import TITLE, lineage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.base.item import Sureness
    from crawler.extract.declared import Declared
    from crawler.extract.page_parts import PageParts
    from crawler.extract.page_templates import PageComparison

MIN_FOLDED = 2  # letters and digits of a title that is compared with another one
MIN_PARAGRAPH = 60  # characters of a paragraph of a text, below which no heading is its title
MAX_NUMBER_CHARACTERS = 40  # of a heading that is a number with what it counts
MAX_STANDING = 2_000  # elements whose texts are compared with parts of a title
MAX_SEPARATORS = 20  # of a title
MAX_CHARACTERS = 2_000  # of one
MAX_LOGOS = 100  # elements that may have the name of the site
MAX_SECTION_CHARACTERS = 100  # of the name of a section of the site

_separators = re.compile(r"\s+[-\u2013\u2014|\u00b7\u2022:\u00bb\u00ab/]+\s+|\s+::\s+|\s*[|\u00bb_]\s*|\s+(?=\[)")
_strong = re.compile(r"[|\u00b7\u2022\u00bb\u00ab_]|::").search  # signs that hardly ever stand within a title
# The same, and any other sign beside a blank. A row of signs is only looked at from its first one.
_edges = re.compile(r"\s*(?<![^\w\s])[^\w\s]+\s+|\s+[^\w\s]+\s*|\s*[|\u00bb_]\s*")
_colons = re.compile(r":\s+")  # behind the name of a site that stands first
# A heading such as `Issue 12`, `#12` or `2026`.
_is_number = re.compile(r"(?:[^\W\d]+\s*){0,2}[#\u2116]?\s*\d+\W*").fullmatch
_is_bare_number = re.compile(r"[#\u2116(\[]*\s*\d+\s*[)\]]?").fullmatch
_SIGNS_BEYOND_NUMBER = " #:;.,)]|-\u2013\u2014\u00b7\uff1a\u3000"
_HOLDERS = "a, b, strong, em, i, span, div, li, td, th, dt, dd, p, caption, label, summary, h1, h2, h3, h4, h5, h6"
_FRAME = frozenset({"header", "nav", "aside"})
_SITE_METAS = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_LOGOS = "a[href], [class*=logo i], [id*=logo i], [class*=brand i], [class*=masthead i], [class*=site i], [id*=site i]"
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
        self._parts, self._declared, self._comparison = parts, declared, comparison
        element = parts.tree.select_one("head title, title")
        whole = text.line(element.text[:MAX_CHARACTERS]) if element is not None else ""
        self._whole = text.line(declared.as_shown(whole)) or whole
        told = first_text(declared.article.get("headline")) or first_text(declared.article.get("name"))
        titles = (one[:MAX_CHARACTERS] for one in (told, declared.metas.get("og:title", "")))
        titles = (text.line(declared.as_shown(one)) for one in titles)
        self._told, self._og = (one if self._is_own(one) else "" for one in titles)
        behind = _split(self._whole)[1:]
        self._told_site = folded(declared.metas.get("og:site_name", ""))
        self._site_name = self._told_site or folded(behind[-1] if behind else "")
        self._all = [one for one in (self._told, self._og, self._whole) if one]
        self._parts_of_whole = _Parts(self._whole)

    def read(self) -> Title:
        numbered: Title | None = None
        for heading, written in self._parts.headings:
            if self._is_number_of_title(written):
                numbered = numbered or Title(self._beyond(written), "guess", heading)
                continue
            words = self._without_number(heading, written)
            if len(folded(words)) < MIN_FOLDED or folded(words) == self._site_name or not self._is_own(words):
                continue
            if self._is_told(heading, words):
                return Title(words, "exact", heading)
        if self._told:
            return Title(self._told, "exact")
        return numbered or self._first_heading() or self._part()

    def _is_number_of_title(self, heading: str) -> bool:
        """Returns whether a number, and what it counts, is all of a heading, and a title or a part of it begins so."""
        if not heading or len(heading) > MAX_NUMBER_CHARACTERS or not _is_number(heading):
            return False
        return any(_beyond_number(heading, one) for one in (self._told, self._og, *self._parts_of_whole.words))

    def _beyond(self, heading: str) -> str:
        """Returns the title that begins with the number that is all of a heading.

        It goes on behind a sign unless that is before the site's part: as far as it stands on the page by itself, or
        else as far as it is the page's.
        """
        for title in (self._told, self._og):
            if beyond := _beyond_number(heading, title):
                return beyond
        parts = self._parts_of_whole
        first = next(at for at, part in enumerate(parts.words) if _beyond_number(heading, part))
        longer = [_beyond_number(heading, parts.joined(first, last)) for last in range(first, len(parts.words))]
        last = max(self._own_parts(parts)[1], first)
        return self._standing(longer[-1], longer) or longer[last - first]

    def _is_told(self, heading: Element, words: str) -> bool:
        """Returns whether a heading is what a title begins or ends with, up to a sign.

        A heading of the highest level may be what stands before any sign, and below a paragraph; another one may not,
        since headings within a text often have the first words of its title.
        """
        is_highest = heading.tag == "h1"
        return folded(words) in self._folded_ends[is_highest] and (is_highest or not self._is_below_text(heading))

    @cached_property
    def _folded_ends(self) -> dict[bool, frozenset[str]]:
        """What the titles begin and end with, folded: up to any sign (True), or before one only up to a separator."""
        behind = {folded(end) for one in self._all for end in _ends(one, _edges, only_behind=True)}
        return {
            any_sign: frozenset(behind.union(folded(end) for one in self._all for end in _ends(one, signs)))
            for any_sign, signs in ((True, _edges), (False, _separators))
        }

    def _is_below_text(self, heading: Element) -> bool:
        """Returns whether a paragraph of a text stands above a heading."""
        if self._above_text is None or heading in self._above_text:
            return False
        return self._parts.body is None or self._parts.body in heading.ancestors

    @cached_property
    def _above_text(self) -> frozenset[Any] | None:
        """The headings above the first paragraph of the text; None if there is no such paragraph."""
        above = []
        body = self._parts.body
        for element in (self._parts.tree if body is None else body).select("p, h1, h2, h3"):
            if element.tag != "p":
                above.append(element)
            elif len(element.text) >= MIN_PARAGRAPH and not self._parts.is_aside(element):
                return frozenset(above)
        return None

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
        titles = self._folded_titles
        is_beside = any(folded(rest) in one for one in titles) and not any(folded(words) in one for one in titles)
        return rest if is_beside else words

    @cached_property
    def _folded_titles(self) -> list[str]:
        return [*map(folded, self._all)]

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
        if self._is_whole_before_site():
            return Title(self._whole, "guess")
        title = self._og or self._whole
        if standing := self._standing(title, (*_ends(title, _separators), *_ends(title, _colons, only_behind=True))):
            return Title(standing, "guess")
        parts = _Parts(title)
        first, last = self._own_parts(parts, is_og=title != self._whole)
        if within := self._heading_within(parts, first):
            return within
        is_only = bool(self._og) and [*map(self._is_own, parts.words)].count(True) == 1
        return Title(parts.joined(first, last), "exact" if is_only else "guess")

    def _is_whole_before_site(self) -> bool:
        """Returns whether all of `<title>` is what og:title has before a separator, and not the name of the site."""
        is_before = self._whole != self._og and self._og.startswith(self._whole)
        if not is_before or self._whole not in _ends(self._og, _separators):
            return False
        return folded(self._whole) not in self._site_names | {self._told_site, ""} and self._is_own(self._whole)

    def _heading_within(self, parts: _Parts, own: int) -> Title | None:
        """Returns the first heading that has a part of a title, or several in a row, unless it is below a text.

        One part alone must be the first that is the page's: a later one may be a section, which has a heading, too.

        Args:
            parts: Of the title.
            own: Where the first part is that is the page's.
        """
        places = range(len(parts.words))
        runs = {
            folded(parts.joined(first, last))
            for first in places
            for last in places[first:]
            if last > first or first == own
        }
        for heading, written in self._parts.headings if len(parts.words) > 1 else ():
            words = folded(written)
            if len(words) < MIN_FOLDED or words not in runs or words in self._site_names:
                continue
            if self._is_own(written) and not self._is_below_text(heading):
                return Title(written, "guess", heading)
        return None

    def _own_parts(self, parts: _Parts, *, is_og: bool = False) -> tuple[int, int]:
        """Returns the first and the last part of a title that are the page's, as all between is; (0, -1) for none.

        Args:
            parts: Of the title.
            is_og: It is og:title, and `<title>` is another one; so behind a sign such as a dash it has the site's name
                only if that is known to be one.
        """
        places = [at for at, part in enumerate(parts.words) if _is_bare_number(part) is None]
        places = places or [*range(len(parts.words))]
        own = [at for at in places if self._is_own(parts.words[at])]
        if not own:
            return 0, -1
        first, last = own[0], own[-1]
        if first == last or len(own) < len(places):  # what other pages have, too, is the site's
            return first, last
        if folded(parts.words[last]) not in self._site_names and folded(parts.words[first]) in self._site_names:
            first = own[1]
            return first, parts.until_strong(first, last) if parts.is_strong(first) else last
        if parts.is_strong(last):
            return first, parts.until_strong(first, last)
        if is_og and folded(parts.words[last]) not in self._site_names | {self._site_name}:
            return first, last
        last -= 1
        while last > first and folded(parts.words[last]) in self._sections:
            last -= 1
        return first, last

    @cached_property
    def _site_names(self) -> frozenset[str]:
        """What the page calls its site, folded: what it declares, its logo, and what leads to the site's first page."""
        found = [self._declared.metas.get(name, "") for name in _SITE_METAS]
        for element in self._parts.tree.select(_LOGOS)[:MAX_LOGOS]:
            if _is_of_frame(element):
                found += [line_of(element), *(one.attr("alt") or "" for one in element.select("img[alt]")[:1])]
        return frozenset(map(folded, found)) - {""}

    @cached_property
    def _sections(self) -> frozenset[str]:
        """What may be the name of a section of the site, folded: a link of the page, or a heading not below a text."""
        links = (one.text for one in self._parts.tree.select("a[href]")[:MAX_STANDING])
        headings = (written for heading, written in self._parts.headings if not self._is_below_text(heading))
        return frozenset(folded(one) for one in (*links, *headings) if len(one) <= MAX_SECTION_CHARACTERS)

    def _standing(self, title: str, ends: Iterable[str]) -> str:
        """Returns the longest beginning or end of a title that is the whole text of an element; empty for none.

        It is the one of most parts; of two alike the beginning, since most sites' names stand at the end. What leads to
        the first page of a site is its name.

        Args:
            title: As written.
            ends: Its beginnings and ends.
        """
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


class _Parts:
    """A title, and what stands between its separators, such as that before the site's name.

    Behind as many of them as are looked at, all is one part.

    Args:
        title: As written.
    """

    def __init__(self, title: str) -> None:
        signs = islice(_separators.finditer(title), MAX_SEPARATORS)
        ends = [*((one.start(), one.end()) for one in signs), (len(title), len(title))]
        starts = [0, *(end for _start, end in ends)]
        spans = [(start, end) for start, (end, _next) in zip(starts, ends, strict=False) if start < end]
        self._title, self._spans = title, spans or [(0, len(title))]
        self.words = [title[start:end] for start, end in self._spans]

    def joined(self, first: int, last: int) -> str:
        """Returns all from one part to another one."""
        return self._title[self._spans[first][0] : self._spans[last][1]] if first <= last else ""

    def is_strong(self, at: int) -> bool:
        """Returns whether the sign before a part, which isn't the first one, hardly ever stands within a title."""
        return _strong(self._title, self._spans[at - 1][1], self._spans[at][0]) is not None

    def until_strong(self, first: int, last: int) -> int:
        """Returns the part before the first such sign between two parts; the last one of them if there is none."""
        return next((at for at in range(first, last) if self.is_strong(at + 1)), last)


def _split(title: str) -> list[str]:
    """Returns what stands between the separators of a title, such as that before the site's name."""
    return [part for part in _separators.split(title) if part] or [title]


def _beyond_number(heading: str, title: str) -> str:
    """Returns the title that begins with the number that is all of a heading, and says more; empty: it doesn't.

    It is without that number where a kind is named with it: `Issue 12: Lamp broken` is the title `Lamp broken`, but
    `2026 floods` stays as it is.
    """
    number = folded(heading)
    if not number or not folded(title[: 2 * MAX_NUMBER_CHARACTERS]).startswith(number):
        return ""
    at = 0
    while at < min(len(title), 2 * MAX_NUMBER_CHARACTERS) and len(folded(title[:at])) < len(number):
        at += 1
    if folded(title[:at]) != number or title[at : at + 1].isdigit():
        return ""
    beyond = title[at:].lstrip(_SIGNS_BEYOND_NUMBER)
    if beyond.startswith("(") and beyond.find(")") == len(beyond) - 1:
        beyond = beyond[1:-1]
    return title if beyond and heading.isdigit() else beyond
