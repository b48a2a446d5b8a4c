"""Who wrote an article: whom the page declares, then whom lines by its title name, then what is named for an author.

A name ends where its link or element does, or at a date; the words before it are never part of it.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from turbohtml import Element, Text

from crawler.base import text
from crawler.extract.article_icons import behind_icons
from crawler.extract.author_links import is_named_by, looks_like_name, slug_of_author
from crawler.extract.dates import to_utc
from crawler.extract.declared import folded
from crawler.extract.lines import line_of, lines_of
from crawler.extract.page_templates import AUTHOR
from crawler.extract.references import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from zoneinfo import ZoneInfo

    from crawler.base.item import Sureness
    from crawler.extract.article_places import Places
    from crawler.extract.declared import Declared
    from crawler.extract.page_templates import PageComparison

MAX_NAME_CHARACTERS, MAX_NAME_WORDS = 60, 6
MAX_SMALL_WORDS = 2  # of a name in small letters; more are the words of a sentence
MAX_NODES = 200  # of a line
MAX_LINKS = 50  # by a title, that are looked at

BREAK = "\n"  # between the blocks of a line, of which each says something of its own
_BLOCKS = frozenset("br dd div dt h2 h3 h4 h5 h6 li p section td tr ul".split())
_DECLARED = "[rel~=author], [itemprop~=author]"
_AUTHORS = (
    "[class*=author i], [class*=byline i], [class*=username i], [class*=poster i], [class*=writer i], [id*=author i]"
)
_LINKED = 'a[href*="/aut" i]'  # of which some are of all that an author wrote
_ARTICLE = '[itemscope][itemtype*="Article" i], [itemscope][itemtype*="Posting" i]'
_COMMENT = '[itemtype$="/Comment" i], [itemtype$="/UserComments" i]'
_METAS = tuple(
    """author article:author dc.creator dcterms.creator parsely-author sailthru.author
    citation_author""".split()
)
_BY = r"(?<!\w)(?:by|von|par|por|di|door|av|\u4f5c\u8005[:\uff1a]?)"
by_name = re.compile(
    _BY + r"\s+(\S[^\d\n]{0,59}?)"
    r"(?:(?:\s+(?-i:on|at))?$|(?:\s+(?:on|at|am|le|el|il|op|den)|\s*[,|\u00b7\u2022\u2013\u2014-])\s+\d)",
    re.IGNORECASE,
).search
_ends_as_by = re.compile(_BY + r"\s*[:\uff1a]?\s*$", re.IGNORECASE).search
# What may stand before such a word, folded, so that a name follows; "powered by" and the like are of somebody else.
_SIGNED = frozenset(
    """written posted published submitted started created authored reported opened added contributed modified changed
    edited updated asked story text words report article ago geschrieben ver\u00f6ffentlicht erstellt verfasst
    publi\u00e9 \u00e9crit post\u00e9 escrito publicado pubblicato scritto geschreven geplaatst skrevet
    skriven""".split()
)
_last_word = re.compile(r"(?<!\w)([^\W\d_]+)\s*$").search
_in_section = re.compile(r"(?<!\w)in\s+[^\d\n]{1,40}$", re.IGNORECASE).search
ends_as_time = re.compile(r"[\d\u65e5](?:\s*[ap]\.?m\.?)?(?:\s*[A-Z]{1,4})?\W*$", re.IGNORECASE).search
_is_and = re.compile(r"\s*(?:[,&\u3001]|,?\s(?:and|und|et|y|e|en|och|og)\s)\s*").fullmatch
_blanks = re.compile(r"\s+").sub
_label = re.compile(
    rf"^(?:(?:(?:{'|'.join(sorted(_SIGNED))})\s+)?(?:by|von|par|por|di|door|av)|autor(?:in)?|author|auteur|autore"
    r"|\u4f5c\u8005|\u6587|\u64b0\u6587|\u8457\u8005|\u6295\u7a3f\u8005|\uae00\uc4f4\uc774|\uc791\uc131\uc790)"
    r"(?:\s*[:\uff1a\uff0f/]\s*|\s+)",
    re.IGNORECASE,
).sub
_no_name = re.compile(
    r"""https?:|@|\d{3}|[<>{}|\u00bb\u00b7\u2022]|^\d+\s
    |^(?:(?:(?:story|posted|written|published|added|the)\s)?(?:author|by)|admin\slogin|guest|anonymous|unknown\s?author)$
    |^(?:log|sign)[\s-]?(?:in|out|up|on|off)\b|^(?:login|logout|register|follow|subscribe)\b
    |^(?:share|reply|view|edit|contact)(?:\sus)?$
    |^(?:about|all|more)\s(?:the|this|us|posts|articles|stories|by|from)\b|^welcome\b
    |^(?:\u767b\u5f55|\u767b\u9304|\u6ce8\u518c|\u8a3b\u518a|\u5173\u6ce8|\u95dc\u6ce8|anmelden|abmelden|registrieren
    |connexion|s'inscrire|iniciar\ssesi\u00f3n|\u0432\u043e\u0439\u0442\u0438)$""",
    re.IGNORECASE | re.VERBOSE,
).search


