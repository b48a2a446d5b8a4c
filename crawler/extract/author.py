"""Who wrote a page: whom it declares, then whom the lines around its title name, then whom it has in `<meta>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from crawler.base import text
from crawler.extract.declared import folded
from crawler.extract.references import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from turbohtml import Element

    from crawler.base.item import Sureness
    from crawler.extract.blocks import TextBlock
    from crawler.extract.declared import Declared

MAX_CHARACTERS, MAX_WORDS = 60, 6  # of a name
MAX_LINE_CHARACTERS = 200  # of a line that names an author
MAX_NAMES = 10
MAX_TOUCHING = 3  # lines from the title to one that is a name alone
_METAS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl")
_CITATION = "citation_author"
_NAME_WITHIN = "[itemprop~=name], [rel~=author]"  # an author's element, beside a role, a place or a picture
_CAPTIONS = frozenset({"figure", "figcaption"})
_names_author = re.compile(r"author(?!iz)|byline|username|poster-?name|writer|creator", re.IGNORECASE).search
_is_full_name = re.compile(r"[A-Z][\w.'\u2019-]*(?: [A-Z][\w.'\u2019-]*){1,3}").fullmatch
_tells_of = re.compile(r",? (?:is|was|has|covers|works|writes)\b").match
_names_more = re.compile(
    r"bio|box|about|image|avatar|photo|desc|social|follow|count|date|time|title", re.IGNORECASE
).search
_leads_to_author = re.compile(r"/(?:authors?|contributors?|writers?|columnists?|reporters?)/[^/]", re.IGNORECASE).search
_BY = (
    r"(?:by|von|par|por|di|door|av|text|autor(?:in)?|author|auteur|autore|contributors?"
    r"|\u4f5c\u8005|\u6587|\u64b0\u6587|\u8a18\u8005)"
)
_WRITTEN = (
    r"(?:(?:(?:this|the)\s(?:post|article|story)\s(?:was|is)\s)?(?:written|authored|text|updated|posted|published|submitted|started|created|reported|story|words|reviewed|article|"
    r"geschrieben|ver\u00f6ffentlicht|verfasst|eingestellt|gepostet|erstellt|publi\u00e9|\u00e9crit|post\u00e9|escrito|publicado|scritto|"
    r"pubblicato|postato|geschreven|geplaatst)\s+)"
)
_SIGNED = rf"(?:{_WRITTEN})?"
_signed = re.compile(
    rf"(?:^|[|\u00b7\u2022\u2013\u2014,)\d]\s*)(?i:{_SIGNED}{_BY})(?:\s*[:\uff1a]\s*|\s+|(?<=By)(?=[A-Z]))(?P<name>\S.*)"
).search
says_by_whom = re.compile(rf"^\W*(?i:{_WRITTEN}{_BY})(?:\s*:\s*|\s+)\w").search
_is_label = re.compile(
    rf"(?i:{_SIGNED}{_BY}|written by|verfasst von|scritto da|geschreven door|napisane przez)\s?:?"
).fullmatch
without_label = re.compile(rf"^\W*(?i:{_SIGNED}{_BY})(?:\s*[:\uff1a]\s*|\s+)").sub
# What ends a name: a date, a number, a sign between parts of a line, or words that lead to a date or a place.
_ends = re.compile(
    r"\s*(?:[|\u00b7\u2022\u22c5\u2013\u2014()\[\]\t\n\u00a9]|\s-\s|(?:\s(?:en|alle|a\slas)\s)?(?<!\w)\d|,?\s(?:on|at|am|um|om|in|updated|published|posted|last|for|"
    r"reviewed|fact|edited|photo|le|el|il|In)(?:\s|$)|(?<=[a-z\s])(?:Updated|Published|Posted)|"
    r",\s*(?=\d)|,?\s+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d)"
).split
# What somebody is, behind a name of two words.
_role = re.compile(
    r"(?<=\w)(?:,\s(?:\w+\s){0,2}"
    r"|\s(?:(?:senior|staff|contributing|managing|associate|executive|lead|chief|former)\s(?:\w+\s){0,2})?)"
    r"(?:writer|editor|reporter|journalist|columnist|correspondent|founder|contributor)\b",
    re.IGNORECASE,
).split
_without_note = re.compile(r"(\s[^\W\d]+)\d{1,2}$").sub  # the number of a footnote, behind a name of two words
_NO_NAMES = frozenset(
    """admin administrator by author autor auteur human editor editors editorial staff team wordpressadmin wpadmin user
    guest anonymous unknown root webmaster support redaktion theteam newsdesk byline writer contributor superuser
    unknownauthor guestauthor adminlogin login logout register follow subscribe share reply view edit contact default
    undefined null none website siteadmin content marketing writtenby authoredby postedby updatedby topicauthor link
    spotlight january february march april june july august september october november december mon tue wed thu fri
    updated sat sun jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_no_name = re.compile(
    r"""https?:|www\.|@|(?<!\w)\d{3}|[<>{}|\u00bb\u00a9]|\.(?:com|org|net|de|io)\b|^(?:log|sign)[\s-]?(?:in|out|up)\b
    |\badmin$|^(?=\S*\d)\S{16,}$|^(?:co-?)?(?:founder|owner|ceo|senior|chief|lead|managing)\b
    |^(?:about|all|more|the(?!.*\b(?:team|editors|staff)$)|this|view|read|see|get|our|your|my|how|what|why|if|in|on|to|a|an)\s
    |\b(?:copyright|getty|shutterstock|unsplash|images?|photo|foto|bild|minutes?|min|read|ago|comments?|subscribers?|
    followers?|posts?|articles?|blog)\b""",
    re.IGNORECASE | re.VERBOSE,
).search


