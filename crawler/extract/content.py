"""A content page becomes fields: by the site's selectors, its parser, or trafilatura."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler import text
from crawler.errors import ExtractError
from crawler.extract.article import read_article
from crawler.extract.document import Document, absolute
from crawler.extract.field_kinds import KINDS, Fields, Scalar
from crawler.extract.parser import run_parser
from crawler.extract.readers import HtmlReader, JsonReader
from crawler.urls import host

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawler.extract.readers import Reader
    from crawler.models import Fetched
    from crawler.sites import Site
    from crawler.sites.definition import Content


def fields(
    page: Fetched,
    site: Site,
    *,
    parser_modules: Collection[str] = (),
    document: Document | None = None,
    continues: bool = False,
) -> Fields:
    """Reads a content page.

    Args:
        page: As downloaded.
        site: Whose selectors (or parser) say where things are.
        parser_modules: The setting PARSER_MODULES: what a site's `parser` may name.
        document: The same page, perhaps parsed already.
        continues: The page continues another one, which has the required fields.

    Raises:
        ExtractError: The page has none of the required fields, or isn't what the site says.
    """
    required: Collection[str]
    document = document or Document(page)
    if site.content:
        found = _by_rules(document, site, site.content)
        required = site.content.required
    elif site.parser:
        found = _cleaned(run_parser(document, site, parser_modules), page, site)
        required = ("content", "title")
    else:
        found = _cleaned(read_article(page), page, site)
        required = ("content",)
    if not continues and not any(map(found.has, required)):
        raise ExtractError("no-content", "the page has no " + " and no ".join(sorted(required)))
    return found


def join(parts: Sequence[Fields]) -> Fields:
    """Returns the pages of one item as one: texts in order, lists united, single values from the first that has one.

    Args:
        parts: At least one, in the order of the pages.
    """
    if len(parts) == 1:
        return parts[0]
    extra: dict[str, Scalar | list[Scalar]] = {}
    for name in dict.fromkeys(name for part in parts for name in part.extra):
        values = [part.extra[name] for part in parts if name in part.extra]
        lists = [value for value in values if isinstance(value, list)]
        extra[name] = list(dict.fromkeys(entry for value in lists for entry in value)) if lists else values[0]
    return Fields.of(
        {name: kind.join([getattr(part, name) for part in parts]) for name, kind in KINDS.items()},
        extra=extra,
        next_page=parts[-1].next_page,
        missing=tuple(name for name in parts[0].missing if all(name in part.missing for part in parts)),
    )


def _by_rules(document: Document, site: Site, content: Content) -> Fields:
    """Reads a page where the site's rules say."""
    page, reader = document.page, _reader(document, content)
    values = {name: KINDS[name].read(reader, rule, site) for name, rule in content.field_rules.items()}
    extra = _extra(reader, content)
    return Fields.of(
        values,
        extra=extra,
        next_page=_next_page(reader.urls(content.next_page, "images") if content.next_page else (), page),
        missing=(
            *(name for name, value in values.items() if not value),
            *(f"extra.{name}" for name in content.extra if name not in extra),
        ),
    )


def _reader(document: Document, content: Content) -> Reader:
    return JsonReader(document.json, document.page.url) if content.type == "json" else HtmlReader(document.html)


def _next_page(urls: Sequence[str], page: Fetched) -> str | None:
    """Returns the first URL; None when it is the page's own, or on another host, for which no turn is held."""
    url = urls[0] if urls else page.url
    return url if url != page.url and host(url) == host(page.url) else None


def _extra(reader: Reader, content: Content) -> dict[str, Scalar | list[Scalar]]:
    """Reads the fields that only this site has; those that the page lacks are left out."""
    extra: dict[str, Scalar | list[Scalar]] = {}
    for name, rule in content.extra.items():
        values = [value for value in map(_clean_value, reader.texts(rule)) if value != ""]
        if values:
            extra[name] = values if rule.all else values[0]
    return extra


def _cleaned(found: Fields, page: Fetched, site: Site) -> Fields:
    """Brings what a parser or trafilatura has read into the form that rules give."""
    values = {name: kind.clean(getattr(found, name), page, site) for name, kind in KINDS.items()}
    return Fields.of(
        values,
        extra={
            name: [_clean_value(entry) for entry in value] if isinstance(value, list) else _clean_value(value)
            for name, value in found.extra.items()
        },
        next_page=_next_page(absolute([found.next_page or ""], page.url), page),
        missing=tuple(name for name, value in values.items() if not value),
    )


def _clean_value(value: Scalar) -> Scalar:
    return text.paragraphs(value) if isinstance(value, str) else value