class AuthorReader:
    """Reads whose a page is.

    Args:
        declared: What the page declares.
        places: Where its parts stand.
        comparison: The page beside others.
        zone: Of times that name none.
        refused: What is no name on this page, folded: what it is called, and its site.
    """

    def __init__(
        self,
        declared: Declared,
        places: Places,
        comparison: PageComparison,
        zone: ZoneInfo,
        refused: Iterable[str],
    ) -> None:
        self._declared, self._places, self._comparison, self._zone = declared, places, comparison, zone
        self._refused = frozenset(map(folded, refused)) | {""}

    def read(
        self, listed: Iterable[str], signed: Iterable[Element], changed_by: str, created: str | None
    ) -> tuple[str | None, Sureness]:
        """Returns the name of an author, None if none is found, and how sure that is.

        Args:
            listed: What lists of properties and heads of letters say of it.
            signed: What says when the page was made, and may say by whom.
            changed_by: Who changed the page last; empty if it doesn't say so.
            created: When the page says that it was made, as UTC; None if it doesn't say so.
        """
        if names := self._declared.names(self._declared.article.get("author")):
            return ", ".join(names), "exact"
        own = (one for one in self._of_page(_DECLARED, created) if not self._is_of_other_article(one))
        if name := next(filter(None, map(self._name_in, own)), ""):
            return name, "exact"
        named = self._of_page(_AUTHORS, created)
        guesses = chain(
            (name for line in self._places.lines for name in signed_names(line)),
            (self._name_in(one) for one in named),
            self._linked(),
            (one for one in behind_icons(self._places.lines, "person") if looks_like_name(self._name(one))),
            listed,
            (name for one in signed for name in signed_names(one)),
            (self._declared.metas.get(name, "") for name in _METAS),
            (changed_by,),
        )
        names_found = filter(None, (self._name(one) for one in guesses))
        return next(
            (one for one in names_found if not self._comparison.others_have("author", one, AUTHOR)), None
        ), "guess"

    def _of_page(self, css: str, created: str | None) -> Iterator[Element]:
        """Yields what a selector finds where it may be of the page's author."""
        for element in self._places.beside_text(css):
            if not self._places.is_apart(element, in_header=True) and not self._is_of_comment(element, created):
                yield element

    def _linked(self) -> Iterator[str]:
        """Yields the names by the title that link to all that their authors wrote, together."""
        links = (one for line in self._places.lines for one in (line, *line.select(_LINKED)) if one.tag == "a")
        found: dict[str, str] = {}  # by the end of the address, to which several links may lead
        for link in islice(links, MAX_LINKS):
            if slug := slug_of_author(link):
                name = self._name(line_of(link))
                found[slug] = found.get(slug) or (name if is_named_by(name, slug) else "")
        if found and all(found.values()):
            yield ", ".join(dict.fromkeys(found.values()))

    def _is_of_other_article(self, element: Element) -> bool:
        """Returns whether an element is of an item that tells of another page."""
        item = element.closest(_ARTICLE)
        said = (item.select_one(f"[itemprop~={name}]") if item is not None else None for name in ("headline", "url"))
        headline, link = ("" if one is None else one.attr("href") or one.attr("content") or one.text for one in said)
        return item is not None and not self._declared.may_be_own({"headline": headline, "url": link})

    def _is_of_comment(self, element: Element, created: str | None) -> bool:
        """Returns whether an element is of a comment, unless that is the first one and as old as the page."""
        comment = element.closest(_COMMENT)
        if comment is None:
            return False
        time = comment.select_one("[itemprop~=datePublished]")
        written = "" if time is None else time.attr("content") or time.attr("datetime") or time.text
        is_first = self._places.parts.tree.select_one(_COMMENT) == comment
        return not is_first or created is None or to_utc(written, self._zone) != created

    def _name_in(self, element: Element) -> str:
        """Returns the name that an element has, with or without words before it; empty if it has none."""
        written = (*signed_names(element), *lines_of(element))
        return next(filter(None, map(self._name, written)), "")

    def _name(self, written: str) -> str:
        """Returns a name without the words before it; empty if it is none."""
        name = _label("", text.line(name_of(written))).strip(" ,;:")
        is_name = (
            0 < len(name) <= MAX_NAME_CHARACTERS
            and len(name.split()) <= (MAX_SMALL_WORDS if name.islower() else MAX_NAME_WORDS)
            and any(map(str.isalpha, name))
            and _no_name(name) is None
            and folded(name) not in self._refused
        )
        return name if is_name else ""


