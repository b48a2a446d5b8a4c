"""A content page becomes fields: by the site's selectors, its parser, or what usually tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.base import reasons, text
from crawler.base.errors import ExtractError
from crawler.base.item import ReadAs
from crawler.base.urls import host
from crawler.extract import shape
from crawler.extract.answers import Answers, AnswersReader, RenderedReader
from crawler.extract.article import read_article
from crawler.extract.comments import MAX_COMMENTS, ReadComment, count_in, joined
from crawler.extract.document import Document, absolute
from crawler.extract.field_kinds import BY_MARK, FIELD_KINDS, Fields
from crawler.extract.parser import run_parser
from crawler.extract.readers import HtmlReader, JsonReader, TextReader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crawler.base.models import Fetched
    from crawler.extract.readers import Reader, Scalar
    from crawler.sites import Site
    from crawler.sites.comment_rules import CommentRules
    from crawler.sites.content_rules import Content
    from crawler.sites.joined import Joined
    from crawler.sites.page_type import PageType
    from crawler.sites.pattern import Pattern
    from crawler.sites.rule import Rule

_LINE = BY_MARK[ReadAs.LINE]
_COMMENT_KINDS = {
    "text": BY_MARK[ReadAs.PARAGRAPHS],
    "author": BY_MARK[ReadAs.NAMES],
    "published": BY_MARK[ReadAs.INSTANT],
    "likes": _LINE,
    "id": _LINE,
    "parent": _LINE,
}


class NoContentError(ExtractError):
    """A page has none of the fields that an item must have.

    Attributes:
        fields: Those that it has.
    """

    def __init__(self, lacking: Collection[str], fields: Fields) -> None:
        super().__init__(reasons.NO_CONTENT, "the page has no " + " and no ".join(sorted(lacking)))
        self.fields = fields


def fields(
    page: Fetched,
    site: Site,
    *,
    parser_modules: Collection[str] = (),
    document: Document | None = None,
    continues: bool = False,
    seen: Collection[str] = (),
    markdown: bool = False,
) -> Fields:
    """Reads a content page.

    Args:
        page: As downloaded.
        site: Whose selectors (or parser) say where things are.
        parser_modules: The setting PARSER_MODULES: what a site's `parser` may name.
        document: The same page, perhaps parsed already.
        continues: The page continues another one, which has the required fields.
        seen: Addresses of the item's pages that were asked for, to which none leads on.
        markdown: Whether a text that is read without selectors is wanted as Markdown, too.

    Raises:
        NoContentError: The page has none of the required fields.
        ExtractError: It isn't what the site says.
    """
    required: Collection[str]
    document = document or Document(page)
    if site.content:
        page_fields = _by_rules(document, site, site.content, continues=continues, seen=seen, markdown=markdown)
        required = site.content.required
    elif site.parser:
        page_fields = _cleaned(run_parser(document, site, parser_modules), page, site)
        required = ("content", "title")
    else:
        page_fields = read_article(document, site, markdown=markdown)
        required = ("content",)
    has_comments = bool(page_fields.comments) and (site.content is not None or bool(site.parser))
    if not continues and not has_comments and not any(map(page_fields.has, required)):
        raise NoContentError(required, page_fields)
    return page_fields


def join(parts: Sequence[Fields], *, max_comments: int = MAX_COMMENTS) -> Fields:
    """Returns the pages of one item as one: texts in order, lists united, single values from the first that has one.

    A time is the first page's alone: on a later one it is that of an answer.

    Args:
        parts: At least one, in the order of the pages.
        max_comments: How many comments are kept.
    """
    if len(parts) == 1:
        return parts[0]
    comments = joined([part.comments for part in parts])
    extra: dict[str, Scalar | list[Scalar]] = {}
    for name in dict.fromkeys(name for part in parts for name in part.extra):
        values = [part.extra[name] for part in parts if name in part.extra]
        lists = [value for value in values if isinstance(value, list)]
        extra[name] = list(dict.fromkeys(entry for value in lists for entry in value)) if lists else values[0]
    return Fields.of(
        {name: kind.join([getattr(part, name) for part in parts]) for name, kind in FIELD_KINDS.items()},
        extra=extra,
        next_page=parts[-1].next_page,
        joined=parts[0].joined,
        missing=tuple(name for name in parts[0].missing if all(name in part.missing for part in parts)),
        sureness={name: sure for part in reversed(parts) for name, sure in part.sureness.items()},
        comments=comments[:max_comments],
        truncated=tuple(
            dict.fromkeys(
                [
                    *(name for part in parts for name in part.truncated),
                    *(["comments"] if len(comments) > max_comments else []),
                ]
            )
        ),
        canonical_url=parts[0].canonical_url,
        page_type=parts[0].page_type,
        markdown="\n\n".join(part.markdown for part in parts if part.markdown) or None,
    )


def _by_rules(
    document: Document, site: Site, content: Content, *, continues: bool, seen: Collection[str], markdown: bool
) -> Fields:
    """Reads a page where the site's rules say, and what is `auto` as without them."""
    page, reader = document.page, _reader(document, content.type, content.xhr)
    plain = read_article(document, site, markdown=markdown) if content.has_auto else Fields()
    rules = {name: rule for name, rule in content.field_rules.items() if not (continues and rule.first_page_only)}
    auto = [name for name, rule in rules.items() if rule.is_auto]
    values = dict.fromkeys(content.field_rules) | {
        name: getattr(plain, name) if rule.is_auto else FIELD_KINDS[name].read(reader, rule, site)
        for name, rule in rules.items()
    }
    extra = read_extra(
        reader, {k: rule for k, rule in content.extra.items() if not (continues and rule.first_page_only)}
    )
    comments, are_cut = _comments(reader, content.comments, site, plain, continues=continues)
    return Fields.of(
        values,
        extra=extra,
        next_page=_next_page(reader.urls(content.next_page, "images") if content.next_page else (), page, seen),
        comments=comments,
        truncated=(
            *(("comments",) if are_cut else ()),
            *(
                name
                for name, rule in content.rules.items()
                if page.loaded and page.loaded.left_out and rule.select.language == "json"
            ),
        ),
        canonical_url=document.html.canonical_url if content.type == "html" else None,
        sureness={name: plain.sureness[name] for name in auto if name in plain.sureness},
        page_type=plain.page_type if "content" in auto else None,
        markdown=plain.markdown if "content" in auto else None,
        joined=() if continues else _joined_urls(reader, content, page, site),
        missing=(
            *(name for name, value in values.items() if not value),
            *(f"extra.{name}" for name in content.extra if name not in extra),
        ),
    )