@dataclass(frozen=True, slots=True)
class WrittenNames:
    """Where the text of a page may say who wrote it.

    Attributes:
        lines: The blocks around its title, the nearest first.
        texts: All that it says, of each block on one line.
        listed: What its lists of properties say of it.
        change: Its line on its last change; empty for none.
    """

    lines: Sequence[TextBlock]
    texts: Sequence[str]
    listed: Iterable[str]
    change: str


def read_author(declared: Declared, written: WrittenNames, refused: Sequence[str]) -> tuple[str | None, Sureness]:
    """Returns the names of authors, None if none are found, and how sure they are.

    Args:
        declared: What the page declares.
        written: Where its text may say so.
        refused: What is hardly a name on this page: its title, and then what its site is called.
    """
    others = frozenset(map(folded, refused))
    title = frozenset({folded(refused[0])})
    lines = written.lines

    def sound(names: Iterable[str], refused: frozenset[str] = others) -> str:
        return ", ".join(dict.fromkeys(name for written in names if (name := _name(written, refused))))

    declared_names = declared.names(declared.article.get("author"))
    marked = [*chain.from_iterable(_marked(lines, _is_declared))]
    signatures, named = [*_signatures(lines)], [*_marked(lines, _is_named)]
    cited = [_first_name_first(name) for name in declared.all_metas.get(_CITATION, [])[:MAX_NAMES]]
    for exact in (declared_names, marked, cited):
        if names := sound(exact):
            # Whom people read is the author; the account by which the page was made may be another's.
            shown = map(sound, (*([name] for name in signatures), *(named if " " not in names else ())))
            other = next((name for name in shown if " " in name), "")
            is_shown = any(name in block.text for name in names.split(", ") for block in lines)
            return (names, "exact") if is_shown or not other else (other, "guess")
    in_lines = [*([name] for name in (*written.listed, *signatures, *_labelled(lines))), *named]
    in_metas = [declared.metas.get(name, "") for name in _METAS]
    for guesses in (
        *in_lines,
        *(_parted(name) for name in (*in_metas, _of_card(declared.metas))),
        declared.names(_only_author(declared.json_ld)),
        [signed["name"]] if (signed := _signed(written.change)) else [],
        _told_of(written),
    ):
        if names := sound(guesses):
            return names, "guess"
    # Only where nobody else is named is it the site itself, or the one whose site it is.
    whole_names = (name for name in (*chain.from_iterable(in_lines), *in_metas) if " " in name)
    likeliest = next(iter((*declared_names, *whole_names)), "")
    return ("" if likeliest.islower() else sound([likeliest], title)) or None, "guess"


