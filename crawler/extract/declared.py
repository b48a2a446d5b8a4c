"""What a page declares about itself for programs: JSON-LD, microdata and `<meta>` tags.

Both vocabularies are schema.org's, and become the same values here: objects with `@type`, lists and texts. What a page
declares isn't trusted to be well-formed or small; what is over a bound is left out.
"""

from __future__ import annotations

import html
import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import orjson

from crawler.base import page_json, text
from crawler.extract.microdata import microdata
from crawler.extract.references import has_references, is_of_markup, name_of, references_in, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import turbohtml

    from crawler.sites.selector import Declaration

MAX_SCRIPTS, MAX_SCRIPT_CHARACTERS = 20, 500_000  # of JSON-LD on a page; shops list their whole range in one
MAX_OBJECTS = 2_000  # of JSON-LD and microdata together
MAX_LEVELS = 8  # of objects within objects that are looked at; an author's name is on the second or third
MAX_METAS = 500
MAX_NAMES = 10  # of authors
MAX_HEADINGS = 100  # of a page, that are compared with what an object is called
MAX_TITLE_CHARACTERS = 500  # of one, that are compared
ALIKE_SHARE = 0.5  # of the words of what an object is called, that a title of its page has

# What a page is about, and is itself: an article of any kind, a question, a post.
ARTICLES = frozenset(
    """advertisercontentarticle analysisnewsarticle article askpublicnewsarticle backgroundnewsarticle blogposting
    creativework discussionforumposting liveblogposting medicalscholarlyarticle newsarticle opinionnewsarticle question
    recipe report reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle socialmediaposting
    techarticle""".split()
)
WEB_PAGES = frozenset({"webpage", "itempage", "aboutpage", "qapage", "medicalwebpage"})
_WITHIN = ("@graph", "mainEntity", "hasPart")  # where the page's own object may be, within another one
_BESIDE = "aside, nav, template, [role=complementary], [role=navigation]"  # where a page tells of other pages
# What may stand around JSON: comments of HTML and scripts, and CDATA; each as often as scripts nest it.
_BEFORE_JSON = ("<!--", "//", "/*", "*/", "<![CDATA[")
_BEHIND_JSON = ("-->", "//", "/*", "*/", "]]>", ";")
MAX_AROUND = 8
_controls = re.compile(r"[\x00-\x1f]+").sub
# A comma before a closing bracket; texts are taken as they are, so that one within them stays.
_without_extra_commas = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[\]}])', re.DOTALL).sub
_words = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W\u3040-\u9fff\uac00-\ud7a3]+").findall
_is_part_number = re.compile(r"(?:/(?:page|p|amp|print|\d+))*").fullmatch  # of an address, behind that of the whole