def joined_fields(page: Fetched, site: Site, *, joined: Joined) -> Fields:
    """Reads the answer to a second request for an item.

    Args:
        page: As downloaded.
        joined: The entry of the site's `content.joined` that the request was made for.

    Raises:
        ExtractError: The answer isn't what the site says (`not-json` ...).
    """
    reader = _reader(Document(page), joined.type)
    values = {name: FIELD_KINDS[name].read(reader, rule, site) for name, rule in joined.field_rules.items()}
    comments, are_cut = _comments(reader, joined.comments, site, Fields())
    truncated = ("comments",) if are_cut else ()
    return Fields.of(values, extra=read_extra(reader, joined.extra), comments=comments, truncated=truncated)


def _joined_urls(reader: Reader, content: Content, page: Fetched, site: Site) -> tuple[str, ...]:
    """Returns what is to be fetched for each entry of `content.joined`; "" where the page lacks a value for it."""
    urls = []
    for entry in content.joined:
        values = {
            name: text.line(str(value)) for name, rule in entry.values.items() for value in reader.texts(rule)[:1]
        }
        is_whole = len(values) == len(entry.values) and all(values.values())
        urls.append(site.joined_address(entry.url, values, page.url) if is_whole else "")
    return tuple(urls)


def _reader(document: Document, page_type: PageType, xhr: Pattern | None = None) -> Reader:
    if xhr:
        loaded = Answers.of(document.page, xhr)
        return RenderedReader(HtmlReader(document.html), AnswersReader(loaded, document.html.base))
    if page_type == "json":
        return JsonReader(document.json, document.page.url)
    if page_type == "text":
        return TextReader(document.text, document.page.url)
    return HtmlReader(document.html)


def _next_page(urls: Sequence[str], page: Fetched, seen: Collection[str] = ()) -> str | None:
    """Returns the first URL that wasn't seen; None for the page's own, or another host's, for which no turn is held."""
    url = next((url for url in urls if url == page.url or url not in seen), page.url)
    return url if url != page.url and host(url) == host(page.url) else None


