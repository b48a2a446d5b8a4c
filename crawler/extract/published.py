"""When a page was published: what it declares, then what stands by its title, then its address.

A time elsewhere, as that of another story, of an answer or of today, is none of the page's. Where nothing says when it
was published, the time of its last change counts, as a guess: wikis say no other, and an item has no field for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.dates.labels import LABELS, says_only
from crawler.extract.dates.vocabulary import CHANGED
from crawler.extract.declared import first_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turbohtml import Element

    from crawler.base.item import Sureness
    from crawler.extract.blocks import TextBlock
    from crawler.extract.declared import Declared
    from crawler.extract.evidence import BlockEvidence
    from crawler.sites import Site

MAX_CHARACTERS = 100  # of a place for a date
MAX_ADDRESS_CHARACTERS = 500  # of a link, that may name an instant
MAX_LONE_CHARACTERS = 40  # of a block that is a date and nothing else
MAX_CHANGE_CHARACTERS = 200  # of a line on the last change
MAX_DATES = 30  # places that are looked at, since to read a date in words takes 0.1 ms
AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow; a later date isn't that of a publication

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
_TIME_PROPERTIES = frozenset({*_PUBLISHED, "dateModified"})
_METAS = tuple(
    """article:published_time og:article:published_time article:published datepublished date dc.date dc.date.issued
    dcterms.created dcterms.date dcterms.issued pubdate publishdate publish_date publication_date parsely-pub-date
    sailthru.date citation_publication_date citation_date weibo:article:create_at published_time""".split()
)
_is_later = re.compile(
    r"modif|updat|lastmod|last.?edit|edited|changed|reviewed|aktualisiert|ge\u00e4ndert", re.IGNORECASE
).search
# An offset, or Z, stands behind a time of day: in 03-11-2026 there is none, nor in MARZ.
_has_zone = re.compile(
    r"(?:\d[:h]\d\d(?:[:.,]\d+)*|T\d{2,6})\s?(?:[ap]\.?m\.?\s?)?\(?(?:Z|[+-]\d\d:?\d\d)\b|(?:GMT|UTC)\b|^\d{10,13}$",
    re.IGNORECASE,
).search
date_in_line = re.compile(
    r"""(?:\d{4}[-/.\u5e74]\s?\d{1,2}[-/.\u6708]\s?\d{1,2}\u65e5?|\d{1,2}[./]\d{1,2}[./]\d{4}
    |\d{1,2}(?:st|nd|rd|th|\.)?\s(?:de\s)?[^\W\d_]{3,10}\.?,?\s(?:de\s)?\d{4}|[^\W\d_]{3,10}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})
    (?:(?:,?\s(?:at\s|um\s|\u00e0\s)?|T)\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:UTC|GMT|Z|[+-]\d\d:?\d\d))?)?""",
    re.IGNORECASE | re.VERBOSE,
).search
_instant_in = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)").search
# A line on the change of a whole page; one of a part, or of what the text tells, doesn't begin so.
_says_change = re.compile(
    r"(?:^|[|\u00b7\u2022])\W*(?:(?:this|the|page|article|document|was|diese|seite|wurde)\s+){0,4}(?:last|latest|most\srecent|zuletzt)"
    r"[\s-]+(?:am\s)?(?:modif|updat|edit|chang|revis|bearbeitet|ge\u00e4ndert|aktualisiert|\d)",
    re.IGNORECASE,
).search
# Before a date that says since when somebody takes part.
_is_of_member = re.compile(
    r"(?:registered|joined|founded|member since|registriert|mitglied seit)\W*$", re.IGNORECASE
).search
_named_for_time = re.compile(r"date|time|publish|posted|created", re.IGNORECASE).search
_in_address = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/_-]|$)").search


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """Where the text of a page may say when it was published.

    Attributes:
        lines: The blocks around its title, the nearest first.
        listed: What its lists of properties say of it.
        change: Its line on its last change; empty for none.
        lone: The only date that has a block for itself; empty for none.
    """

    lines: Sequence[TextBlock]
    listed: Sequence[str]
    change: str
    lone: str


def read_published(
    declared: Declared, written: WrittenTimes, site: Site, language: str, url: str
) -> tuple[str | None, Sureness]:
    """Returns when a page was published as UTC, None if that isn't found, and how sure it is.

    Args:
        declared: What it declares.
        written: Where its text may say so.
        site: Whose dates it has.
        language: BCP 47 tag of the page; empty if it names none.
        url: Its address.
    """
    latest, in_words = datetime.now(UTC) + AHEAD, [*_in_words(written.lines)]
    changes = {first_text(declared.article.get("dateModified")), *(words for words, is_later in in_words if is_later)}

    def read(words: str) -> str | None:
        instant = to_utc(words, site.zone, language=language) if 0 < len(words) <= MAX_CHARACTERS else None
        return instant if instant is not None and datetime.fromisoformat(instant) <= latest else None

    for words, sure in _candidates(declared, written, url):
        instant = read(words)
        if instant is None:
            continue
        if words in changes and sure == "exact":  # it may be no more than that: what people see tells
            seen = next(filter(None, (read(seen) for seen, is_later in in_words if not is_later)), instant)
            if seen[:10] < instant[:10]:
                return seen, "guess"
        return instant, _sureness(words, instant, sure, knows_zone=site.timezone != "UTC")
    return None, "guess"


def last_change(evidence: BlockEvidence, places: Sequence[int]) -> str:
    """Returns the only line outside of a page's text that says when it was changed; empty for none, or several."""
    own = frozenset(places)
    lines = {
        line
        for place, (block, line) in enumerate(zip(evidence.page.blocks, evidence.texts, strict=True))
        if len(line) <= MAX_CHANGE_CHARACTERS
        and _says_change(line)
        and date_in_line(line)
        and (place not in own or evidence.is_beside(block.box))
    }
    return lines.pop() if len(lines) == 1 else ""


