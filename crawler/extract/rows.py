"""What a row of results says of the page that it links to: on its way there with the page's seed, and into its item."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from crawler import text
from crawler.extract.content import read_extra
from crawler.extract.field_kinds import KINDS, SURENESS_OF
from crawler.sites.definition import MAX_ROW_CHARACTERS, ROW_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.extract.field_kinds import Fields, Scalar
    from crawler.extract.readers import Reader
    from crawler.models import Fetched
    from crawler.sites import Site


@dataclass(frozen=True, slots=True)
class Row:
    """A row of results.

    Attributes:
        said: Its fields as a JSON object, as a seed carries them; empty for none.
        text: In which `results.match` looks for words, folded.
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
        said = {name: KINDS[name].read(reader, rule, site) for name, rule in fields.field_rules.items()}
        sureness = {name: SURENESS_OF[type(value)] for name, value in said.items() if type(value) in SURENESS_OF}
        said |= {"extra": read_extra(reader, fields.extra), "sureness": sureness}
    return Row(_dumped({name: value for name, value in said.items() if value}), _folded(" ".join(map(str, texts))))


def found_by(
    rows: Iterable[tuple[str, Row]], combinations: Sequence[tuple[str, ...]]
) -> list[tuple[str, Row, tuple[str, ...]]]:
    """Returns the rows whose text has all words of a combination, with each such combination, in their order.

    Args:
        rows: With their URLs.
        combinations: At most some 10,000: for a thousand rows they take two seconds.
    """
    folded = {word: _folded(word) for words in combinations for word in words}
    found = []
    for url, row in rows:
        present = {word for word, plain in folded.items() if plain in row.text}
        found += [(url, row, words) for words in combinations if present.issuperset(words)] if present else []
    return found


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
        if isinstance(value, str) and is_open and (clean := KINDS[name].clean(value, page, site)):
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
    sureness = {name: sure for name, sure in found.sureness.items() if name not in values}
    if isinstance(said_sure, dict):
        words = SURENESS_OF.values()
        sureness |= {name: sure for name, sure in said_sure.items() if name in values and sure in words}
    return replace(found, **values, extra=found.extra | more, missing=missing, sureness=sureness)


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


def _folded(words: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(words.split())).casefold()
