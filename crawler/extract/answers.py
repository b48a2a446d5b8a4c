"""The JSON that a rendered page loaded, read as one value beside its document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched, LoadedJson
from crawler.extract.document import parse_json
from crawler.extract.readers import CommentRow, JsonReader

if TYPE_CHECKING:
    from crawler.extract.readers import HtmlReader, Reader, Scalar
    from crawler.sites.pattern import Pattern
    from crawler.sites.rule import Rule
    from crawler.sites.selector import Selector

OTHERS_SHOWN = 5  # addresses of other JSON, in an error
ADDRESS_CHARACTERS = 200  # of an address, in an error


@dataclass(frozen=True, slots=True)
class Answers:
    """What several answers hold, in the order in which the page asked for them."""

    values: tuple[Any, ...]

    @classmethod
    def of(cls, page: Fetched, xhr: Pattern) -> Answers:
        """Returns those answers that a page loaded from addresses that match a pattern.

        Raises:
            ExtractError: `no-xhr`: there is none; `not-json` or `too-large`: one can't be read.
        """
        loaded = page.loaded or LoadedJson()
        named = [answer for answer in loaded.answers if xhr.found_in(answer.url)]
        if not named:
            raise ExtractError(
                reasons.NO_XHR, f"no JSON came from an address that matches {xhr.text}; {_instead(page)}"
            )
        values = []
        for answer in named:
            try:
                values.append(parse_json(Fetched(answer.url, answer.status, "application/json", answer.body)))
            except ExtractError as error:
                raise ExtractError(error.reason, f"{answer.url[:ADDRESS_CHARACTERS]}: {error}") from None
        return cls(tuple(values))

    def find(self, selector: Selector) -> list[Any] | None:
        """Returns what a selector finds in all answers; None: it finds nothing in any, not even an empty list."""
        hits = [hit for value in self.values if (hit := selector.search(value)) is not None]
        return [entry for hit in hits for entry in (hit if isinstance(hit, list) else [hit])] if hits else None


class AnswersReader(JsonReader):
    """Reads several answers as one.

    Args:
        url: To which addresses in them are relative.
    """

    def __init__(self, answers: Answers, url: str) -> None:
        super().__init__(answers, url)

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:
        """Returns a reader for each value that a selector finds; the same one in two answers is one row."""
        by_identity = {_identity(value, number): value for number, value in enumerate(self._value.find(each) or ())}
        return [CommentRow(JsonReader(value, self._url), None) for value in list(by_identity.values())[:max_rows]]

    def _select(self, rule: Rule, instead: tuple[str, ...]) -> Any:  # noqa: ARG002 -- as in JSON
        return self._value.find(rule.select)


class RenderedReader:
    """Reads what a rendered page loaded with `json:` selectors, and its document with all others."""

    def __init__(self, document: HtmlReader, loaded: AnswersReader) -> None:
        self._document, self._loaded = document, loaded

    @property
    def language(self) -> str:
        """That of the document."""
        return self._document.language

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns the texts of what the rule selects in."""
        return self.of(rule.select).texts(rule, date=date)

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the URLs of what the rule selects in."""
        return self.of(rule.select).urls(rule, tags)

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:
        """Returns the rows of what the selector selects in."""
        return self.of(each).rows(each, max_rows)

    def of(self, selector: Selector) -> Reader:
        """Returns the reader of what a selector is about."""
        return self._loaded if selector.language == "json" else self._document


def _identity(value: Any, number: int) -> bytes:
    """Returns what tells a row from others; one with more levels than can be written is taken for one of its own."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return b"row %d" % number


def _instead(page: Fetched) -> str:
    """Returns, for an error, what JSON a page loaded that its site doesn't name."""
    if page.loaded is None:
        return "no browser has rendered the page"
    others = [address[:ADDRESS_CHARACTERS] for address in page.loaded.others]
    if not others:
        return "the page loaded no JSON at all"
    more = f" and {len(others) - OTHERS_SHOWN} more" if len(others) > OTHERS_SHOWN else ""
    return f"the page loaded JSON from {', '.join(others[:OTHERS_SHOWN])}{more}"