class Declared:
    """The declarations of one page, each kind read when it is first asked for.

    Args:
        tree: The page.
        url: Its own address.
    """

    def __init__(self, tree: turbohtml.Document, url: str) -> None:
        self._tree, self._url = tree, url

    @cached_property
    def metas(self) -> dict[str, str]:
        """The first content of each `<meta>`, by its `property`, `name` or `itemprop` in small letters."""
        return {name: contents[0] for name, contents in self.all_metas.items()}

    @cached_property
    def all_metas(self) -> dict[str, list[str]]:
        """All contents of each `<meta>`, by its `property`, `name` or `itemprop` in small letters."""
        metas: dict[str, list[str]] = {}
        for meta in self._tree.select("meta[content]")[:MAX_METAS]:
            value = text.line(meta.attr("content") or "")
            names = ((meta.attr(attribute) or "").strip().lower() for attribute in ("property", "name", "itemprop"))
            for name in dict.fromkeys(filter(None, names)) if value else ():
                metas.setdefault(name, []).append(value)
        return metas

    @cached_property
    def json_ld_text(self) -> str:
        """The beginning of what the page declares in JSON-LD, as written."""
        return " ".join(self._json_ld_scripts)[:MAX_SCRIPT_CHARACTERS]

    @cached_property
    def _json_ld_scripts(self) -> list[str]:
        scripts = self._tree.select('script[type^="application/ld+json" i]')[:MAX_SCRIPTS]
        return [written for written in (script.text for script in scripts) if len(written) <= MAX_SCRIPT_CHARACTERS]

    @cached_property
    def json_ld(self) -> list[dict[str, Any]]:
        """The objects of the page's JSON-LD, outer ones first; scripts that are no JSON are left out."""
        values = []
        for written in self._json_ld_scripts:
            try:
                values.append(_json_ld_value(written))
            except orjson.JSONDecodeError:
                continue  # as search engines do
        return _objects(values)

    @cached_property
    def microdata(self) -> list[dict[str, Any]]:
        """The objects of the page's microdata, outer ones first."""
        return _objects(microdata(self._tree)) if self._tree.select_one("[itemscope]") is not None else []

    def of(self, language: Declaration) -> Any:
        """Returns the declarations on which selectors of a language are run.

        Returns:
            For `meta` the contents by name. Else objects: the page's own first, the others in the page's order; a
            reference to another object within them has become that object.
        """
        if language == "meta":
            return self.all_metas
        return self._linked_json_ld if language == "jsonld" else self._own_first(self.microdata)

    @cached_property
    def article(self) -> dict[str, Any]:
        """The object that the page is about; empty if none is declared, or several are and none names this page.

        One that names another page, or is called like nothing on this one, is of what the page only tells of.
        """
        return self._only(ARTICLES)

    @cached_property
    def web_page(self) -> dict[str, Any]:
        """The object of the page itself, which may say when it was made; empty for none."""
        return self._only(WEB_PAGES)

    def names(self, value: Any) -> tuple[str, ...]:
        """Returns the names of people or organizations: texts, objects with a name, or references to such."""
        named: dict[str, None] = {}
        for entry in (value if isinstance(value, list) else [value])[:MAX_NAMES]:
            entity = entry
            if isinstance(entity, dict) and not _called(entity):
                entity = self._by_id.get(str(entity.get("@id", "")), {})
            name = name_of(_called(entity) if isinstance(entity, dict) else first_text(entity))
            if name and "://" not in name:
                named[name] = None
        return tuple(named)

    def as_shown(self, title: str) -> str:
        """Returns a title of the page, written or declared, without references that it has since it was escaped twice.

        It is about them if a heading has them as well. Those without which no page about markup can be written stand
        for a character only if a heading says so. What was escaped even more often is empty.
        """
        references = references_in(title[:MAX_TITLE_CHARACTERS]) if "&" in title else []
        if not references or any(reference in heading for heading in self._headings for reference in references):
            return title
        plain = unescaped(title)
        if has_references(plain):
            return ""
        plain_folded = folded(plain)
        headings = map(folded, (*self._headings, self.metas.get("og:title", "")))
        is_said = any(
            plain_folded in heading or (heading in plain_folded and len(heading) >= ALIKE_SHARE * len(plain_folded))
            for heading in headings
        )
        return plain if is_said or not all(map(is_of_markup, references)) else title

    def may_be_own(self, entity: dict[str, Any]) -> bool:
        """Returns whether an object says nothing by which it must be of another page."""
        named = [
            place for address in _addresses(entity, ("url", "mainEntityOfPage")) if (place := self._place(address))
        ]
        if named and not any(_is_same_place(place, own) for place in named for own in self._own_places):
            return False
        called = first_text(entity.get("headline")) or first_text(entity.get("name"))
        words = {*_words(called[:MAX_TITLE_CHARACTERS].casefold())}
        return not (words and self._titles) or any(
            len(words & title) >= ALIKE_SHARE * len(words) for title in self._titles
        )

    @cached_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        """The objects of JSON-LD that have a name in it; what is said of one in several places is put together."""
        by_id: dict[str, dict[str, Any]] = {}
        for entity in self.json_ld:
            if "@id" in entity:
                whole = by_id.setdefault(str(entity["@id"]), {})
                for name, value in entity.items():
                    whole.setdefault(name, value)
        return by_id

    @cached_property
    def _linked_json_ld(self) -> list[dict[str, Any]]:
        return [
            {name: self._linked(value) for name, value in entity.items()} for entity in self._own_first(self.json_ld)
        ]

    def _linked(self, value: Any) -> Any:
        """Returns a value with the objects to which it refers; references within those are left as they are."""
        if isinstance(value, list):
            return [self._linked(entry) if isinstance(entry, dict) else entry for entry in value]
        is_reference = isinstance(value, dict) and value.keys() == {"@id"}
        return self._by_id.get(str(value["@id"]), value) if is_reference else value

    def _own_first(self, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
        own = self._only_of(objects, ARTICLES) or self._only_of(objects, WEB_PAGES)
        return [own, *objects] if own else objects

    def _only(self, types: frozenset[str]) -> dict[str, Any]:
        beside = _objects(microdata(self._tree, besides=_BESIDE)) if self.microdata else []
        return next(
            filter(
                None, (self._only_of(filter(self.may_be_own, objects), types) for objects in (self.json_ld, beside))
            ),
            {},
        )

    def _only_of(self, objects: Iterable[dict[str, Any]], types: frozenset[str]) -> dict[str, Any]:
        """Returns the one object of some types, or of several that which names the page; empty for none."""
        candidates = [entity for entity in objects if not types.isdisjoint(_types(entity))]
        if len(candidates) > 1:
            candidates = [entity for entity in candidates if self._names_page(entity)]
        return candidates[0] if len(candidates) == 1 else {}

    def _names_page(self, entity: dict[str, Any]) -> bool:
        addresses = _addresses(entity, ("url", "@id", "mainEntityOfPage"))
        return any(address.partition("#")[0] == self._url for address in addresses)

    @cached_property
    def _own_places(self) -> list[tuple[str, str]]:
        """The path and query of each address that the page has or gives for itself."""
        link = self._tree.select_one("link[rel~=canonical]")
        canonical = (link.attr("href") or "") if link is not None else ""
        addresses = (self._url, canonical, self.metas.get("og:url", ""))
        return [place for address in addresses if address and (place := self._place(address))]

    def _place(self, address: str) -> tuple[str, str] | None:
        """Returns the path and the query of an address; None for that of a whole site, or for none.

        Hosts don't matter: many sites have several, and which of them an object names is chance.
        """
        try:
            parts = urlsplit(urljoin(self._url, address))
        except ValueError:
            return None
        path = unquote(parts.path).rstrip("/")
        return (path, parts.query) if path or parts.query else None

    @cached_property
    def _headings(self) -> list[str]:
        """The texts of the page's headings, the long ones cut, except those that tell of other pages."""
        headings = self._tree.select("h1, h2, h3")[:MAX_HEADINGS]
        return [heading.text[:MAX_TITLE_CHARACTERS] for heading in headings if heading.closest(_BESIDE) is None]

    @cached_property
    def _titles(self) -> list[set[str]]:
        """The words of each title that the page has for itself, and of its headings."""
        element = self._tree.select_one("title")
        written = [element.text if element is not None else "", self.metas.get("og:title", "")]
        titles = (title[:MAX_TITLE_CHARACTERS].casefold() for title in (*written, *self._headings))
        return [words for title in titles if (words := {*_words(title)})]


def _json_ld_value(written: str) -> Any:
    """Returns the value of a script, also one with what is none of JSON's but often there.

    That is a comment or CDATA around it, line breaks in texts, and commas before a closing bracket; or all of it is
    escaped, as the text of a page has to be.

    Raises:
        orjson.JSONDecodeError: It is no JSON but for these.
    """
    try:
        return page_json.loads(written.encode(errors="replace"))
    except orjson.JSONDecodeError:
        unwrapped = _unwrapped(written)
        readable = html.unescape(unwrapped) if '"' not in unwrapped else unwrapped
        plain = _without_extra_commas(r"\1", _controls(" ", readable))
        return page_json.loads(plain.encode(errors="replace"))


def _unwrapped(written: str) -> str:
    for _ in range(MAX_AROUND):
        written = written.strip()
        for before in _BEFORE_JSON:
            written = written.removeprefix(before)
        for behind in _BEHIND_JSON:
            written = written.removesuffix(behind)
    return written


def first_text(value: Any) -> str:
    """Returns a value as text on one line: of a list its first entry, of an object its `@value`; empty for none."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    return text.line(str(value)) if isinstance(value, str | int | float) else ""


def folded(words: str) -> str:
    """Returns the letters and digits of a text alone, in small letters, by which titles and names are compared."""
    return "".join(filter(str.isalnum, words.casefold()))


def _called(entity: dict[str, Any]) -> str:
    """Returns the name of a person or an organization; of a person, it may be in two parts."""
    parts = (first_text(entity.get(part)) for part in ("givenName", "familyName"))
    return first_text(entity.get("name")) or " ".join(filter(None, parts))


def _addresses(entity: dict[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """Yields the addresses that some properties of an object have."""
    for value in map(entity.get, names):
        address = value.get("@id") or value.get("url") if isinstance(value, dict) else value
        if isinstance(address, str) and ("/" in address or "." in address):
            yield address


def _is_same_place(named: tuple[str, str], own: tuple[str, str]) -> bool:
    """Returns whether two paths with their queries are of one page, of which one may be a part or another form."""
    asked, asked_by_own = (set(place[1].split("&")) - {""} for place in (named, own))
    rest = own[0].removeprefix(named[0]) if own[0].startswith(named[0]) else "?"
    return (asked <= asked_by_own or asked_by_own <= asked) and _is_part_number(rest) is not None


def _types(entity: dict[str, Any]) -> set[str]:
    named = entity.get("@type")
    return {str(name).rpartition("/")[2].lower() for name in (named if isinstance(named, list) else [named])}


def _objects(values: list[Any]) -> list[dict[str, Any]]:
    """Returns the objects in values, and those within them that may be the page's own."""
    return list(islice(_walk(values, 0), MAX_OBJECTS))


def _walk(value: Any, level: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for entry in value:
            yield from _walk(entry, level + 1) if level < MAX_LEVELS else ()
    elif isinstance(value, dict):
        yield value
        for name in _WITHIN:
            if name in value and level < MAX_LEVELS:
                yield from _walk(value[name], level + 1)