def signed_names(line: Element) -> Iterator[str]:
    """Yields the names in a line behind words such as "by" or "Posted by:", all together: of several there is one."""
    before = ""
    names: list[str] = []
    for words, is_link in _pieces(line):
        if not words.strip() or (names and not (is_link and _is_and(before) is not None)):
            before += words
        elif names or _is_signed(before, _ends_as_by(before)):
            names.append(words.strip())
            before = ""
        elif (match := by_name(f"{before}{words}".rstrip())) is not None and match.start(1) >= len(before):
            yield signer(f"{before}{words}".rstrip())
            return
        else:
            before += words
    if names:
        yield ", ".join(names)


def signer(written: str) -> str:
    """Returns the name behind a word such as "by", if that isn't said of something else; empty: there is none."""
    match = by_name(written)
    return match[1] if match is not None and _is_signed(written, match) else ""


def sender(written: str) -> str:
    """Returns the name in the address of a letter, such as `Li Si <li@example.org>`; empty: it has none."""
    name, bracket, _ = written.partition("<")
    return name.strip(' "') if bracket else written.partition("(")[2].partition(")")[0]


def _is_signed(written: str, by: re.Match[str] | None) -> bool:
    """Returns whether a word such as "by" says who wrote something, by what stands before it."""
    if by is None:
        return False
    before = written[: by.start()]
    last = _last_word(before)
    return (
        last is None
        or last[1].casefold() in _SIGNED
        or _in_section(before) is not None
        or ends_as_time(before) is not None
    )


def _pieces(line: Element) -> Iterator[tuple[str, bool]]:
    """Yields the texts of a line, and whether each is that of a link, which is one piece, and `BREAK` before blocks."""
    link: Element | None = None
    for node in islice(line.descendants, MAX_NODES):
        if isinstance(node, Element) and node.tag == "a":
            link = node
            yield line_of(node), True
        elif isinstance(node, Element) and node.tag in _BLOCKS:
            yield BREAK, False
        elif isinstance(node, Text) and (link is None or link not in node.ancestors):
            yield _blanks(" ", node.data), False
