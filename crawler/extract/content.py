"""A content page becomes fields: by the site's selectors, its parser, or trafilatura."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler import text
from crawler.errors import ExtractError
from crawler.extract.article import read_article
from crawler.extract.dates import to_utc
from crawler.extract.document import Document, absolute
from crawler.extract.item import Fields, Scalar
from crawler.extract.parser import run_parser
from crawler.extract.readers import HtmlReader, JsonReader
from crawler.urls import host

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawler.extract.readers import Reader
    from crawler.models import Fetched
    from crawler.sites import Site
    from crawler.sites.definition import Content, Rule

MAX_DATES = 5  # tried for one field: guessing may take 0.1 s each, and a page that has more than that has none

_USUAL = ("title", "author", "published", "content", "images", "videos")


def fields(
    page: Fetched, site: Site, *, parser_modules: Collection[str] = (), document: Document | None = None
) -> Fields:
    """Reads a content page.

    Args:
        page: As downloaded.
        site: Whose selectors (or parser) say where things are.
        parser_modules: The setting PARSER_MODULES: what a site's `parser` may name.
        document: The same page, perhaps parsed already.

    Raises:
        ExtractError: The page has none of the required fields, or isn't what the site says.
    """
    if site.content:
        found = _selected(document or Document(page), site, site.content)
        required: Collection[str] = site.content.required
    else:
        found = run_parser(page, site, parser_modules) if site.parser else read_article(page)
        found = _clean(found, page, site)
        required = {"title", "content"} if site.parser else {"content"}
        found = replace(found, missing=tuple(name for name in _USUAL if not _has(found, name)))
    if not any(_has(found, name) for name in required):
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
    return Fields(
        title=next((part.title for part in parts if part.title), ""),
        author=next((part.author for part in parts if part.author), None),
        published=next((part.published for part in parts if part.published), None),
        content="\n".join(part.content for part in parts if part.content),
        images=_united(part.images for part in parts),
        videos=_united(part.videos for part in parts),
        extra=extra,
        next_page=parts[-1].next_page,
        missing=tuple(name for name in parts[0].missing if all(name in part.missing for part in parts)),
    )


def _selected(document: Document, site: Site, content: Content) -> Fields:
    page, reader = document.page, _reader(document, content)
    found = Fields(
        title=text.line(_joined(reader, content.title, " ")),
        author=text.line(_joined(reader, content.author, ", ")) or None,
        published=_published(reader, content.published, site),
        content=text.paragraphs(_joined(reader, content.content, "\n")),
        images=reader.urls(content.images, "images") if content.images else (),
        videos=reader.urls(content.videos, "videos") if content.videos else (),
        extra=_extra(reader, content),
        next_page=_next_page(reader.urls(content.next_page, "images") if content.next_page else (), page),
    )
    return replace(found, missing=tuple(name for name in content.rules if not _has(found, name)))


def _reader(document: Document, content: Content) -> Reader:
    return JsonReader(document.json, document.page.url) if content.type == "json" else HtmlReader(document.html)


def _joined(reader: Reader, rule: Rule | None, between: str) -> str:
    return between.join(map(str, reader.texts(rule))) if rule else ""


def _published(reader: Reader, rule: Rule | None, site: Site) -> str | None:
    values = reader.texts(rule, date=True)[:MAX_DATES] if rule else []
    dates = (to_utc(text.line(str(value)), site.zone, rule.format) for value in values if rule)
    return next((date for date in dates if date), None)


def _next_page(urls: Sequence[str], page: Fetched) -> str | None:
    """Returns the first URL, unless it leads to another host, whose turn nobody holds, or nowhere."""
    url = urls[0] if urls else page.url
    return url if url != page.url and host(url) == host(page.url) else None


def _extra(reader: Reader, content: Content) -> dict[str, Scalar | list[Scalar]]:
    extra: dict[str, Scalar | list[Scalar]] = {}
    for name, rule in content.extra.items():
        values = [value for value in map(_clean_value, reader.texts(rule)) if value != ""]
        if values:
            extra[name] = values if rule.all else values[0]
    return extra


def _clean(found: Fields, page: Fetched, site: Site) -> Fields:
    """Brings what others have read into the form that selectors give."""
    return replace(
        found,
        title=text.line(found.title),
        author=text.line(found.author or "") or None,
        published=to_utc(found.published, site.zone) if found.published else None,
        content=text.paragraphs(found.content),
        images=absolute(found.images, page.url),
        videos=absolute(found.videos, page.url),
        next_page=_next_page(absolute([found.next_page or ""], page.url), page),
        extra={
            name: [_clean_value(entry) for entry in value] if isinstance(value, list) else _clean_value(value)
            for name, value in found.extra.items()
        },
    )


def _clean_value(value: Scalar) -> Scalar:
    return text.paragraphs(value) if isinstance(value, str) else value


def _has(found: Fields, name: str) -> bool:
    if name.startswith("extra."):
        return name.removeprefix("extra.") in found.extra
    return bool(getattr(found, name))


def _united(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(url for urls in lists for url in urls))
