"""When a page was published: what it declares, then what stands by its title, then its address, then dates elsewhere.

The time of another story, of an answer or of today is none of the page's. Where nothing says when it was published, the
time of its last change counts, as a guess: wikis say no other, and an item has no field for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from crawler.base import crawl_time
from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.dates.cldr_names import month_of
from crawler.extract.dates.labels import LABELS, says_only
from crawler.extract.dates.spans import date_in_line, dates_in_line, instant_in
from crawler.extract.declared import first_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from turbohtml import Element

    from crawler.base.item import Sureness
    from crawler.extract.blocks import Box, TextBlock
    from crawler.extract.declared import Declared
    from crawler.extract.evidence import BlockEvidence
    from crawler.sites import Site

MAX_CHARACTERS = 100  # of a place for a date
MAX_ADDRESS_CHARACTERS = 500  # of a link, that may name an instant
MAX_LINE_CHARACTERS = 200  # of a line that has a date
MAX_LABEL_CHARACTERS = 40  # before a date, that say what was done then
MAX_WORDS_BEFORE, MAX_WORDS_BEHIND = 4, 8  # a date, in a line that is no sentence
MAX_DATES_OF_LINE = 3
MAX_LINES = 1_000  # with figures, in which dates are looked for
MAX_DATES = 30  # places that are looked at, since to read a date in words takes 0.1 ms
AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow; a later date isn't that of a publication

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
MAX_PRIMARY_CHARACTERS = 3  # of a tag of a language without a region
_REGIONS = {"uk": "gb", "us": "us", "gov": "us", "mil": "us", "edu": "us"} | {
    domain: domain for domain in ("au", "ie", "in", "my", "nz", "ph", "sg")
}
_LANGUAGES = {
    "at": "de",
    "ch": "de",
    "br": "pt",
    "mx": "es",
    "ar": "es",
    "cn": "zh",
    "tw": "zh",
    "jp": "ja",
    "kr": "ko",
} | {
    domain: domain
    for domain in ("bg", "de", "es", "fi", "fr", "it", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "tr")
}
_VAGUE_UNITS = frozenset({"month", "year"})  # that have passed, by which no day can be told
_TIME_PROPERTIES = frozenset({*_PUBLISHED, "dateModified"})
_METAS = tuple(
    """article:published_time og:article:published_time article:published datepublished date dc.date dc.date.issued
    dcterms.created dcterms.date dcterms.issued pubdate publishdate publish_date publication_date parsely-pub-date
    sailthru.date citation_publication_date citation_date weibo:article:create_at published_time""".split()
)
_is_later = re.compile(
    r"modif|updat|lastmod|last.?(?:edit|chang)|edited|changed|reviewed|revised|aktualisiert|ge\u00e4ndert|\u00e4nderung|bearbeitet"
    r"|mise?.\u00e0.jour|actualiza|aggiorna|bijgewerkt|gewijzigd|aktualizac|zaktualizowano|\u043e\u0431\u043d\u043e\u0432\u043b|\u0438\u0437\u043c\u0435\u043d\u0435\u043d|\u66f4\u65b0|\u4fee\u6539|\u7de8\u8f2f|\u7de8\u96c6",
    re.IGNORECASE,
).search
# An offset, or Z, stands behind a time of day: in 03-11-2026 there is none, nor in MARZ.
_has_zone = re.compile(
    r"(?:\d[:h]\d\d(?:[:.,]\d+)*|T\d{2,6})\s?(?:[ap]\.?m\.?\s?)?\(?(?:Z|[+-]\d\d:?\d\d)\b|(?:GMT|UTC)\b|^\d{10,13}$",
    re.IGNORECASE,
).search
_has_figures = re.compile(r"\d\d").search
# A line on the change of a whole page; one of a part, or of what the text tells, doesn't begin so.
_says_change = re.compile(
    r"""(?:^|[|\u00b7\u2022])\W*(?:
    (?:(?:this|the|page|article|document|was|diese|seite|wurde)\s+){0,4}(?:last|latest|most\srecent|zuletzt)
    [\s-]+(?:am\s)?(?:modif|updat|edit|chang|revis|bearbeitet|ge\u00e4ndert|aktualisiert|\d)
    |stand\s*:|letzte\s(?:\u00e4nderung|aktualisierung)|(?:zuletzt\s)?(?:aktualisiert|ge\u00e4ndert)\sam|derni\u00e8re\s(?:mise\s\u00e0\sjour|modif)
    |\u00faltima\s(?:actualiza|modifica)|ultim[oa]\s(?:aggiorn|modif)|laatst\s(?:bijgewerkt|gewijzigd)|ostatnia\s(?:aktualiz|modyf)
    |\u043f\u043e\u0441\u043b\u0435\u0434\u043d\u0435\u0435\s\u043e\u0431\u043d\u043e\u0432\u043b
    |\u6700[\u7d42\u540e\u5f8c]\u66f4\u65b0)""",
    re.IGNORECASE | re.VERBOSE,
).search
# Before a date that says since when somebody takes part, or what will be.
_is_of_other = re.compile(
    r"(?:registered|joined|founded|born|copyright|\u00a9|(?:member|customer) since|registriert|mitglied seit)\W*$",
    re.IGNORECASE,
).search
# A sentence about the page, as themes of blogs have one below each post.
_tells_of_itself = re.compile(
    r"(?:this\s(?:entry|post|article)\swas|dieser\s(?:beitrag|eintrag|artikel)\s(?:wurde|ist)|cet\s(?:article|billet)\sa|"
    r"est[ae]\s(?:entrada|art[i\u00ed]culo)\sfue|quest[oa']\s?(?:articolo|post)\s|dit\s(?:bericht|artikel)\s(?:is|werd)|ten\swpis)",
    re.IGNORECASE,
).match
_named_for_time = re.compile(
    r"date(?!d?-?(?:pick|rang))|time(?!line)|publish|posted|created|datum|fecha|byline|(?:post|entry|article)-?(?:meta|info)",
    re.IGNORECASE,
).search
_is_dotted = re.compile(r"\d{1,2}\.\s?\d{1,2}\.\s?\d{4}(?:\D|$)").match
_in_address = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2}|[a-z]{3,9})(?:[/-](\d{1,2}))?(?=[/_-]|$)").search


class WrittenDate(NamedTuple):
    """A date in the text of a page, and whether it is that of a change."""

    words: str
    is_later: bool


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """Where the text of a page may say when it was published.

    Attributes:
        first_post: When the first post of a thread was written; None on other pages.
        lines: The blocks around its title, the nearest first.
        listed: What its lists of properties say of it.
        change: Its line on its last change; empty for none.
        elsewhere: Finds the dates in lines of their own that stand elsewhere, the likeliest first.
    """

    first_post: str | None
    lines: Sequence[TextBlock]
    listed: Sequence[str]
    change: str
    elsewhere: Callable[[], Sequence[WrittenDate]]


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
    latest, in_words = crawl_time.now() + AHEAD, [*_in_words(written.lines)]

    def read(words: str) -> str | None:
        if not 0 < len(words) <= MAX_CHARACTERS:
            return None
        instant = to_utc(words, site.zone, language=language)
        if instant is None and _is_dotted(words):  # as nobody writes who has the month first
            instant = to_utc(words, site.zone, language="de")
        is_vague = isinstance(instant, Guess) and instant.unit in _VAGUE_UNITS
        return instant if instant and not is_vague and datetime.fromisoformat(instant) <= latest else None

    def sureness(words: str, instant: str, sure: Sureness) -> Sureness:
        return _sureness(words, instant, sure, knows_zone=site.timezone != "UTC")

    changes = [*_changes(declared)]

    def is_change_alone(seen: str, declared_words: str, instant: str) -> bool:
        if declared_words in (*changes, *(date.words for date in in_words if date.is_later)):
            return seen[:10] < instant[:10]  # what is declared may be no more than the change
        # Some themes show the day of the last change alone, without a word that says so.
        is_of_change = any(_is_near(seen, changed) for words in changes if (changed := read(words)))
        return is_of_change and not any(_is_near(instant, shown) for date in in_words if (shown := read(date.words)))

    for words in _declared(declared):
        if instant := read(words):
            seen = next(filter(None, (read(date.words) for date in in_words if not date.is_later)), None)
            if seen and is_change_alone(seen, words, instant):
                return seen, "guess"
            return instant, sureness(words, instant, "exact")
    first = written.first_post
    in_text: Iterator[tuple[str, Sureness]] = (
        # By the title of a thread may stand when it was answered last.
        (first, "guess") if first and first < instant else (instant, sureness(words, instant, sure))
        for words, sure in _candidates(declared, written, in_words)
        if (instant := read(words))
    )
    return _by_address(in_text, url, read)


def _by_address(
    in_text: Iterable[tuple[str, Sureness]], url: str, read: Callable[[str], str | None]
) -> tuple[str | None, Sureness]:
    """Returns the first of some instants that is of the month in a page's address, if that names one.

    If there is none, it is the day in the address, then the first that isn't told by how long ago it was, which is
    wrong on a page that was kept.
    """
    address = _in_address(urlsplit(url).path)
    number = month_of(address[2], "en") or address[2] if address else ""
    month = f"{address[1]}-{number:>02}" if address and str(number).isdecimal() else ""
    others: list[tuple[str, Sureness]] = []
    for instant, sure in in_text:
        if instant.startswith(month) and not isinstance(instant, Guess):
            return instant, sure
        others.append((instant, sure))
    if month and address and address[3] and (instant_of_address := read(f"{month}-{address[3]:>02}")):
        return instant_of_address, "guess"
    return min(others, key=lambda other: isinstance(other[0], Guess), default=(None, "guess"))


def language_of_dates(declared: Declared, language: str, url: str) -> str:
    """Returns the language of a page with the region that tells whether its dates have the month first, if one does.

    Args:
        declared: What it declares.
        language: BCP 47 tag of the page; empty if it names none.
        url: Its address, whose domain may be a country's.
    """
    named = declared.metas.get("og:locale", "").replace("_", "-")
    language = language or declared.metas.get("content-language", "") or named
    if len(language) > MAX_PRIMARY_CHARACTERS:
        return language
    domain = (urlsplit(url).hostname or "").rpartition(".")[2]
    if not language:
        return _LANGUAGES.get(domain, "")
    if language.lower() != "en":
        return language
    return (
        named if named.lower().startswith("en-") and named != "en-US" else f"en-{_REGIONS.get(domain, '')}".rstrip("-")
    )


def _is_near(instant: str, other: str) -> bool:
    return abs(datetime.fromisoformat(instant) - datetime.fromisoformat(other)) < 2 * AHEAD


def _changes(declared: Declared) -> Iterator[str]:
    """Yields when the page was changed, as it declares."""
    yield from (first_text(entity.get("dateModified")) for entity in (declared.article, declared.web_page))
    yield declared.metas.get("article:modified_time", "")


def _declared(declared: Declared) -> Iterator[str]:
    yield from (first_text(entity.get(name)) for entity in (declared.article, declared.web_page) for name in _PUBLISHED)
    yield from (declared.metas.get(name, "") for name in _METAS)


def _candidates(
    declared: Declared, written: WrittenTimes, in_words: Sequence[WrittenDate]
) -> Iterator[tuple[str, Sureness]]:
    """Yields what isn't declared, the likeliest first: publications, then changes."""
    marked = [*_marked(written.lines)][:MAX_DATES]
    yield from ((date.words, "exact") for date in marked if not date.is_later)
    yield from ((words, "exact") for words in written.listed)
    yield from ((date.words, "guess") for date in in_words if not date.is_later)
    elsewhere = written.elsewhere()
    yield from ((date.words, "guess") for date in elsewhere if not date.is_later)
    yield written.first_post or "", "guess"
    yield from ((first_text(entity.get("dateModified")), "guess") for entity in (declared.article, declared.web_page))
    yield from ((date.words, "guess") for date in (*marked, *in_words) if date.is_later)
    yield from ((date[0], "guess") for date in [date_in_line(written.change)] if date)
    yield from ((date.words, "guess") for date in elsewhere if date.is_later)