def lone_date(evidence: BlockEvidence) -> str:
    """Returns the only date that has a block for itself, maybe with `Published`; empty for none, or several."""
    dates = set()
    for line in evidence.texts:
        if len(line) <= MAX_LONE_CHARACTERS and (date := date_in_line(line)):
            rest = line.replace(date[0], "")
            if not any(map(str.isdigit, rest)) and says_only(rest, LABELS - CHANGED, ""):
                dates.add(date[0])
    return dates.pop() if len(dates) == 1 else ""


def _candidates(declared: Declared, written: WrittenTimes, url: str) -> Iterator[tuple[str, Sureness]]:
    own = declared.article, declared.web_page
    yield from ((first_text(one.get(name)), "exact") for one in own for name in _PUBLISHED)
    yield from ((declared.metas.get(name, ""), "exact") for name in _METAS)
    marked = [*_marked(written.lines)][:MAX_DATES]
    yield from ((words, "exact") for words, is_later in marked if not is_later)
    yield from ((words, "exact") for words in written.listed)
    in_words = [*_in_words(written.lines)]
    yield from ((words, "guess") for words, is_later in in_words if not is_later)
    if found := _in_address(url):
        yield "-".join(found.groups()), "guess"
    yield from ((first_text(one.get("dateModified")), "guess") for one in own)
    yield from ((words, "guess") for words, is_later in (*marked, *in_words) if is_later)
    if found := date_in_line(written.change):
        yield found[0], "guess"
    yield written.lone, "guess"


def _in_words(lines: Sequence[TextBlock]) -> Iterator[tuple[str, bool]]:
    """Yields the dates in the words of some lines, and whether each tells of a change."""
    for line in map(_line, lines[:MAX_DATES]):
        date = date_in_line(line)
        if date and not _is_of_member(line[: date.start()]):
            yield date[0], _is_later(line) is not None


def _marked(lines: Sequence[TextBlock]) -> Iterator[tuple[str, bool]]:
    """Yields the times in some lines that are marked as such, and whether each tells of a change."""
    for block in lines:
        boxes = [(0, len(block.text), around.element) for around in (block.box, block.box.parent) if around is not None]
        for begin, end, element in (*block.inline, *boxes):
            if words := time_marking(element) or (block.text[begin:end] if element.tag == "time" else ""):
                names = f"{element.attr('class')} {element.attr('itemprop')}".lower()
                before = block.text[max(0, begin - 30) : begin]
                is_named_for_change = _is_later(names) is not None and "publish" not in names
                yield words, is_named_for_change or _is_later(before) is not None


def time_marking(element: Element) -> str:
    """Returns the time that an element has for programs, or of which it shows a part alone; empty for none."""
    is_of_page = not _TIME_PROPERTIES.isdisjoint((element.attr("itemprop") or "").split())
    if words := element.attr("datetime") or (element.attr("content") if is_of_page else ""):
        return words
    title = element.attr("title") or ""
    is_named = element.tag == "abbr" or _named_for_time(element.attr("class") or "") is not None
    if is_named and len(title) <= MAX_CHARACTERS and (_instant_in(title) or date_in_line(title)):
        return title
    address = (element.attr("href") or "")[:MAX_ADDRESS_CHARACTERS] if element.tag == "a" else ""
    linked = _instant_in(unquote(address)) if "?" in address else None  # as `3 days ago` links to that time in a log
    return linked[0] if linked is not None else ""


def _line(block: TextBlock) -> str:
    return " ".join(block.text.split())[: 2 * MAX_CHARACTERS]


def _sureness(words: str, instant: str, sure: Sureness, *, knows_zone: bool) -> Sureness:
    if sure == "guess":
        return "guess"
    if isinstance(instant, Day):
        return "day"
    return "exact" if (knows_zone or _has_zone(words)) and not isinstance(instant, Guess) else "guess"
