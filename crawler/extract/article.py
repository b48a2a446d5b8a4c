"""Content pages of sites without selectors: what they declare, then what their parts are named, then trafilatura.

What other pages of the same template have, too, is left out of all that isn't declared (templates.py).

Wrong is worse than empty: what isn't found where it is usual is left out, and each field says how sure it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from turbohtml import Element

from crawler import text
from crawler.errors import ExtractError
from crawler.extract import shape
from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.declared import first_text
from crawler.extract.document import absolute, html_of
from crawler.extract.field_kinds import Fields
from crawler.extract.html_text import HtmlText
from crawler.extract.lxml_tree import parse_by_lxml
from crawler.extract.page_parts import SMALL_CHARACTERS, PageParts, class_names
from crawler.extract.templates import AUTHOR, BLOCK, DAY, INSTANT, TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.extract.document import Document
    from crawler.item import Sureness
    from crawler.sites import Site

MAX_ARTICLE_BYTES = 3_000_000  # 0.4 s a MB, whatever is in it
MAX_ELEMENTS = 50_000  # 5 s at worst, in a thread (offload.py); the longest articles of Wikipedia have fewer
MAX_ELEMENTS_COMPARED = 5_000  # up to here trafilatura asks jusText and readability, too: 3 s at worst
MAX_IMAGES = 100
MAX_DATES = 30  # places that are looked at, since to read a date in words takes 0.1 ms
MAX_DATE_CHARACTERS = 100  # of a place for a date
MAX_NAME_CHARACTERS, MAX_NAME_WORDS = 60, 6
MIN_FOLDED = 2  # letters and digits of a title that is compared with another one
LITTLE_SHARE = 0.3  # of the text that the page alone has: trafilatura that finds less has missed the article
MAX_LINES = 6  # of one block in a text
MIN_SENTENCE = 30  # characters of a block that may not be within a text by chance
AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow; a later date isn't that of a publication

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
_PUBLISHED_METAS = tuple(
    """article:published_time og:article:published_time article:published datepublished date dc.date dc.date.issued
    dcterms.created dcterms.date dcterms.issued pubdate publishdate publish_date publication_date parsely-pub-date
    sailthru.date citation_publication_date citation_date weibo:article:create_at""".split()  # noqa: SIM905 -- words
)
_AUTHOR_METAS = tuple(
    """author article:author dc.creator dcterms.creator parsely-author sailthru.author
    citation_author""".split()  # noqa: SIM905 -- likewise
)
_DATES = (
    ", ".join(
        f"[class*={name} i]"
        for name in ("date", "time", "publish", "posted", "lastmod", "modified", "created", "info", "byline", "meta")
    )
    + ", [id*=lastmod i], [id*=date i], [id*=info i], [itemprop*=date i]"
)
_HEADING_TAGS = frozenset({"h1", "h2"})  # what stands before such a line
_TIMES = "time[datetime], abbr.published[title]"
_AUTHORS = (
    "[class*=author i], [class*=byline i], [class*=username i], [class*=poster i], [class*=writer i], [id*=author i]"
)

_is_later = re.compile(r"modif|updat|lastmod|last.?edit|edited|changed", re.IGNORECASE).search
# An offset, or Z, stands behind a time of day: in 03-11-2026 there is none, nor in MARZ.
_has_zone = re.compile(
    r"(?:\d[:h]\d\d(?:[:.,]\d+)*|T\d{2,6})\s?(?:[ap]\.?m\.?\s?)?\(?(?:Z|[+-]\d\d:?\d\d)\b|(?:GMT|UTC)\b|^\d{10,13}$",
    re.IGNORECASE,
).search
_separators = re.compile(r"\s+[-\u2013\u2014|\u00b7\u2022:\u00bb\u00ab/]+\s+|\s+::\s+|\s*[|\u00bb_]\s*|\s+(?=\[)")
MAX_NUMBER_CHARACTERS = 40  # of a heading that is a number with what it counts
# A heading such as `Issue 12`, `#12` or `2026`.
_is_number = re.compile(r"(?:[^\W\d]+\s*){0,2}[#\u2116]?\s*\d+\W*").fullmatch
_SIGNS_BEYOND_NUMBER = " #:;.,)]|-\u2013\u2014\u00b7\uff1a\u3000"
_by = re.compile(
    r"(?<!\w)(?:by|von|par|por|di|door|av|\u4f5c\u8005[:\uff1a]?)\s+(\S[^\d\n]{0,59}?)"
    r"(?:$|(?:\s+(?:on|at|am|le|el|il|op|den)|\s*[,|\u00b7\u2022\u2013\u2014-])\s+\d)",
    re.IGNORECASE,
).search
# What may stand before such a word, folded, so that a name follows; "powered by" and the like are of somebody else.
_SIGNED = frozenset(
    """written posted published submitted started created authored reported opened added contributed modified changed
    edited updated story text words report article geschrieben ver\u00f6ffentlicht erstellt verfasst publi\u00e9
    \u00e9crit post\u00e9 escrito publicado pubblicato scritto geschreven geplaatst skrevet skriven""".split()  # noqa: SIM905 -- likewise
)
_last_word = re.compile(r"([^\W\d_]+)\s*$").search
_in_section = re.compile(r"(?<!\w)in\s+[^\d\n]{1,40}$", re.IGNORECASE).search
_MAIL_LABELS = frozenset({"from", "date", "subject"})  # all of them stand above a letter in an archive of mail
_ends_as_time = re.compile(r"[\d\u65e5](?:\s*[ap]\.?m\.?)?(?:\s*[A-Z]{1,4})?\W*$", re.IGNORECASE).search
# What stands before a name in a table or list of a thing's properties, folded: in trackers of tickets and the like.
_AUTHOR_LABELS = frozenset(
    """reportedby reporter submittedby submitter openedby createdby creator postedby writtenby author autor auteur
    autore gemeldetvon erstelltvon rapport\u00e9par informador autora
    \u4f5c\u8005 \u62a5\u544a\u4eba \u63d0\u4ea4\u8005 \u5831\u544a\u8005""".split()  # noqa: SIM905 -- likewise
)
# Likewise before a time, in lists alone: tables are of anything, and say when a book was published, or a bridge opened.
_DATE_LABELS = frozenset(
    """published publishedon publicationdate dateofpublication datepublished posted postedon submitted submittedon
    created createdon ver\u00f6ffentlicht publi\u00e9le publicado \u53d1\u5e03\u65f6\u95f4 \u53d1\u5e03\u65e5\u671f
    \u767c\u5e03\u6642\u9593 \u767c\u5e03\u65e5\u671f \u516c\u958b\u65e5""".split()  # noqa: SIM905 -- likewise
)
# These count beside an author; alone they may be of anything that the text tells of.
_DATE_LABELS_BESIDE_AUTHOR = frozenset(
    "date datum fecha data \u65e5\u671f \u65f6\u95f4 \u65e5\u4ed8 \ub0a0\uc9dc".split()  # noqa: SIM905 -- likewise
)
_in_address = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)").search
_label = re.compile(
    r"^(?:(?:written|posted|published)\s+by|by|von|par|por|di|door|av|autor(?:in)?|author|auteur|autore"
    r"|\u4f5c\u8005|\u6587|\u64b0\u6587|\u8457\u8005|\u6295\u7a3f\u8005|\uae00\uc4f4\uc774|\uc791\uc131\uc790)"
    r"(?:\s*[:\uff1a\uff0f/]\s*|\s+)",
    re.IGNORECASE,
).sub
_no_name = re.compile(
    r"https?:|@|\d{3}|[<>{}|\u00bb\u00b7\u2022]|^(?:author|admin login|by|guest|anonymous)$", re.IGNORECASE
).search


def read_article(document: Document, site: Site) -> Fields:
    """Returns what a page says of itself, clean, and how sure each field is.

    Args:
        document: The page, which is compared with others of its template.
        site: Whose dates it has.

    Raises:
        ExtractError: Those of `Document.html`; `too-large` or `too-many-tags` beyond an article's size; `no-content` if
            no article is found.
    """
    page = document.page
    if len(page.body) > MAX_ARTICLE_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes, an article has at most {MAX_ARTICLE_BYTES}")
    tree = document.html.tree
    elements = len(tree.select("*"))
    if elements > MAX_ELEMENTS:
        raise ExtractError("too-many-tags", f"{elements} elements, an article has at most {MAX_ELEMENTS}")
    return _Article(document, site, elements).fields()


class _Article:
    """Reads one page."""

    def __init__(self, document: Document, site: Site, elements: int) -> None:
        self._document, self._site, self._elements = document, site, elements
        self._comparison = document.comparison
        self._declared = document.html.declared
        self._parts = PageParts(document.html.tree)
        self._body = self._parts.body
        self._byline: Element | None = None  # what the line below the title is, once that is known
        self._sure: dict[str, Sureness] = {}

    def fields(self) -> Fields:
        title, heading = self._title()
        self._byline = self._line_below(heading)
        content, images = self._content(heading)
        author, published = self._author(title), self._published()
        found = {"title": title, "author": author, "published": published, "content": content, "images": images}
        missing = tuple(name for name, value in found.items() if not value)
        sureness = {name: self._sure[name] for name in found if name not in missing and name in self._sure}
        return Fields.of(found, missing=missing, sureness=sureness, canonical_url=self._document.html.canonical_url)

    def _title(self) -> tuple[str, Element | None]:
        """Returns the title, and the heading that has it."""
        declared, metas = self._declared, self._declared.metas
        element = self._parts.tree.select_one("head title, title")
        whole = text.line(element.text) if element is not None else ""
        told = first_text(declared.article.get("headline")) or first_text(declared.article.get("name"))
        told, og = (written if self._is_own_title(written) else "" for written in (told, metas.get("og:title", "")))
        self._sure["title"] = "exact"
        site_name = _folded(metas.get("og:site_name", "")) or _folded(
            _split(whole)[-1] if len(_split(whole)) > 1 else ""
        )
        titles = [_folded(one) for one in (told, og, whole) if one]
        numbered: tuple[str, Element] | None = None
        for heading, words in self._parts.headings:
            if beyond := _beyond_number(words, (told, og, *_split(whole))):
                numbered = numbered or (beyond, heading)
                continue
            folded = _folded(words)
            if len(folded) < MIN_FOLDED or folded == site_name or not self._is_own_title(words):
                continue
            if any(one.startswith(folded) or one.endswith(folded) for one in titles):
                return words, heading
        if told:
            return told, None
        if numbered:
            self._sure["title"] = "guess"
            return numbered
        own = ((heading, words) for heading, words in self._parts.headings if self._is_own_title(words))
        first = [(heading, words) for heading, words in own if heading.tag == "h1"][:1]
        if first and (self._body is None or _holds(self._body, first[0][0]) or not og):
            self._sure["title"] = "guess"
            return first[0][1], first[0][0]
        parts = [part for part in _split(og or whole) if self._is_own_title(part)]
        self._sure["title"] = "exact" if len(parts) == 1 and og else "guess"
        return parts[0] if parts else "", None

    def _line_below(self, heading: Element | None) -> Element | None:
        """Returns the line below a title if it says whose the text is and of when, and nothing else."""
        below = (one for one in heading.next_siblings if isinstance(one, Element)) if heading is not None else iter(())
        line = next(below, None)
        if line is None or line.tag not in ("p", "div"):
            return None
        written = text.line(HtmlText().of(line))
        signed = _by(written) if len(written) <= MAX_DATE_CHARACTERS else None
        if signed is None or signed.start() != 0:
            return None
        when = written[signed.end(1) :]
        is_all = _ends_as_time(when) is not None
        return line if is_all and to_utc(when, self._site.zone, language=self._language()) is not None else None

    def _is_own_title(self, words: str) -> bool:
        return not self._comparison.others_have("title", words.casefold(), TITLE)

    def _author(self, title: str) -> str | None:
        declared, metas = self._declared, self._declared.metas
        self._sure["author"] = "exact"
        if names := declared.names(declared.article.get("author")):
            return ", ".join(names)
        refused = {_folded(metas.get("og:site_name", "")), _folded(title), ""}
        for written in self._texts("[rel~=author], [itemprop~=author]"):
            if name := _name(written, refused):
                return name
        self._sure["author"] = "guess"
        signed = (name for written in (*self._date_texts, *self._datelines) if (name := _signer(written)))
        declared_names = (metas.get(name, "") for name in _AUTHOR_METAS)
        labelled = (written for _within, written in self._labelled(_AUTHOR_LABELS, "th, dt"))
        sender = [_sender(self._mail_head["from"])] if self._mail_head else []
        places = chain(self._texts(_AUTHORS), labelled, sender, signed, declared_names)
        guesses = filter(None, (_name(written, refused) for written in places))
        return next((name for name in guesses if not self._comparison.others_have("author", name, AUTHOR)), None)

    def _labelled(self, labels: frozenset[str], css: str) -> Iterator[tuple[Element, str]]:
        """Yields what stands beside one of some words in tables or lists of properties, each with its table or list.

        Args:
            labels: The words, folded.
            css: Finds the elements that such a word may be.
        """
        for label in self._parts.outside_asides(css):
            value = next((one for one in label.next_siblings if isinstance(one, Element)), None)
            within = label.closest("table, dl")
            if value is None or within is None or value.tag not in ("td", "dd") or _folded(label.text) not in labels:
                continue
            yield within, HtmlText().of(value)

    @cached_property
    def _letter(self) -> tuple[dict[str, str], str] | None:
        """The head of a letter that stands on the page as it was sent, by its labels, folded, and its text.

        A page with paragraphs or headings tells of something else, of which a letter is an example.
        """
        if self._parts.tree.select_one("p, article, main, h1, h2, h3") is not None:
            return None
        for element in self._parts.outside_asides("pre"):
            head, _blank, written = HtmlText().preformatted(element).strip().partition("\n\n")
            lines = (line.partition(":") for line in head.split("\n"))
            said = {_folded(label): value.strip().partition("\t")[0] for label, colon, value in lines if colon}
            if said.keys() >= _MAIL_LABELS:
                return said, text.verbatim(written)
        return None

    @cached_property
    def _mail_head(self) -> dict[str, str]:
        """What an archive of mail has above a letter, by its label, folded; empty: this is no letter."""
        if self._letter is not None:
            return self._letter[0]
        found: dict[Element, dict[str, str]] = {}
        for label in self._parts.outside_asides("li > em:first-child, li > b:first-child, li > strong:first-child"):
            line, within = label.parent, label.closest("ul")
            if isinstance(line, Element) and within is not None:
                written = text.line(HtmlText().of(line))
                found.setdefault(within, {})[_folded(label.text)] = written.partition(":")[2]
        return next((head for head in found.values() if head.keys() >= _MAIL_LABELS), self._mail_lines)

    @property
    def _mail_lines(self) -> dict[str, str]:
        """The same, where no labels stand above a letter, as in archives of Mailman 2: a name, an address, a time."""
        for heading, _words in self._parts.headings[:1]:
            below = (one for one in heading.next_siblings if isinstance(one, Element) and one.tag != "br")
            lines = [*islice(below, 3)]
            if [one.tag for one in lines] == ["b", "a", "i"] and (lines[1].attr("href") or "").startswith("mailto:"):
                name, _address, time = (text.line(one.text) for one in lines)
                return {"from": f"{name} <", "date": time}
        return {}

    def _labelled_dates(self) -> Iterator[str]:
        """Yields what lists of properties say of the time."""
        if self._mail_head:
            yield self._mail_head["date"]
        with_author = {within for within, _author in self._labelled(_AUTHOR_LABELS, "dt")}
        for labels, lists in ((_DATE_LABELS, None), (_DATE_LABELS_BESIDE_AUTHOR, with_author)):
            for within, written in self._labelled(labels, "dt"):
                if lists is None or within in lists:
                    yield text.line(written)

    def _published(self) -> str | None:
        language = self._language()
        latest = datetime.now(UTC) + AHEAD
        for written, sure in self._dates():
            found = to_utc(written, self._site.zone, language=language)
            if found is None or datetime.fromisoformat(found) > latest:
                continue
            if self._comparison.others_have("date", written, DAY if isinstance(found, Day) else INSTANT):
                continue
            knows_zone = self._site.timezone != "UTC" or _has_zone(written) is not None
            is_guess = isinstance(found, Guess) or not knows_zone
            self._sure["published"] = "day" if isinstance(found, Day) else "guess" if is_guess else sure
            return str(found)
        return None

    def _dates(self) -> Iterator[tuple[str, Sureness]]:
        """Yields what may be the date, best first: declared ones, those of `<time>`, of places named so, of changes."""
        declared = self._declared
        own = (declared.article, declared.web_page)
        told = [first_text(one.get(name)) for one in own for name in _PUBLISHED]
        told += [declared.metas.get(name, "") for name in _PUBLISHED_METAS]
        times = [one for one in self._parts.outside_asides(_TIMES) if not self._is_in_text(one)]
        times.sort(key=lambda one: _is_later(class_names(one)) is not None and "publish" not in class_names(one))
        told += [one.attr("datetime") or one.attr("title") or "" for one in times[:MAX_DATES]]
        told += self._linked_dates()
        told += self._labelled_dates()
        later = [_is_later(written) is not None for written in self._date_texts]
        told += [written for written, is_later in zip(self._date_texts, later, strict=True) if not is_later]
        yield from ((written, "exact") for written in told)
        yield from ((written, "guess") for written in self._datelines)
        yield from ((first_text(one.get("dateModified")), "guess") for one in own)
        changed = [written for written, is_later in zip(self._date_texts, later, strict=True) if is_later]
        yield from ((written, "exact") for written in changed)

    def _linked_dates(self) -> Iterator[str]:
        """Yields the instants to which words such as `3 years ago` link, in places that are named for dates."""
        for place in islice(self._parts.outside_asides(_DATES), MAX_DATES):
            for link in place.select("a[href]")[:MAX_DATES]:
                if len(place.text) <= MAX_DATE_CHARACTERS and (found := _in_address(unquote(link.attr("href") or ""))):
                    yield found[0]

    @cached_property
    def _datelines(self) -> list[str]:
        """The short texts with a number that stand right before the article's own text."""
        before = [] if self._body is None else [*self._parts.before(self._body)]
        lines = before if self._byline is None else [self._byline, *before]
        texts = (text.line(HtmlText().of(one)) for one in lines)
        return [one for one in texts if len(one) <= MAX_DATE_CHARACTERS and any(map(str.isdigit, one))]

    @cached_property
    def _date_texts(self) -> list[str]:
        """The short texts of places that are named for a date or for what stands beside one, and have a number."""
        texts = (text.line(written) for written in islice(self._texts(_DATES), MAX_DATES))
        return [one for one in texts if len(one) <= MAX_DATE_CHARACTERS and any(map(str.isdigit, one))]

    def _texts(self, css: str) -> Iterator[str]:
        """Yields the texts of what a selector finds beside the article's text, and not in it."""
        for element in self._parts.outside_asides(css):
            if not self._is_in_text(element):
                yield HtmlText().of(element)

    def _content(self, heading: Element | None) -> tuple[str, tuple[str, ...]]:
        base = self._document.html.base
        self._sure["content"] = self._sure["images"] = "guess"
        if self._letter is not None and self._letter[1]:
            return self._letter[1], ()
        if self._body is not None:
            content, images = self._content_of(self._body, heading, base)
            if content:  # if not, what has the name of a text holds none
                return content, images
        own = self._comparison.own_text()
        try:
            found = _by_trafilatura(self._document, fast=self._elements > MAX_ELEMENTS_COMPARED)
        except ExtractError:
            if own is None:
                raise
            return self._content_of(self._parts.first_post(own[0]), heading, base)
        content, is_apart = self._without_repeated(text.paragraphs(found.text or ""), heading)
        if own is not None and (len(content) < LITTLE_SHARE * own[1] or not is_apart):
            content_of_own, images = self._content_of(self._parts.first_post(own[0]), heading, base)
            if content_of_own:
                return content_of_own, images
        return content, absolute([found.image or ""], base)

    def _content_of(self, body: Element, heading: Element | None, base: str) -> tuple[str, tuple[str, ...]]:
        """Returns the text and the images of an element; of a copy of other pages all, of others what is theirs."""
        lists = {within for within, _author in self._labelled(_AUTHOR_LABELS, "dt")}
        about = {one for one in lists if len(one.text) < SMALL_CHARACTERS} | {self._byline}
        content, left_out = self._parts.text_of(body, heading, self._comparison.shared_blocks | about)
        if not content.strip():
            content, left_out = self._parts.text_of(body, heading)
        sources = [
            one.attr("src") or "" for one in body.select("img[src]")[:MAX_IMAGES] if left_out.isdisjoint(one.ancestors)
        ]
        own = [source for source in sources if not self._comparison.others_have("image", source, BLOCK)]
        return shape.clean(content), absolute(own, base)

    def _without_repeated(self, content: str, heading: Element | None) -> tuple[str, bool]:
        """Returns a text without its title and without what other pages have as blocks, and whether none of it is left.

        All of it is returned if there is nothing else.
        """
        repeated = {" ".join(one.text.split()) for one in self._comparison.shared_blocks}
        # Without blanks, since trafilatura breaks lines where an element's text has none.
        left_out = {"".join(written.split()) for written in repeated}
        left_out |= {"".join(heading.text.split())} if heading is not None else set()
        lines = content.split("\n")
        kept, at = [], 0
        while at < len(lines):
            # A block with links or line breaks in it is several lines of trafilatura's.
            runs = ("".join("".join(lines[at : at + length]).split()) for length in range(1, MAX_LINES + 1))
            length = next((length for length, run in enumerate(runs, 1) if run in left_out), 0)
            kept += [] if length else [lines[at]]
            at += length or 1
        own = "\n".join(kept) or content
        return own, not any(len(written) >= MIN_SENTENCE and written in own for written in repeated)

    def _is_in_text(self, element: Element) -> bool:
        """Returns whether an element is within the article's text, and not beside it, as the line below its title."""
        body = self._body
        if body is None or not _holds(body, element) or (around := element.closest("p, li, td, pre")) is None:
            return False
        before = (one.tag for one in around.previous_siblings if isinstance(one, Element))
        return around is not element or element.tag != "p" or not _HEADING_TAGS.issuperset(before)

    def _language(self) -> str:
        root = self._parts.tree.select_one("html")
        return ((root.attr("lang") or "") if root is not None else "").strip()


