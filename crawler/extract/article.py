"""Content pages of sites without selectors: what they declare, then what their parts are named, then trafilatura.

What other pages of the same template have, too, is left out of all that isn't declared (page_templates.py).

Wrong is worse than empty: what isn't found where it is usual is left out, and each field says how sure it is.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from turbohtml import Element

from crawler.base import text
from crawler.base.errors import ExtractError
from crawler.extract.article_author import AuthorReader, by_name, ends_as_time, sender
from crawler.extract.article_places import Places
from crawler.extract.article_text import ArticleText
from crawler.extract.article_time import MAX_DATE_CHARACTERS, TimeReader
from crawler.extract.article_title import read_title
from crawler.extract.dates import to_utc
from crawler.extract.declared import folded
from crawler.extract.field_kinds import Fields
from crawler.extract.html_text import HtmlText
from crawler.extract.lines import line_of
from crawler.extract.login import is_login
from crawler.extract.page_parts import SMALL_CHARACTERS, PageParts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.base.item import Sureness
    from crawler.extract.article_title import Title
    from crawler.extract.document import Document
    from crawler.sites import Site

MAX_ARTICLE_BYTES = 3_000_000  # 0.4 s a MB, whatever is in it
MAX_ELEMENTS = 50_000  # 5 s at worst, in a thread (offload.py); the longest articles of Wikipedia have fewer

_MAIL_LABELS = frozenset({"from", "date", "subject"})  # all of them stand above a letter in an archive of mail
# What stands before a name in a table or list of a thing's properties, folded: in trackers of tickets and the like.
_AUTHOR_LABELS = frozenset(
    """reportedby reporter submittedby submitter openedby createdby creator postedby writtenby author autor auteur
    autore gemeldetvon erstelltvon rapport\u00e9par informador autora
    \u4f5c\u8005 \u62a5\u544a\u4eba \u63d0\u4ea4\u8005 \u5831\u544a\u8005""".split()
)
# Likewise before a time, in lists alone: tables are of anything, and say when a book was published, or a bridge opened.
_DATE_LABELS = frozenset(
    """published publishedon publicationdate dateofpublication datepublished posted postedon submitted submittedon
    created createdon ver\u00f6ffentlicht publi\u00e9le publicado \u53d1\u5e03\u65f6\u95f4 \u53d1\u5e03\u65e5\u671f
    \u767c\u5e03\u6642\u9593 \u767c\u5e03\u65e5\u671f \u516c\u958b\u65e5""".split()
)
# These count beside an author; alone they may be of anything that the text tells of.
_DATE_LABELS_BESIDE_AUTHOR = frozenset(
    "date datum fecha data \u65e5\u671f \u65f6\u95f4 \u65e5\u4ed8 \ub0a0\uc9dc".split()
)


def read_article(document: Document, site: Site) -> Fields:
    """Returns what a page says of itself, clean, and how sure each field is.

    Args:
        document: The page, which is compared with others of its template.
        site: Whose dates it has.

    Raises:
        ExtractError: Those of `Document.html`; `too-large` or `too-many-tags` beyond an article's size; `no-content` if
            no article is found; `login` for a page that is one.
    """
    page = document.page
    if len(page.body) > MAX_ARTICLE_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes, an article has at most {MAX_ARTICLE_BYTES}")
    tree = document.html.tree
    elements = len(tree.select("*"))
    if elements > MAX_ELEMENTS:
        raise ExtractError("too-many-tags", f"{elements} elements, an article has at most {MAX_ELEMENTS}")
    found = _Article(document, site, elements).fields()
    if is_login(page.url, tree, found.content):
        raise ExtractError("login", "it asks for a password, and its address is a login's")
    return found


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
        title = read_title(self._parts, self._declared, self._comparison)
        self._byline = self._line_below(title.heading)
        content, images = self._content(title.heading)
        places = Places(self._parts, title.heading)
        times = TimeReader(self._declared, places, self._comparison, self._site, self._language())
        before = [] if self._body is None else [*self._parts.before(self._body)]
        lines = before if self._byline is None else [self._byline, *before]
        published, published_sure = times.read(self._labelled_dates(), lines)
        author, author_sure = self._author(title, places, times, lines)
        found = {"title": title.words, "author": author, "published": published, "content": content, "images": images}
        missing = tuple(name for name, value in found.items() if not value)
        sure = self._sure | {"title": title.sure, "author": author_sure, "published": published_sure}
        sureness = {name: sure[name] for name in found if name not in missing and name in sure}
        return Fields.of(found, missing=missing, sureness=sureness, canonical_url=self._document.html.canonical_url)

    def _author(
        self, title: Title, places: Places, times: TimeReader, lines: list[Element]
    ) -> tuple[str | None, Sureness]:
        """Returns the author, None if none is found, and how sure that is."""
        listed = [written for _within, written in self._labelled(_AUTHOR_LABELS, "th, dt")]
        listed += [sender(self._mail_head["from"])] if self._mail_head else []
        refused = (title.words, self._declared.metas.get("og:site_name", ""))
        reader = AuthorReader(self._declared, places, self._comparison, self._site.zone, refused)
        return reader.read(listed, (*times.named, *lines), times.change.name, times.declared_time)

    def _line_below(self, heading: Element | None) -> Element | None:
        """Returns the line below a title if it says whose the text is and of when, and nothing else."""
        below = (one for one in heading.next_siblings if isinstance(one, Element)) if heading is not None else iter(())
        line = next(below, None)
        if line is None or line.tag not in ("p", "div"):
            return None
        written = line_of(line)
        signed = by_name(written) if len(written) <= MAX_DATE_CHARACTERS else None
        if signed is None or signed.start() != 0:
            return None
        when = written[signed.end(1) :]
        is_all = ends_as_time(when) is not None
        return line if is_all and to_utc(when, self._site.zone, language=self._language()) is not None else None

    def _labelled(self, labels: frozenset[str], css: str) -> Iterator[tuple[Element, str]]:
        """Yields what stands beside one of some words in tables or lists of properties, each with its table or list.

        Args:
            labels: The words, folded.
            css: Finds the elements that such a word may be.
        """
        for label in self._parts.outside_asides(css):
            value = next((one for one in label.next_siblings if isinstance(one, Element)), None)
            within = label.closest("table, dl")
            if value is None or within is None or value.tag not in ("td", "dd") or folded(label.text) not in labels:
                continue
            yield within, line_of(value)

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
            said = {folded(label): value.strip().partition("\t")[0] for label, colon, value in lines if colon}
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
                written = line_of(line)
                found.setdefault(within, {})[folded(label.text)] = written.partition(":")[2]
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
                    yield written

    def _content(self, heading: Element | None) -> tuple[str, tuple[str, ...]]:
        self._sure["content"] = self._sure["images"] = "guess"
        if self._letter is not None and self._letter[1]:
            return self._letter[1], ()
        lists = {within for within, _author in self._labelled(_AUTHOR_LABELS, "dt")}
        about = frozenset({self._byline, *(one for one in lists if len(one.text) < SMALL_CHARACTERS)})
        return ArticleText(self._document, self._parts, heading, about).read(self._elements)

    def _language(self) -> str:
        root = self._parts.tree.select_one("html")
        return ((root.attr("lang") or "") if root is not None else "").strip()
