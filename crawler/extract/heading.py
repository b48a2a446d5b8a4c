"""The title of a page: the heading that it also declares, else what it declares, else its part of `<title>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.base import text
from crawler.extract.declared import first_text, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.base.item import Sureness
    from crawler.extract.declared import Declared
    from crawler.extract.evidence import BlockEvidence

MAX_CHARACTERS = 300  # of a title
MAX_HEADINGS = 50  # that are looked at
MIN_FOLDED = 2  # letters and digits of a title
MIN_SHARE = 0.5  # of a declared title, that a heading within it has
_HEADINGS = ("h1", "h2", "h3")
# Titles that no page has: what systems call a kind of page, or what is there when something is missing.
_NO_TITLES = frozenset(
    """detail details home homepage index untitled blog news page article loading error notfound 404 startseite accueil
    document untitleddocument newpage search menu undefined null""".split()
)
_words = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W\u3040-\u9fff\uac00-\ud7a3]+").findall
_separators = re.compile(r"\s+[-\u2013\u2014|\u00b7\u2022:\u00bb\u00ab/]+\s+|\s+::\s+|\s*[|\u00bb]\s*|_(?=\D)")
_looks_like_domain = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?", re.IGNORECASE).fullmatch


@dataclass(frozen=True, slots=True)
class Title:
    """What a page is called.

    Attributes:
        words: Its title; empty if it has none.
        sure: How sure that is.
        place: Of the block that is its heading; -1 if it stands in none.
    """

    words: str
    sure: Sureness
    place: int = -1


def read_title(evidence: BlockEvidence, declared: Declared, whole: str, url: str) -> Title:
    """Returns the title of a page.

    Args:
        evidence: That on its blocks.
        declared: What it declares.
        whole: Its `<title>`.
        url: Its address.
    """
    whole = _clean(declared, whole)
    site_names = site_names_of(declared, url)
    headline = first_text(declared.article.get("headline")) or first_text(declared.article.get("name"))
    told = [
        title
        for title in (_clean(declared, one) for one in (headline, declared.metas.get("og:title", ""), whole))
        if _is_own(title, site_names)
    ]
    headings = [*_headings(evidence)]
    own = [(place, tag, words) for place, tag, words in headings if _is_own(words, site_names)]
    within = [heading for heading in own if not _is_of_banner(evidence, heading[0])]
    if any(tag == "h1" for _, tag, _ in within):
        own = within
    for wanted in ("h1", None):  # a smaller heading is one only where no large one is told
        for place, tag, words in own:
            if tag == (wanted or tag) and any(_is_part(words, title) for title in told):
                return Title(words, "exact", place)
    first = [(place, words) for place, tag, words in own if tag == "h1"]
    if headline and told and told[0] == _clean(declared, headline):
        return Title(told[0], "exact", first[0][0] if first else -1)
    if len(first) == 1 and (not told or (told == [whole] and not _share_words(first[0][1], whole))):
        return Title(first[0][1], "guess", first[0][0])
    for title in told:
        words = _without_site(title, site_names, whole)
        if _is_own(words, site_names):
            return Title(words, "guess", first[0][0] if first else -1)
    if first:
        return Title(first[0][1], "guess", first[0][0])
    return Title("" if folded(whole) in _NO_TITLES else whole, "guess")


def _headings(evidence: BlockEvidence) -> Iterator[tuple[int, str, str]]:
    """Yields the headings of a page that may be its title: place, tag and words."""
    count = 0
    for place, block in enumerate(evidence.page.blocks):
        if block.tag in _HEADINGS and not evidence.is_beside(block.box):
            count += 1
            if count > MAX_HEADINGS:
                return
            words = text.line(evidence.texts[place])
            if len(words) <= MAX_CHARACTERS:
                yield place, block.tag, words


def _is_of_banner(evidence: BlockEvidence, place: int) -> bool:
    """Returns whether a heading stands above what is the page's own, where a site says what it is called."""
    path = evidence.page.blocks[place].box.lineage.path
    return "<header>" in path and path.isdisjoint(("<article>", "<main>", "main"))


def _clean(declared: Declared, written: str) -> str:
    return text.line(declared.as_shown(text.line(written[: 2 * MAX_CHARACTERS])))[:MAX_CHARACTERS]


def site_names_of(declared: Declared, url: str) -> frozenset[str]:
    """Returns what the site is called, folded."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    named = (declared.metas.get(name, "") for name in ("og:site_name", "application-name"))
    return frozenset({*map(folded, named), folded(host), *map(folded, host.split(".")[:-1])}) - {""}


def _is_own(words: str, site_names: frozenset[str]) -> bool:
    """Returns whether words may be the title of a page rather than of its site, or of a kind of pages."""
    key = folded(words)
    return len(key) >= MIN_FOLDED and key not in site_names and key not in _NO_TITLES and not _looks_like_domain(words)


def _is_part(heading: str, title: str) -> bool:
    """Returns whether a heading is all of a title but for what the site is called, or the other way round."""
    own, told = folded(heading), folded(title)
    is_within = own in told and _stands_alone(heading, title)
    return own == told or is_within or (told in own and len(told) >= MIN_SHARE * len(own))


def _share_words(heading: str, title: str) -> bool:
    """Returns whether a heading and a title have a word in common; one of an application is on each page the same."""
    return not {*_words(heading.casefold())}.isdisjoint(_words(title.casefold()))


def _stands_alone(heading: str, title: str) -> bool:
    """Returns whether a heading is one of the parts of a title, or most of it."""
    own = folded(heading)
    return len(own) >= MIN_SHARE * len(folded(title)) or own in map(folded, _separators.split(title))


def _without_site(title: str, site_names: frozenset[str], whole: str) -> str:
    """Returns a title without what its site is called at either end; one that nobody repeats, without its last part."""
    parts = [(found.start(), found.end()) for found in _separators.finditer(title)]
    if not parts:
        return title
    first, last = title[: parts[0][0]], title[parts[-1][1] :]
    if folded(last) in site_names:
        return title[: parts[-1][0]]
    if folded(first) in site_names:
        return title[parts[0][1] :]
    if title == whole and len(folded(last)) <= len(folded(title[: parts[-1][0]])):
        return title[: parts[-1][0]]
    return title