def _by_trafilatura(document: Document, *, fast: bool) -> Any:
    from trafilatura import bare_extraction  # takes half a second to import, and most workers never need it

    root = parse_by_lxml(html_of(document.page)[0])
    try:
        found = bare_extraction(root, url=document.page.url, fast=fast, with_metadata=True, include_comments=False)
    except MemoryError:  # the node's fault, not the page's
        raise
    except Exception as error:  # of heuristics on a hostile page: whatever it is, there is no article
        raise ExtractError("no-content", f"trafilatura: {type(error).__name__}: {error}") from error
    if found is None or isinstance(found, dict):  # a dict is returned only for an option that isn't set
        raise ExtractError("no-content", "trafilatura found no article")
    return found


def _holds(outer: Element, inner: Element) -> bool:
    return any(one == outer for one in inner.ancestors)


def _folded(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))


def _split(title: str) -> list[str]:
    """Returns what stands between the separators of a title, such as that before the site's name."""
    return [part for part in _separators.split(title) if part] or [title]


def _beyond_number(heading: str, titles: Iterable[str]) -> str:
    """Returns the title that begins with the number that is all of a heading, and says more; empty: none does.

    It is without that number where a kind is named with it: `Issue 12: Lamp broken` is the title `Lamp broken`, but
    `2026 floods` stays as it is.
    """
    is_number = len(heading) <= MAX_NUMBER_CHARACTERS and _is_number(heading)
    folded = _folded(heading) if is_number else ""
    for title in titles if folded else ():
        at = 0
        while at < min(len(title), 2 * MAX_NUMBER_CHARACTERS) and len(_folded(title[:at])) < len(folded):
            at += 1
        if _folded(title[:at]) == folded and not title[at : at + 1].isdigit():
            beyond = title[at:].lstrip(_SIGNS_BEYOND_NUMBER)
            if beyond.startswith("(") and beyond.find(")") == len(beyond) - 1:
                beyond = beyond[1:-1]
            return title if beyond and heading.isdigit() else beyond
    return ""


def _signer(written: str) -> str:
    """Returns the name behind a word such as "by", if that isn't said of something else; empty: there is none."""
    match = _by(written)
    if match is None:
        return ""
    before = written[: match.start()]
    last = _last_word(before)
    is_signed = last is None or last[1].casefold() in _SIGNED or _in_section(before) is not None
    return match[1] if is_signed else ""


def _sender(written: str) -> str:
    """Returns the name in the address of a letter, such as `Li Si <li@example.org>`; empty: it has none."""
    name, bracket, _ = written.partition("<")
    return name.strip(' "') if bracket else written.partition("(")[2].partition(")")[0]


def _name(written: str, refused: set[str]) -> str:
    """Returns a name without the words before it; empty if it is none."""
    name = _label("", text.line(written)).strip(" ,;:")
    is_name = (
        0 < len(name) <= MAX_NAME_CHARACTERS
        and len(name.split()) <= MAX_NAME_WORDS
        and any(map(str.isalpha, name))
        and _no_name(name) is None
        and _folded(name) not in refused
    )
    return name if is_name else ""