def _first_name_first(name: str) -> str:
    return " ".join(reversed(name.split(", ")))


def _parted(names: str) -> list[str]:
    """Returns the names in a list of several; a single one may have titles behind commas."""
    return names.split(", ")[:MAX_NAMES] if len(names) > MAX_CHARACTERS else [names]


def _of_card(metas: dict[str, str]) -> str:
    """Returns whom a page's card for messengers names as its author, below a label in its language; empty for none."""
    labelled = ((metas.get(f"twitter:label{n}", ""), metas.get(f"twitter:data{n}", "")) for n in (1, 2))
    return next((name for label, name in labelled if _is_label(label)), "")


def _only_author(objects: Iterable[dict[str, Any]]) -> Any:
    """Returns the author of all objects of a page, none of which is known to be the page; None if they have several."""
    authors = [entity["author"] for entity in objects if entity.get("author")]
    return authors[0] if authors and all(author == authors[0] for author in authors) else None


def _told_of(written: WrittenNames) -> list[str]:
    """Returns the names in lines right below the title that are a name alone, of whom the page tells further below."""
    names = (line for block in written.lines[:MAX_TOUCHING] if _is_full_name(line := text.line(block.text)))
    return [
        name for name in names if any(line.startswith(name) and _tells_of(line, len(name)) for line in written.texts)
    ]


def _labelled(lines: Sequence[TextBlock]) -> Iterator[str]:
    """Yields the lines behind one that is a label alone, such as `Written by`."""
    for label, line in pairwise(lines):
        if _is_label(label.text.strip()):
            yield line.text


def _marked(lines: Iterable[TextBlock], is_wanted: Callable[[Element], bool]) -> Iterator[list[str]]:
    """Yields of each line the texts of its elements marked as the author's: the shortest, and those like it."""
    for block in lines:
        boxes = [(0, len(block.text), around.element) for around in (block.box, block.box.parent) if around is not None]
        marked = [
            (end - begin, block.text[begin:end], element)
            for begin, end, element in (*block.inline, *boxes)
            if end - begin <= MAX_LINE_CHARACTERS and is_wanted(element)
        ]
        if marked:
            _, _, shortest = min(marked, key=itemgetter(0))
            kind = shortest.tag, shortest.attr("class"), shortest.attr("itemprop")
            yield [
                written if (name := element.select_one(_NAME_WITHIN)) is None else name.text
                for _, written, element in marked
                if (element.tag, element.attr("class"), element.attr("itemprop")) == kind
            ]


def _is_declared(element: Element) -> bool:
    marks = f"{element.attr('rel') or ''} {element.attr('itemprop') or ''}".split()
    return "author" in marks


def _is_named(element: Element) -> bool:
    names = f"{element.attr('class') or ''} {element.attr('id') or ''}"
    return any(
        _names_author(name) and (name.lower().endswith("name") or not _names_more(name)) for name in names.split()
    ) or (element.tag == "a" and _leads_to_author(element.attr("href") or "") is not None)


def _signatures(lines: Iterable[TextBlock]) -> Iterator[str]:
    """Yields the names in lines behind words such as `by`, which below a picture name its photographer."""
    for block in lines:
        line = " ".join(block.text.split())
        if block.tag not in _CAPTIONS and len(line) <= MAX_LINE_CHARACTERS and (signed := _signed(line)) is not None:
            yield signed["name"]


def _name(written: str, refused: frozenset[str]) -> str:
    """Returns a name without the words around it; empty if it is none."""
    name = without_label("", text.line(name_of(text.line(written))))
    name = _ends(name)[0].strip(" ,;:.-/&") if name else ""
    without_role = _role(name)[0]
    name = _without_note(r"\1", without_role if " " in without_role.strip() else name)
    key = folded(name)
    is_name = (
        1 < len(name) <= MAX_CHARACTERS
        and len(name.split()) <= MAX_WORDS
        and key not in _NO_NAMES
        and key not in refused
        and any(map(str.isalpha, name))
        and _no_name(name) is None
        and not (name.islower() and len(name.split()) > 1)
    )
    return name if is_name else ""
