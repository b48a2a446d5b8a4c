"""The title of a page: the heading that it also declares, else what it declares, else its part of `<title>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from crawler.base import text
from crawler.extract.declared import first_text, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.base.item import Sureness
    from crawler.extract.blocks import TextBlock
    from crawler.extract.declared import Declared
    from crawler.extract.evidence import BlockEvidence

MAX_CHARACTERS = 300  # of a title
MAX_HEADINGS = 50  # that are looked at
MIN_FOLDED = 2  # letters and digits of a title
MIN_SHARE = 0.5  # of a declared title, that a heading within it has
MIN_NAMED = 3  # words of a heading in the page's address, of which its title has none
MIN_SHARE_ALIKE = 0.4  # of the words of a heading, that a title has which says the same in other words
_HEADINGS = ("h1", "h2", "h3")
# Titles that no page has: what systems call a kind of page, or what is there when something is missing.
_NO_TITLES = frozenset(
    """detail details home homepage index untitled blog news page article loading error notfound 404 startseite accueil
    document untitleddocument newpage search menu undefined null""".split()
)
_LINK_SIGNS = " #\xa7\xb6"  # of a link to a heading, behind it
_misread = re.compile(
    "[\xc2\xc3][\xa1-\xbf]|[\xc2-\xdf][\x80-\x9f]|[\xe0-\xef][\x80-\x9f][\x80-\xbf]|[\xe0-\xef][\xa0-\xbf][\x80-\x9f]"
).sub
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


class _Heading(NamedTuple):
    """A heading: its place among the blocks, its tag and its words."""

    place: int
    tag: str
    words: str


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
    if _separators.search(whole):  # some sites are called like their home page
        site_names -= {folded(whole)}
    headline = _clean(
        declared, first_text(declared.article.get("headline")) or first_text(declared.article.get("name"))
    )
    titles = [
        title
        for title in (headline, _clean(declared, declared.metas.get("og:title", "")), whole)
        if _is_own(title, site_names)
    ]
    own = [
        heading
        for heading in _headings(evidence)
        if _is_own(heading.words, site_names) and not _leads_home(evidence.page.blocks[heading.place], url)
    ]
    within = [heading for heading in own if not _is_of_banner(evidence, heading.place)]
    if any(heading.tag == "h1" for heading in within):
        own = within
    for wanted in ("h1", None):  # a smaller heading is one only where no large one is told
        for heading in own:
            if heading.tag == (wanted or heading.tag) and any(_is_part(heading.words, title) for title in titles):
                labelled = (title for title in titles if heading.words.endswith(f":{title}"))
                words = next(labelled, heading.words)
                return Title(_without_site(words, site_names, "", url), "exact", heading.place)
    large = [heading for heading in own if heading.tag == "h1"]
    first = large[0] if large else _Heading(-1, "", "")
    is_only = len({folded(heading.words) for heading in large}) == 1
    has_headline = bool(titles) and titles[0] == headline
    if has_headline and not (is_only and _share_words(first.words, headline)):
        return Title(_without_site(headline, site_names, whole, url), "exact", first.place)
    parted = (_without_site(title, site_names, whole, url) for title in titles)
    shown = [title for title in parted if _is_own(title, site_names)]
    is_of_application = titles == [whole] and not _share_words(first.words, whole)  # which is on each page the same
    is_all_there_is = is_only and (has_headline or is_of_application or not titles)
    if large and (is_all_there_is or not shown or _is_likelier(first.words, shown[0], url)):
        return Title(first.words, "guess", first.place)
    if shown:
        return Title(shown[0], "guess", first.place)
    return Title("" if folded(whole) in _NO_TITLES else whole, "guess")


def _headings(evidence: BlockEvidence) -> Iterator[_Heading]:
    """Yields the headings of a page that may be its title."""
    count = 0
    for place, block in enumerate(evidence.page.blocks):
        if block.tag in _HEADINGS and not evidence.is_beside(block.box):
            count += 1
            if count > MAX_HEADINGS:
                return
            words = text.line(_well_read(evidence.texts[place]).rstrip(_LINK_SIGNS))
            if len(words) <= MAX_CHARACTERS:
                yield _Heading(place, block.tag, words)


def _leads_home(block: TextBlock, url: str) -> bool:
    """Returns whether a heading links to a place above its page, as the name of a site or of a part of it does."""
    link = next((element for _, _, element in block.inline if element.tag == "a"), None)
    if link is None or 2 * block.linked < len(block.text.strip()):
        return False
    try:
        own, target = urlsplit(url), urlsplit(urljoin(url, (link.attr("href") or "#").strip()))
    except ValueError:
        return False
    is_above = own.path.startswith(target.path.rstrip("/") + "/") or target.path == ""
    is_shorter = len(target.path.strip("/")) < len(own.path.strip("/")) or (bool(own.query) and target.path == own.path)
    return own.hostname == target.hostname and not target.query and not target.fragment and is_above and is_shorter


def _is_of_banner(evidence: BlockEvidence, place: int) -> bool:
    """Returns whether a heading stands above what is the page's own, where a site says what it is called."""
    path = evidence.page.blocks[place].box.lineage.path
    return "<header>" in path and path.isdisjoint(("<article>", "<main>", "main"))