def last_change(evidence: BlockEvidence, places: Sequence[int]) -> str:
    """Returns the only line outside of a page's text that says when it was changed; empty for none, or several."""
    own = frozenset(places)
    lines = {
        line
        for place, (block, line) in enumerate(zip(evidence.page.blocks, evidence.texts, strict=True))
        if evidence.has_digit[place]
        and len(line) <= MAX_LINE_CHARACTERS
        and _says_change(line)
        and date_in_line(line)
        and (place not in own or evidence.is_beside(block.box))
    }
    return lines.pop() if len(lines) == 1 else ""


def dates_elsewhere(evidence: BlockEvidence, heading: int, posts: Iterable[Box]) -> list[WrittenDate]:
    """Returns the dates of lines that have next to nothing else or are named for one, those nearest to the title first.

    Dates of posts are left out, and those in boxes that are alike, as of other stories. Beside the page's own parts, a
    date counts only where there is no other.

    Args:
        evidence: That on the blocks of the page.
        heading: The place of its title; -1 for none.
        posts: The boxes of its comments and answers.
    """
    blocks = evidence.page.blocks
    of_posts: set[int] = set()
    end = 0
    for box in posts:  # of which one may stand within another
        of_posts.update(range(max(end, box.first), box.end))
        end = max(end, box.end)
    dated: list[tuple[int, WrittenDate, tuple[object, ...]]] = []
    beside: dict[str, WrittenDate] = {}
    by_kind: dict[tuple[object, ...], set[str]] = defaultdict(set)
    lines = (
        (place, line)
        for place, line in enumerate(evidence.texts)
        if place not in of_posts and _has_figures(line) and (len(line) <= MAX_CHARACTERS or _tells_of_itself(line))
    )
    for place, line in islice(lines, MAX_LINES):
        block = blocks[place]
        label = evidence.texts[place - 1] if place else ""  # which may stand on a line of its own
        is_labelled_later = len(label) <= MAX_LABEL_CHARACTERS and _is_later(label) is not None
        for date in _dates_in(block, is_later=is_labelled_later and not _has_figures(label)):
            is_alone = _is_alone(date.words, line)
            if not is_alone and not _is_named(block) and not _tells_of_itself(line):
                continue
            if evidence.is_beside(block.box):
                beside |= {date.words: date} if is_alone and not date.is_later else {}
                continue
            box = block.box
            kind = box.tag, box.classes, box.parent and box.parent.classes, date.is_later
            by_kind[kind].add(date.words)
            dated.append((place, date, kind))
        if len(dated) + len(beside) >= MAX_DATES:
            break
    own = [(abs(place - heading), date) for place, date, kind in dated if len(by_kind[kind]) == 1]
    if not own and len(beside) == 1:
        return [*beside.values()]
    return [date for _, date in sorted(own, key=itemgetter(0))]


