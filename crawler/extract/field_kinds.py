"""The fields of a content page, and what is done with each kind: read by rules, cleaned, joined over several pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from crawler.base import text
from crawler.base.item import READ_FIELDS, Item, Media, PageType, ReadAs, Sureness
from crawler.extract import shape
from crawler.extract.comments import ReadComment, in_item
from crawler.extract.dates import Day, Guess, to_utc
from crawler.extract.document import absolute
from crawler.extract.readers import Reader, Scalar  # noqa: TC001 -- pydantic reads the annotations of `Fields`
from crawler.extract.references import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.base.models import Fetched
    from crawler.sites import Site
    from crawler.sites.rule import Rule

MAX_DATES = 5  # tried for one field; a page that has more texts than that in its place has no date


def sureness_of(name: str, instant: str | None) -> dict[str, Sureness]:
    """Returns how sure an instant is that was read, with the unit in which it was told to have passed."""
    if isinstance(instant, Guess):
        return {name: "guess", f"{name}_unit": instant.unit}
    return {name: "day"} if isinstance(instant, Day) else {}


class FieldKind(ABC):
    """What is done with the values of one mark of `ReadAs`. A value that is false means that the page has none."""

    @abstractmethod
    def read(self, reader: Reader, rule: Rule, site: Site) -> Any:
        """Returns what a page has where a site's rule says, clean."""

    @abstractmethod
    def clean(self, value: Any, page: Fetched, site: Site) -> Any:
        """Returns what a parser has read, in the form that `read` gives."""

    def join(self, values: Sequence[Any]) -> Any:
        """Returns the values of an item's pages as one: the first that there is."""
        return next(filter(None, values), None)


@dataclass(frozen=True)
class Text(FieldKind):
    """Text.

    Attributes:
        form: Cleans it.
        between: What stands between several matches of a rule.
    """

    form: Callable[[str], str]
    between: str

    def read(self, reader: Reader, rule: Rule, site: Site) -> str:
        return self.form(self.between.join(map(str, reader.texts(rule))))

    def clean(self, value: str | None, page: Fetched, site: Site) -> str:
        return self.form(value or "")


class LongText(Text):
    """Text that goes on from page to page, and whose white space a rule may keep."""

    def read(self, reader: Reader, rule: Rule, site: Site) -> str:
        if rule.keep_whitespace:
            return text.verbatim(self.between.join(map(str, reader.texts(rule))))
        return super().read(reader, rule, site)

    def join(self, values: Sequence[str]) -> str:
        return "\n".join(filter(None, values))


class Instant(FieldKind):
    """A point in time, as UTC in ISO 8601 with a Z: of several matches, the first that is one."""

    def read(self, reader: Reader, rule: Rule, site: Site) -> str | None:
        written = (text.line(str(value)) for value in reader.texts(rule, date=True)[:MAX_DATES])
        read = (to_utc(value, site.zone, rule.format, language=reader.language) for value in written)
        return next(filter(None, read), None)

    def clean(self, value: str | None, page: Fetched, site: Site) -> str | None:
        return to_utc(value, site.zone) if value else None

    def join(self, values: Sequence[str | None]) -> str | None:
        """Returns the first page's, be it none: where a later page has a date, it is that of an answer."""
        return values[0]


@dataclass(frozen=True)
class MediaUrls(FieldKind):
    """Absolute addresses of images or videos, each once, in the order of the page."""

    tags: Literal["images", "videos"]

    def read(self, reader: Reader, rule: Rule, site: Site) -> tuple[str, ...]:
        return reader.urls(rule, self.tags)

    def clean(self, value: Sequence[str], page: Fetched, site: Site) -> tuple[str, ...]:
        return absolute(value, page.url)

    def join(self, values: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(url for urls in values for url in urls))


def _names(words: str) -> str:
    return text.line(name_of(words))


BY_MARK: dict[ReadAs, FieldKind] = {
    ReadAs.LINE: Text(text.line, between=" "),
    ReadAs.NAMES: Text(_names, between=", "),
    ReadAs.INSTANT: Instant(),
    ReadAs.PARAGRAPHS: LongText(shape.clean, between="\n"),
    ReadAs.IMAGES: MediaUrls("images"),
    ReadAs.VIDEOS: MediaUrls("videos"),
}
FIELD_KINDS = {name: BY_MARK[mark] for name, mark in READ_FIELDS.items()}  # by a field's name


