"""When an article was published: what the page declares, then what stands by its title, then what is named for a time.

A time elsewhere, as that of another story, of an answer or of today, is none of the page's. Where nothing says when it
was published, the time of its last change counts, as a guess: wikis say no other, and an item has no field for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from turbohtml import Text

from crawler.extract.article_change import Change, last_change
from crawler.extract.article_icons import behind_icons
from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.declared import first_text
from crawler.extract.lines import line_of
from crawler.extract.page_parts import class_names
from crawler.extract.page_templates import DAY, INSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from turbohtml import Element

    from crawler.base.item import Sureness
    from crawler.extract.article_places import Places
    from crawler.extract.declared import Declared
    from crawler.extract.page_templates import PageComparison
    from crawler.sites import Site

MAX_DATES = 30  # places that are looked at, since to read a date in words takes 0.1 ms
MAX_DATE_CHARACTERS = 100  # of a place for a date
AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow; a later date isn't that of a publication
PLACES_APART = (timedelta(hours=-12), timedelta(0), timedelta(hours=14))  # where it may be another day now

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
_METAS = tuple(
    """article:published_time og:article:published_time article:published datepublished date dc.date dc.date.issued
    dcterms.created dcterms.date dcterms.issued pubdate publishdate publish_date publication_date parsely-pub-date
    sailthru.date citation_publication_date citation_date weibo:article:create_at""".split()
)
_DATES = (
    ", ".join(
        f"[class*={name} i]"
        for name in ("date", "time", "publish", "posted", "lastmod", "modified", "created", "info", "byline", "meta")
    )
    + ", [id*=lastmod i], [id*=date i], [id*=info i], [itemprop*=date i]"
)
_TIMES = "[datetime]:not(del, ins), abbr.published[title]"
_is_later = re.compile(r"modif|updat|lastmod|last.?edit|edited|changed", re.IGNORECASE).search
# The same at the end of a text: behind other words, as in `Edited by Ann Lee`, no time of a change follows.
_leads_to_change = re.compile(
    r"(?:(?:modif|updat|chang)\w*|lastmod|last.?edit\w*|edited)(?:\s+(?:on|at|le|am|date|time))*\W*$"
    r"|(?<!\w)last.(?:modif|updat|chang|edit)\w*\s+by\s[^.;]*$",
    re.IGNORECASE,
).search
_tells_making = re.compile(r"(?<!\w)(?:asked|created|posted|published|started|submitted)(?!\w)", re.IGNORECASE).search
# An offset, or Z, stands behind a time of day: in 03-11-2026 there is none, nor in MARZ.
_has_zone = re.compile(
    r"(?:\d[:h]\d\d(?:[:.,]\d+)*|T\d{2,6})\s?(?:[ap]\.?m\.?\s?)?\(?(?:Z|[+-]\d\d:?\d\d)\b|(?:GMT|UTC)\b|^\d{10,13}$",
    re.IGNORECASE,
).search
_in_address = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)").search
_has_year = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)").search


@dataclass(frozen=True, slots=True)
class _Written:
    """What may be the time.

    Attributes:
        words: As they stand on the page.
        sure: How sure the time is if they are read.
        is_outside: They stand outside of the article, where today's date may be.
        is_of_change: They tell when the page was changed, and perhaps published long before.
    """

    words: str
    sure: Sureness = "exact"
    is_outside: bool = False
    is_of_change: bool = False


class TimeReader:
    """Reads when a page was published.

    Args:
        declared: What the page declares.
        places: Where its parts stand.
        comparison: The page beside others.
        site: Whose dates it has.
        language: BCP 47 tag of the page; empty if it names none.
    """

    def __init__(
        self, declared: Declared, places: Places, comparison: PageComparison, site: Site, language: str
    ) -> None:
        self._declared, self._places, self._comparison = declared, places, comparison
        self._site, self._language = site, language
        self._latest = datetime.now(UTC) + AHEAD

    def read(self, listed: Iterable[str], lines: Iterable[Element]) -> tuple[str | None, Sureness]:
        """Returns the time as UTC, None if none is found, and how sure that is.

        Args:
            listed: What lists of properties and heads of letters say of it.
            lines: What stands right before the text, or below the title.
        """
        clock: tuple[str, Sureness] | None = None  # of today, and elsewhere: it counts if there is nothing else
        for one in self._candidates(listed, lines):
            found = self._utc(one.words)
            if found is None or self._others_have(one.words, found):
                continue
            if one.is_outside and self._is_today(found):
                clock = clock or (None if isinstance(found, Day) else (str(found), self._sure(one, found)))
                continue
            return str(found), self._sure(one, found)
        return clock or (None, "guess")

    @cached_property
    def declared_time(self) -> str | None:
        """When the page was published by what it declares, as UTC; None if it declares no such time."""
        found = filter(None, map(self._utc, self._told()))
        return next((str(one) for one in found if not isinstance(one, Day | Guess)), None)

    @cached_property
    def change(self) -> Change:
        """What the page says of its last change."""
        return last_change(self._places)

    @cached_property
    def named(self) -> list[Element]:
        """The places beside the text that are named for a date, or for what stands beside one, and have a number."""
        found = islice(self._places.beside_text(_DATES), MAX_DATES)
        return [one for one in found if _is_short_with_number(line_of(one))]

    @cached_property
    def _behind_icons(self) -> list[str]:
        """What stands by the title behind icons of calendars and clocks, and has a number."""
        found = behind_icons(self._places.lines, "time")
        return [*islice((one for one in found if _is_short_with_number(one)), MAX_DATES)]

    def _candidates(self, listed: Iterable[str], lines: Iterable[Element]) -> Iterator[_Written]:
        """Yields what may be the time, best first; what tells of a change comes last."""
        yield from map(_Written, self._told())
        marked = [*self._places.beside_text(_TIMES)]
        titled = [one for one in self._places.beside_text("[title]") if self._has_whole_title(one)]
        changed = [one for one in (*marked, *titled) if _is_of_change(one)]
        yield from self._near(marked, _attribute, without=changed)
        yield from self._near(titled, _attribute, without=changed)
        near_changes = self._near([one for one in marked if one in changed], _attribute)
        yield from (replace(one, is_of_change=True) for one in near_changes)
        yield from self._linked()
        yield from map(_Written, listed)
        later = [one for one in self.named if _is_named_for_change(one)]
        yield from self._near(self.named, line_of, without=later)
        yield from (_Written(one, "guess") for one in self._behind_icons if _is_later(one) is None)
        for line in lines:
            if _is_short_with_number(line_of(line)):
                is_outside = not self._places.is_of_article(line)
                yield _Written(line_of(line), "guess", is_outside, is_of_change=_tells_change(line_of(line)))
        changes = (
            (first_text(one.get("dateModified")) for one in self._own),
            map(_attribute, changed[:MAX_DATES]),
            (line for line in map(line_of, later) if not _tells_making(line)),
            (one for one in self._behind_icons if _is_later(one) is not None),
        )
        yield from (_Written(line) for line in map(line_of, later) if _tells_making(line))
        yield from (_Written(one, is_of_change=True) for one in chain.from_iterable(changes))
        yield _Written(self.change.date, is_of_change=True)

    @property
    def _own(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._declared.article, self._declared.web_page

    def _told(self) -> Iterator[str]:
        yield from (first_text(one.get(name)) for one in self._own for name in _PUBLISHED)
        yield from (self._declared.metas.get(name, "") for name in _METAS)

    def _is_near(self, element: Element) -> bool:
        """Returns whether a time there may be the page's."""
        return not self._places.is_apart(element, in_header=False) and not self._places.is_behind(element)

    def _near(
        self, elements: Iterable[Element], words_of: Callable[[Element], str], without: Sequence[Element] = ()
    ) -> Iterator[_Written]:
        """Yields what some elements say where it may be the page's time."""
        near = (one for one in elements if one not in without and self._is_near(one))
        for one in islice(near, MAX_DATES):
            yield _Written(words_of(one), is_outside=not self._places.is_of_article(one))

    def _has_whole_title(self, element: Element) -> bool:
        """Returns whether the attribute of an element says when that was of which its text tells only a part."""
        title, written = element.attr("title") or "", line_of(element)
        if not (_has_year(title) and 0 < len(written) <= MAX_DATE_CHARACTERS) or _has_year(written):
            return False
        is_time = any(map(str.isdigit, written)) or self._utc(written) is not None
        found = self._utc(title) if is_time else None
        return found is not None and not isinstance(found, Guess)

    def _linked(self) -> Iterator[_Written]:
        """Yields the instants to which words such as `3 years ago` link, in places that are named for dates."""
        for place in islice(filter(self._is_near, self._places.beside_text(_DATES)), MAX_DATES):
            for link in place.select("a[href]")[:MAX_DATES] if len(place.text) <= MAX_DATE_CHARACTERS else ():
                if found := _in_address(unquote(link.attr("href") or "")):
                    yield _Written(found[0])

    def _utc(self, words: str) -> str | None:
        """Returns a time as UTC; None for none, or for one of the future."""
        found = to_utc(words, self._site.zone, language=self._language)
        return None if found is None or datetime.fromisoformat(found) > self._latest else found

    def _others_have(self, words: str, found: str) -> bool:
        return self._comparison.others_have("date", words, DAY if isinstance(found, Day) else INSTANT)

    def _is_today(self, found: str) -> bool:
        """Returns whether a time is of today, anywhere if it is a day alone."""
        now = datetime.now(UTC)
        shifts = PLACES_APART if isinstance(found, Day) else (timedelta(0),)
        return datetime.fromisoformat(found).date() in {(now + shift).date() for shift in shifts}

    def _sure(self, one: _Written, found: str) -> Sureness:
        if one.is_of_change:
            return "guess"
        knows_zone = self._site.timezone != "UTC" or _has_zone(one.words) is not None
        is_guess = isinstance(found, Guess) or not knows_zone
        return "day" if isinstance(found, Day) else "guess" if is_guess else one.sure


def _tells_change(line: str) -> bool:
    """Returns whether a line says when a page was changed, and not when it was made."""
    return _is_later(line) is not None and _tells_making(line) is None


def _attribute(element: Element) -> str:
    return element.attr("datetime") or element.attr("title") or ""


def _is_short_with_number(line: str) -> bool:
    return len(line) <= MAX_DATE_CHARACTERS and any(map(str.isdigit, line))


def _is_of_change(element: Element) -> bool:
    """Returns whether the names of an element, or the text right before it, say that it is the time of a change."""
    names = class_names(element)
    return _follows_change(element) or (_is_later(names) is not None and "publish" not in names)


def _is_named_for_change(element: Element) -> bool:
    """Returns whether what a place for a date says, or is named for, or the text right before it, tells of a change."""
    return _is_later(f"{line_of(element)} {class_names(element)}") is not None or _follows_change(element)


def _follows_change(element: Element) -> bool:
    """Returns whether the text right before an element ends with words such as `Last edited on`."""
    before = element.previous_sibling
    return isinstance(before, Text) and _leads_to_change(before.data[-MAX_DATE_CHARACTERS:]) is not None
