"""What a page declares about itself for programs: JSON-LD, microdata and `<meta>` tags.

Both vocabularies are schema.org's, and become the same values here: objects with `@type`, lists and texts. What a page
declares isn't trusted to be well-formed or small; what is over a bound is left out.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from crawler import page_json, text
from crawler.extract.microdata import microdata

if TYPE_CHECKING:
    from collections.abc import Iterator

    import turbohtml

    from crawler.sites.selector import Declaration

MAX_SCRIPTS, MAX_SCRIPT_CHARACTERS = 20, 500_000  # of JSON-LD on a page; shops list their whole range in one
MAX_OBJECTS = 2_000  # of JSON-LD and microdata together
MAX_LEVELS = 8  # of objects within objects that are looked at; an author's name is on the second or third
MAX_METAS = 500
MAX_NAMES = 10  # of authors

# What a page is about, and is itself: an article of any kind, a question, a post.
ARTICLES = frozenset(
    """advertisercontentarticle analysisnewsarticle article askpublicnewsarticle backgroundnewsarticle blogposting
    creativework discussionforumposting liveblogposting medicalscholarlyarticle newsarticle opinionnewsarticle question
    recipe report reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle socialmediaposting
    techarticle""".split()  # noqa: SIM905 -- a list of words reads better
)
WEB_PAGES = frozenset({"webpage", "itempage", "aboutpage", "qapage", "medicalwebpage"})
_WITHIN = ("@graph", "mainEntity", "hasPart")  # where the page's own object may be, within another one


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
        found: dict[str, list[str]] = {}
        for meta in self._tree.select("meta[content]")[:MAX_METAS]:
            value = text.line(meta.attr("content") or "")
            names = ((meta.attr(attribute) or "").strip().lower() for attribute in ("property", "name", "itemprop"))
            for name in dict.fromkeys(filter(None, names)) if value else ():
                found.setdefault(name, []).append(value)
        return found

    @cached_property
    def json_ld(self) -> list[dict[str, Any]]:
        """The objects of the page's JSON-LD, outer ones first; scripts that are no JSON are left out."""
        values = []
        for script in self._tree.select('script[type="application/ld+json" i]')[:MAX_SCRIPTS]:
            written = script.text
            if len(written) <= MAX_SCRIPT_CHARACTERS:
                try:
                    values.append(page_json.loads(written.encode(errors="replace")))
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
        """The object that the page is about; empty if none is declared, or several are and none names this page."""
        return self._only(ARTICLES)

    @cached_property
    def web_page(self) -> dict[str, Any]:
        """The object of the page itself, which may say when it was made; empty for none."""
        return self._only(WEB_PAGES)

    def names(self, value: Any) -> tuple[str, ...]:
        """Returns the names of people or organizations: texts, objects with a name, or references to such."""
        found: dict[str, None] = {}
        for entry in (value if isinstance(value, list) else [value])[:MAX_NAMES]:
            one = entry
            if isinstance(one, dict) and "name" not in one:
                one = self._by_id.get(str(one.get("@id", "")), {})
            name = first_text(one.get("name")) if isinstance(one, dict) else first_text(one)
            if name and "://" not in name:
                found[name] = None
        return tuple(found)

    @cached_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        """The objects of JSON-LD that have a name in it; what is said of one in several places is put together."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.json_ld:
            if "@id" in one:
                whole = found.setdefault(str(one["@id"]), {})
                for name, value in one.items():
                    whole.setdefault(name, value)
        return found

    @cached_property
    def _linked_json_ld(self) -> list[dict[str, Any]]:
        return [{name: self._linked(value) for name, value in one.items()} for one in self._own_first(self.json_ld)]

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
        return self._only_of(self.json_ld, types) or self._only_of(self.microdata, types)

    def _only_of(self, objects: list[dict[str, Any]], types: frozenset[str]) -> dict[str, Any]:
        """Returns the one object of some types, or of several that which names the page; empty for none."""
        found = [one for one in objects if not types.isdisjoint(_types(one))]
        if len(found) > 1:
            found = [one for one in found if self._names_page(one)]
        return found[0] if len(found) == 1 else {}

    def _names_page(self, one: dict[str, Any]) -> bool:
        named = (one.get(key) for key in ("url", "@id", "mainEntityOfPage"))
        addresses = (value.get("@id") or value.get("url") if isinstance(value, dict) else value for value in named)
        return any(isinstance(value, str) and value.partition("#")[0] == self._url for value in addresses)


def first_text(value: Any) -> str:
    """Returns a value as text on one line: of a list its first entry, of an object its `@value`; empty for none."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    return text.line(str(value)) if isinstance(value, str | int | float) else ""


def _types(one: dict[str, Any]) -> set[str]:
    named = one.get("@type")
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