def read_extra(reader: Reader, rules: Mapping[str, Rule]) -> dict[str, Scalar | list[Scalar]]:
    """Reads the fields that only this site has; those that the page lacks are left out.

    Objects of JSON are its text.
    """
    extra: dict[str, Scalar | list[Scalar]] = {}
    for name, rule in rules.items():
        form = text.verbatim if rule.keep_whitespace else shape.clean
        selected = _values(reader, rule)
        values = [value for value in (form(raw) if isinstance(raw, str) else raw for raw in selected) if value != ""]
        if values:
            extra[name] = values if rule.all else values[0]
    return extra


def _values(reader: Reader, rule: Rule) -> list[Scalar]:
    """Returns what a rule finds, objects of JSON as well."""
    if isinstance(reader, RenderedReader):
        reader = reader.of(rule.select)
    return reader.values(rule) if isinstance(reader, JsonReader) else reader.texts(rule)


def _comments(
    reader: Reader, rules: CommentRules | None, site: Site, plain: Fields, *, continues: bool = False
) -> tuple[tuple[ReadComment, ...], bool]:
    """Reads comments; what turns out to have neither text nor author is none.

    Args:
        plain: What is read without selectors, for rules that are `auto`.

    Returns:
        Those that the rules allow for, and whether there are more.
    """
    if rules is None:
        return (), False
    skipped = int(rules.skip_first and not continues)
    if rules.is_auto:
        comments = _without_first(plain.comments, skipped)
        return comments[: rules.max], len(comments) > rules.max or "comments" in plain.truncated
    rows = reader.rows(rules.each, rules.max + 1 + skipped)
    read_comments: list[ReadComment] = []
    places: dict[int, int] = {}  # of the comments that are kept, by those of their rows
    for place, (row, around) in enumerate(rows[skipped:], skipped):
        values = {name: _COMMENT_KINDS[name].read(row, rule, site) for name, rule in rules.rules.items()}
        if values.get("text") or values.get("author"):
            places[place] = len(read_comments)
            read_comments.append(
                ReadComment(
                    values.get("text", ""),
                    values.get("author") or None,
                    values.get("published") or None,
                    count_in(values.get("likes", "")),
                    places.get(around) if around is not None else None,
                    values.get("id", ""),
                    values.get("parent", ""),
                )
            )
    return tuple(read_comments[: rules.max]), len(read_comments) > rules.max


def _without_first(comments: tuple[ReadComment, ...], skipped: int) -> tuple[ReadComment, ...]:
    """Returns comments without the first ones; what answers one of these answers the page."""
    without = []
    for comment in comments[skipped:]:
        place = -1 if comment.parent is None else comment.parent - skipped
        without.append(replace(comment, parent=place if place >= 0 else None))
    return tuple(without)


def _cleaned(parsed: Fields, page: Fetched, site: Site) -> Fields:
    """Brings what a parser has read into the form that rules give."""
    comments = parsed.comments[:MAX_COMMENTS]
    is_cut = len(parsed.comments) > MAX_COMMENTS
    values = {name: kind.clean(getattr(parsed, name), page, site) for name, kind in FIELD_KINDS.items()}
    return Fields.of(
        values,
        extra={
            name: [_clean_value(entry) for entry in value] if isinstance(value, list) else _clean_value(value)
            for name, value in parsed.extra.items()
        },
        next_page=_next_page(absolute([parsed.next_page or ""], page.url), page),
        missing=tuple(name for name, value in values.items() if not value),
        sureness=parsed.sureness,
        comments=tuple(_cleaned_comment(comment, page, site, len(comments)) for comment in comments),
        truncated=tuple(dict.fromkeys([*parsed.truncated, *(["comments"] if is_cut else [])])),
        canonical_url=next(iter(absolute([parsed.canonical_url or ""], page.url)), None),
    )


def _cleaned_comment(comment: ReadComment, page: Fetched, site: Site, count: int) -> ReadComment:
    """Returns a comment in the form that rules give; one whose parent isn't among the `count` kept answers the page."""
    cleaned = {name: _COMMENT_KINDS[name].clean(getattr(comment, name), page, site) for name in ("author", "published")}
    return replace(
        comment,
        text=_COMMENT_KINDS["text"].clean(comment.text, page, site),
        author=cleaned["author"] or None,
        published=cleaned["published"],
        parent=comment.parent if comment.parent is not None and 0 <= comment.parent < count else None,
    )


def _clean_value(value: Scalar) -> Scalar:
    return text.paragraphs(value) if isinstance(value, str) else value