def _is_alone(date: str, line: str) -> bool:
    """Returns whether a line has no more than a date, and words of what was done then."""
    rest = line.replace(date, "")
    return not any(map(str.isdigit, rest)) and says_only(rest, LABELS, "")


def _is_named(block: TextBlock) -> bool:
    return any(_named_for_time(_class(element)) for _, _, element in _elements(block))


def _elements(block: TextBlock) -> Iterator[tuple[int, int, Element]]:
    """Yields the elements of a block and the two boxes around it, each with where it begins and ends in the text."""
    yield from block.inline
    yield from ((0, len(block.text), box.element) for box in (block.box, block.box.parent) if box is not None)


def _class(element: Element) -> str:
    return str(element.attr("class") or "")


def _in_words(lines: Sequence[TextBlock]) -> Iterator[WrittenDate]:
    """Yields the dates in the words of some lines."""
    for block in lines[:MAX_DATES]:
        yield from _dates_in(block)


def _dates_in(block: TextBlock, *, is_later: bool = False) -> Iterator[WrittenDate]:
    """Yields the dates of a block: those of its elements that are named for one, or else those of its first line.

    Within a sentence, a date is of what it tells.
    """
    whole = " ".join(block.text.split())[:MAX_LINE_CHARACTERS]
    if not _has_figures(whole):
        return
    named = (
        (begin, end, _class(element))
        for begin, end, element in block.inline
        if end - begin <= MAX_LINE_CHARACTERS and _named_for_time(_class(element))
    )
    for begin, end, names in (*islice(named, MAX_DATES), (0, len(block.text), "")):
        line = " ".join(block.text[begin:end].split()) if names else whole
        last = 0
        for match in islice(dates_in_line(line), MAX_DATES_OF_LINE):
            before, last = line[last : match.start()], match.end()
            label = (before or block.text[:begin])[-MAX_LABEL_CHARACTERS:]
            is_own = _tells_of_itself(line) or not _is_in_sentence(before, line[last:])
            if is_own and not _is_of_other(label):
                is_named_later = _is_later(names) is not None and "publish" not in names.lower()
                yield WrittenDate(match[0], (is_later and not before) or is_named_later or _is_later(label) is not None)
        if last:
            return


