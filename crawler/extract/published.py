"""When a page was published: what it declares, then what stands by its title, then its address.

A time elsewhere, as that of another story, of an answer or of today, is none of the page's. Where nothing says when it
was published, the time of its last change counts, as a guess: wikis say no other, and an item has no field for it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.declared import first_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.base.item import Sureness
    from crawler.extract.blocks import TextBlock
    from crawler.extract.declared import Declared
    from crawler.sites import Site

MAX_CHARACTERS = 100  # of a place for a date
MAX_DATES = 30  # places that are looked at, since to read a date in words takes 0.1 ms
AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow; a later date isn't that of a publication

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
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
_in_line = re.compile(
    r"""(?:\d{4}[-/.\u5e74]\s?\d{1,2}[-/.\u6708]\s?\d{1,2}\u65e5?|\d{1,2}[./]\d{1,2}[./]\d{4}
    |\d{1,2}(?:st|nd|rd|th|\.)?\s(?:de\s)?[^\W\d_]{3,10}\.?,?\s(?:de\s)?\d{4}|[^\W\d_]{3,10}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})
    (?:,?\s(?:at\s|um\s|\u00e0\s)?\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:UTC|GMT|Z|[+-]\d\d:?\d\d))?)?""",
    re.IGNORECASE | re.VERBOSE,
).search
_in_address = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/_-]|$)").search


def read_published(
    declared: Declared, lines: Iterable[TextBlock], site: Site, language: str, url: str
) -> tuple[str | None, Sureness]:
    """Returns when a page was published as UTC, None if that isn't found, and how sure it is.

    Args:
        declared: What it declares.
        lines: The blocks around its title, the nearest first.
        site: Whose dates it has.
        language: BCP 47 tag of the page; empty if it names none.
        url: Its address.
    """
    latest = datetime.now(UTC) + AHEAD
    for words, sure in _candidates(declared, [*lines], url):
        instant = to_utc(words, site.zone, language=language) if 0 < len(words) <= MAX_CHARACTERS else None
        if instant is not None and datetime.fromisoformat(instant) <= latest:
            return str(instant), _sureness(words, instant, sure, knows_zone=site.timezone != "UTC")
    return None, "guess"


def _candidates(declared: Declared, lines: list[TextBlock], url: str) -> Iterator[tuple[str, Sureness]]:
    own = declared.article, declared.web_page
    yield from ((first_text(one.get(name)), "exact") for one in own for name in _PUBLISHED)
    yield from ((declared.metas.get(name, ""), "exact") for name in _METAS)
    marked = [*_marked(lines)][:MAX_DATES]
    yield from ((words, "exact") for words, is_later in marked if not is_later)
    written = [(found[0], _is_later(line) is not None) for line in map(_line, lines) if (found := _in_line(line))]
    yield from ((words, "guess") for words, is_later in written[:MAX_DATES] if not is_later)
    if found := _in_address(url):
        yield "-".join(found.groups()), "guess"
    yield from ((first_text(one.get("dateModified")), "guess") for one in own)
    yield from ((words, "guess") for words, is_later in (*marked, *written[:MAX_DATES]) if is_later)


def _marked(lines: list[TextBlock]) -> Iterator[tuple[str, bool]]:
    """Yields the times in some lines that are marked as such, and whether each tells of a change."""
    for block in lines:
        boxes = [(0, len(block.text), around.element) for around in (block.box, block.box.parent) if around is not None]
        for begin, _end, element in (*block.inline, *boxes):
            if words := element.attr("datetime") or (element.attr("content") if element.attr("itemprop") else ""):
                around = f"{block.text[max(0, begin - 30) : begin]} {element.attr('class')} {element.attr('itemprop')}"
                yield words, _is_later(around) is not None


def _line(block: TextBlock) -> str:
    return " ".join(block.text.split())[: 2 * MAX_CHARACTERS]


def _sureness(words: str, instant: str, sure: Sureness, *, knows_zone: bool) -> Sureness:
    if sure == "guess":
        return "guess"
    if isinstance(instant, Day):
        return "day"
    return "exact" if (knows_zone or _has_zone(words)) and not isinstance(instant, Guess) else "guess"
