"""Which addresses are of one kind, such as the days of a calendar, and what an address alone says of traps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawler.base import reasons

if TYPE_CHECKING:
    from crawler.base.reasons import Note, Reason

MAX_CHARACTERS = 2_000  # longer addresses are refused: sitemaps allow 2,048, and people's have some hundred
MAX_SEGMENTS = 20  # of a path; deep archives have 15
MAX_REPEATS = 2  # how often segments may follow themselves; those of digits are dates, such as /11/11/11
KINDS_FOLDERS = 2  # how many folders of a path tell kinds apart: the third is most often a year, or a page's own
MAX_WORD_CHARACTERS = 24  # a longer folder's name is an id
# A page again in another form, or a form that belongs to it: a query's key, or a segment of a path.
_VARIANT = re.compile(
    r"(?:[?&]|/)(?:print(?:able|er)?|sort(?:_?by)?|order(?:_?by|_?dir)?|reply(?:_?to(?:com)?)?|quote|share|amp|mobile"
    r"|log-?in|sign-?in|register)(?=[=&/?.]|$)|=print(?:able)?(?=&|$)",
    re.IGNORECASE,
)
_SESSION = re.compile(
    r"[?&;/](?:s|sid|sess(?:ion)?[a-z_-]*|token|auth)[=/]|/\(S\(|(?<![0-9a-z])[0-9a-f]{24,}(?![0-9a-z])", re.IGNORECASE
)
_DATE = re.compile(r"(?<!\d)(?:19|20|21)\d\d[-/]\d{1,2}(?!\d)|[?&](?:year|month|week|day|date)=", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index|default)\.(?:s?html?|php|aspx?|jsp)$", re.IGNORECASE)
_SLASHES = re.compile(r"(?<!:)/{2,}")
_FACETS = 2  # how many parameters of a query are facets


class AddressKind(NamedTuple):
    """What an address has in common with others.

    Attributes:
        host: With its port.
        family: Equal for addresses that differ by digits, ids, dates, values and keys of their query, and by what
            stands below their second folder.
        mark: `duplicate`, `variant` or `session`: the address says that it is a page's that has another one.
        has_query: Whether there is a query.
    """

    host: str
    family: str
    mark: str
    has_query: bool


def kind_of(url: str) -> AddressKind:
    """Returns the kind of a canonical URL."""
    address, question, _query = url.partition("?")
    _scheme, _, host, *segments = address.split("/")
    if _plain(url) != url:
        return AddressKind(host, f"{host}//", "duplicate", bool(question))
    below_host = url[len(_scheme) + 2 + len(host) :]
    mark = "variant" if _VARIANT.search(below_host) else "session" if _SESSION.search(below_host) else ""
    folders = [name if _is_word(name) else "#" for name in segments[:-1][:KINDS_FOLDERS]]
    page = segments[-1] if question and _is_word(segments[-1]) else "*"  # with a query it is a script's name
    return AddressKind(host, "/".join((host, *folders, f"{page}{question}{mark}")), mark, bool(question))


def _is_word(name: str) -> bool:
    return len(name) <= MAX_WORD_CHARACTERS and not any(sign in "0123456789(;=%" for sign in name)


def _plain(url: str) -> str:
    """Returns what an address most likely equals: without `index.html` at its end, and with single slashes."""
    if "//" not in url[8:] and "/index." not in url and "/default." not in url:
        return url
    address, question, query = url.partition("?")
    return _INDEX.sub("/", _SLASHES.sub("/", address)) + question + query


def certain_trap(url: str) -> Note | None:
    """Returns which trap an address is for certain; None: it may be none."""
    if len(url) > MAX_CHARACTERS:
        return reasons.TRAP_LONG
    segments = [name for name in url.partition("?")[0].split("/")[3:] if name]
    if len(segments) > MAX_SEGMENTS:
        return reasons.TRAP_DEEP
    if len(set(segments)) + MAX_REPEATS > len(segments):
        return None  # none stands there so often
    for period in range(1, len(segments) // (MAX_REPEATS + 1) + 1):
        same = 0  # segments in a row that are equal to the one a period before, and no numbers
        for index in range(period, len(segments)):
            is_same = segments[index] == segments[index - period] and not segments[index].isdecimal()
            same = same + 1 if is_same else 0
            if same >= period * MAX_REPEATS:
                return reasons.TRAP_REPEATED
    return None


def likely_trap(url: str, kind: AddressKind) -> Reason:
    """Returns what an address beyond its kind's budget is called."""
    if kind.mark:
        return {"duplicate": reasons.TRAP_DUPLICATE, "variant": reasons.TRAP_VARIANT}.get(
            kind.mark, reasons.TRAP_SESSION
        )
    if _DATE.search(url):
        return reasons.TRAP_CALENDAR
    if kind.has_query and url.count("&") + 1 >= _FACETS:
        return reasons.TRAP_FACETS
    return reasons.TRAP_TEMPLATE