def _declared(name: str, kind: FieldKind) -> tuple[str, Any, Any]:
    """Returns the name, type and default of a field of `Fields`: a text is "" or None without a value, as in `Item`."""
    if isinstance(kind, MediaUrls):
        return name, tuple[str, ...], ()
    return (name, str | None, None) if Item.__dataclass_fields__[name].default is None else (name, str, "")


_ReadFields: Any = make_dataclass(
    "_ReadFields", [_declared(name, kind) for name, kind in FIELD_KINDS.items()], frozen=True, slots=True
)


@dataclass(frozen=True, slots=True)
class Fields(_ReadFields):  # type: ignore[misc]  # mypy knows no dataclass that is made of another one's fields
    """What a content page yields: the fields of `Item` that are marked with `ReadAs`, clean, and these beside them.

    Attributes:
        extra: The fields under the definition's `extra` that the page has.
        next_page: Absolute URL, on the same host, of the page that continues this one; None when there is none.
        joined: What is fetched for each entry of the definition's `joined`: a URL, or "" for nothing.
        missing: Names of the defined fields that the page doesn't have.
        comments: What readers have written below the page.
        truncated: Names of fields of which the page has more than is kept.
        canonical_url: The address that the page gives for itself.
        sureness: How sure fields are, by name, where the site doesn't say itself where they stand.
        page_type: What the page was taken for, where it was read without selectors.
        markdown: Its content as Markdown, if that was asked for and it was read without selectors.
    """

    extra: dict[str, Scalar | list[Scalar]] = field(default_factory=dict)
    next_page: str | None = None
    joined: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    sureness: dict[str, Sureness] = field(default_factory=dict)
    comments: tuple[ReadComment, ...] = ()
    truncated: tuple[str, ...] = ()
    canonical_url: str | None = None
    page_type: PageType | None = None
    markdown: str | None = None

    @classmethod
    def of(cls, values: dict[str, Any], **more: Any) -> Fields:
        """Returns fields of these values, where one that is false is left at its default."""
        return cls(**{name: value for name, value in values.items() if value}, **more)

    def has(self, name: str) -> bool:
        """Returns whether the page has a field; `extra.NAME` is one under the definition's `extra`."""
        if name.startswith("extra."):
            return name.removeprefix("extra.") in self.extra
        return bool(getattr(self, name))

    def says_the_same(self, other: Fields) -> bool:
        """Returns whether another page has the same text and comments, and has some."""
        own = self.content, self.comments
        return any(own) and own == (other.content, other.comments)

    def filled(self, more: Fields) -> Fields:
        """Returns these fields, with those of further ones that they lack."""
        values = {name: getattr(self if self.has(name) else more, name) for name in FIELD_KINDS}
        extra = more.extra | self.extra
        missing = (name for name in self.missing if not more.has(name))
        truncated = self.truncated
        if more.comments and not self.comments:
            values, truncated = values | {"comments": more.comments}, (*truncated, *more.truncated)
        return replace(self, **values, extra=extra, missing=tuple(missing), truncated=truncated)

    def in_item(self) -> dict[str, Any]:
        """Returns the values as an `Item` has them, by name; images and videos are yet to be fetched."""
        values: dict[str, Any] = {
            "extra": dict(self.extra),
            "sureness": self.sureness,
            "comments": in_item(self.comments) if self.comments else [],
            "truncated": list(self.truncated),
            "canonical_url": self.canonical_url,
            "page_type": self.page_type,
            "markdown": self.markdown,
        }
        for name in FIELD_KINDS:
            value = getattr(self, name)
            values[name] = [Media(url) for url in value] if isinstance(value, tuple) else value
        if sureness := sureness_of("published", values["published"]):
            values["sureness"] = sureness | self.sureness
            values["published"] = str(values["published"])
        if "\ufffd" in values["content"]:  # bytes that no encoding made text of
            values["sureness"] = {"content": "guess"} | values["sureness"]
        return values
