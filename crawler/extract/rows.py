"""What a row of results says of the page that it links to: on its way there with the page's seed, and into its item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import orjson

from crawler.base import text
from crawler.base.item import TimeUnit
from crawler.extract.content import read_extra
from crawler.extract.declared import folded
from crawler.extract.field_kinds import FIELD_KINDS, sureness_of
from crawler.extract.references import has_references, is_of_markup, references_in, unescaped
from crawler.extract.words import comparable
from crawler.sites.result_rules import MAX_ROW_CHARACTERS, ROW_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.base.models import Fetched
    from crawler.extract.field_kinds import Fields
    from crawler.extract.readers import Reader, Scalar
    from crawler.extract.words import CombinationSearch
    from crawler.sites import Site

MAX_TEXT_CHARACTERS = 10_000  # of a row, in which words are looked for: a feed's entry may hold a whole article
# What a row of Redis may say of how sure its time is.
_SURENESS = {"published": ("day", "guess"), "published_unit": get_args(TimeUnit)}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of results.

    Attributes:
        said: Its fields as a JSON object, as a seed carries them; empty for none.
        text: In which `results.match` looks for words, `comparable`.
    """

    said: str = ""
    text: str = ""


def read_row(reader: Reader, site: Site, texts: Sequence[Any]) -> Row:
    """Reads a row.

    Args:
        reader: Of the row.
        site: Whose `results.fields` say what is read.
        texts: What `results.match` selects in it.
    """
    fields = site.results.fields
    said: dict[str, Any] = {}
    if fields:
        said = {name: FIELD_KINDS[name].read(reader, rule, site) for name, rule in fields.field_rules.items()}
        said |= {"extra": read_extra(reader, fields.extra), "sureness": sureness_of("published", said.get("published"))}
    matched = comparable(" ".join(map(str, texts))[:MAX_TEXT_CHARACTERS])
    return Row(_dumped({name: value for name, value in said.items() if value}), matched)


def found_by(rows: Iterable[tuple[str, Row]], search: CombinationSearch) -> list[tuple[str, Row, tuple[str, ...]]]:
    """Returns the rows whose text has all words of a combination, with each such combination, in their order.

    Args:
        rows: With their URLs.
    """
    return [(url, row, words) for url, row in rows for words in search.found_in(row.text)]


def with_row(found: Fields, said: str, page: Fetched, site: Site) -> Fields:
    """Returns the fields of a page, with those of its row of results that the page lacks, or was only guessed to have.

    Args:
        said: `Row.said`, from Redis, and therefore checked as what a stranger says.
    """
    row = _loaded(said)
    values: dict[str, Any] = {}
    for name in ROW_FIELDS:
        value = row.get(name)
        is_open = not found.has(name) or found.sureness.get(name) == "guess"
        if name == "title" and isinstance(value, str) and has_references(value):
            value = _title(value, found.title)
        if isinstance(value, str) and is_open and (clean := FIELD_KINDS[name].clean(value, page, site)):
            values[name] = clean
    extra = row.get("extra")
    defined = site.results.fields.extra if site.results.fields else {}
    more = {
        name: _clean(value)
        for name, value in (extra.items() if isinstance(extra, dict) else ())
        if name in defined and name not in found.extra
    }
    gained = {*values, *(f"extra.{name}" for name in more)}
    missing = tuple(name for name in found.missing if name not in gained)
    said_sure = row.get("sureness")
    sureness = {name: sure for name, sure in found.sureness.items() if name.removesuffix("_unit") not in values}
    if isinstance(said_sure, dict) and "published" in values:
        sureness |= {name: said_sure[name] for name in _SURENESS if said_sure.get(name) in _SURENESS[name]}
    return replace(found, **values, extra=found.extra | more, missing=missing, sureness=sureness)


def _title(said: str, own: str) -> str:
    """Returns the title that a row has with references, for which it was escaped twice, or which it is about.

    Args:
        said: By the row.
        own: That of the page, which decides; empty for none.

    Returns:
        Empty where the page's own is to be taken.
    """
    plain = unescaped(said)
    if not own:
        return said if all(map(is_of_markup, references_in(said))) else plain
    own_folded, plain_folded = folded(own), folded(plain)
    is_said = own_folded in plain_folded or plain_folded in own_folded
    return plain if is_said and not has_references(plain) and not has_references(own) else ""


def _dumped(said: dict[str, Any]) -> str:
    """Returns fields as JSON, without the last ones if it would be too long."""
    while said:
        dumped = orjson.dumps(said).decode()
        if len(dumped) <= MAX_ROW_CHARACTERS:
            return dumped
        said.popitem()
    return ""


def _loaded(said: str) -> dict[str, Any]:
    try:
        row = orjson.loads(said) if said else {}
    except orjson.JSONDecodeError:  # of a damaged Redis: the page is crawled all the same
        return {}
    return row if isinstance(row, dict) else {}


def _clean(value: Any) -> Scalar | list[Scalar]:
    if isinstance(value, list):
        return [entry for entry in map(_clean, value) if not isinstance(entry, list)]
    return value if isinstance(value, int | float) else text.paragraphs(str(value))