def _clean(declared: Declared, written: str) -> str:
    return text.line(declared.as_shown(text.line(_well_read(written[: 2 * MAX_CHARACTERS]))))[:MAX_CHARACTERS]


def _well_read(written: str) -> str:
    """Returns a text whose UTF-8 was once read as Latin-1, as it was before; in any other, nothing looks like that."""
    return _misread(lambda match: match[0].encode("latin-1").decode(errors="replace"), written)


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
    folded_heading, folded_title = folded(heading), folded(title)
    is_within = folded_heading in folded_title and _stands_alone(heading, title)
    return (
        folded_heading == folded_title
        or is_within
        or (folded_title in folded_heading and len(folded_title) >= MIN_SHARE * len(folded_heading))
    )


def _share_words(heading: str, title: str) -> bool:
    """Returns whether a heading and a title have a word in common."""
    return not {*_words(heading.casefold())}.isdisjoint(_words(title.casefold()))


def _is_likelier(heading: str, title: str, url: str) -> bool:
    """Returns whether a heading has words of a title, and as many of its own in the page's address as that."""
    own, others, named = {*_words(heading.casefold())}, {*_words(title.casefold())}, _words_of_address(url)
    share_named = len(named & own) * len(others) - len(named & others) * len(own)
    is_alike = len(own & others) >= MIN_SHARE_ALIKE * min(len(own), len(others))
    return (share_named >= 0 and is_alike) or (len(named & own) >= MIN_NAMED and named.isdisjoint(others))


def _words_of_address(url: str) -> set[str]:
    return {*_words(unquote(urlsplit(url).path).replace("_", " ").casefold())}


def _stands_alone(heading: str, title: str) -> bool:
    """Returns whether a heading is one of the parts of a title, or most of it."""
    own = folded(heading)
    return len(own) >= MIN_SHARE * len(folded(title)) or own in map(folded, _separators.split(title))


def _without_site(title: str, site_names: frozenset[str], whole: str, url: str) -> str:
    """Returns a title without what its site is called at either end; one that nobody repeats, without its last part.

    Before what a site's home page tells stands whose it is.
    """
    parts = [(match.start(), match.end()) for match in _separators.finditer(title)]
    if not parts:
        return title
    first, last, rest = title[: parts[0][0]], title[parts[-1][1] :], title[: parts[-1][0]]
    if folded(last).rstrip("0123456789") in site_names:
        return rest
    if folded(first) in site_names:
        return title[parts[0][1] :] if urlsplit(url).path.strip("/") else title
    named = _words_of_address(url)
    is_named_before = not named.isdisjoint(_words(rest.casefold())) and named.isdisjoint(_words(last.casefold()))
    return rest if title == whole and (len(folded(last)) <= len(folded(rest)) or is_named_before) else title