def _is_in_sentence(before: str, behind: str) -> bool:
    return len(behind.split()) > MAX_WORDS_BEHIND and len(before.split()) > MAX_WORDS_BEFORE


def _marked(lines: Sequence[TextBlock]) -> Iterator[WrittenDate]:
    """Yields the times in some lines that are marked as such."""
    for block in lines:
        for begin, end, element in _elements(block):
            if words := time_marking(element) or (block.text[begin:end] if element.tag == "time" else ""):
                names = f"{_class(element)} {element.attr('itemprop')}".lower()
                before = block.text[max(0, begin - MAX_LABEL_CHARACTERS) : begin]
                is_named_for_change = _is_later(names) is not None and "publish" not in names
                is_later = is_named_for_change or _is_later(f"{before} {words}") is not None
                yield WrittenDate(" ".join(words.split()), is_later)


def time_marking(element: Element) -> str:
    """Returns the time that an element has for programs, or of which it shows a part alone; empty for none."""
    is_of_page = not _TIME_PROPERTIES.isdisjoint((element.attr("itemprop") or "").split())
    if words := element.attr("datetime") or (element.attr("content") if is_of_page else ""):
        return words
    title = element.attr("title") or ""
    has_time = len(title) <= MAX_CHARACTERS and bool(instant_in(title) or date_in_line(title))
    if has_time and (element.tag == "abbr" or _named_for_time(_class(element))):
        return title
    address = (element.attr("href") or "")[:MAX_ADDRESS_CHARACTERS] if element.tag == "a" else ""
    linked = instant_in(unquote(address)) if "?" in address else None  # as `3 days ago` links to that time in a log
    return linked[0] if linked is not None else ""


def _sureness(words: str, instant: str, sure: Sureness, *, knows_zone: bool) -> Sureness:
    if sure == "guess" or isinstance(instant, Guess) or instant[2:4] not in words:  # it names no year
        return "guess"
    if isinstance(instant, Day):
        return "day"
    return "exact" if knows_zone or _has_zone(words) else "guess"
