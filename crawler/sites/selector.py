"""The selectors of a site file, compiled once, when the file is read.

css:h1::text        CSS, with parsel's ::text and ::attr(name)
xpath://h1/text()   XPath 1.0
json:data.title     JMESPath (https://jmespath.org/specification.html)
re:(?m)^Title: (.+)$  a regular expression (RE2) on plain text: its first group, or all that it matches
text:No results     a phrase anywhere in what a reader sees of a page; only for tests such as `results.empty`

Three more read what an HTML page declares about itself for programs; only fields of a page have them:

jsonld:author.name    JMESPath on the objects of its JSON-LD, one by one: what the first object with a match has
microdata:headline    the same on the objects of its microdata
meta:og:title         the contents of its `<meta>` tags with this `property`, `name` or `itemprop`

In their place `auto` may stand: the field, or the comments, as pages without selectors are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Annotated, Any, Literal, get_args

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError

from crawler.base.text import line
from crawler.sites.css import Css
from crawler.sites.pattern import Pattern, compiled_field
from crawler.sites.xpath import XPath

Declaration = Literal["jsonld", "microdata", "meta"]
Language = Literal["css", "xpath", "json", "re", "text", "auto"] | Declaration
LANGUAGES: tuple[Language, ...] = ("css", "xpath", "json", "re", "text", *get_args(Declaration))
DECLARATIONS: frozenset[str] = frozenset(get_args(Declaration))
MAX_SELECTOR_CHARACTERS = 1_000  # a person writes far less; definitions also come from Redis
MAX_MATCHES = 10_000  # as many links of a page are looked at, so a regular expression needs no more matches
MAX_COPIES = 16  # of a page's JSON that an expression makes; `[@,@][]|`, time and again, would double them each time

Search = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector, ready to run.

    Attributes:
        text: The selector as written, with its language in front.
        language: What stands before the colon; `auto` where that stands for a selector.
        search: Runs the selector. On a page's tree it returns a list of elements or strings in document order, or an
            XPath number, string or bool; on JSON data, the value found or None; on plain text, a list of strings; on
            a page's declarations of its language, a list of JSON values; for `text`, on what a reader sees of a page as
            one clean line, whether it has the phrase.
    """

    text: str
    language: Language
    search: Search = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Compiles a selector.

        Raises:
            ValueError: The text is no selector; the message says what was expected.
        """
        language, colon, path = text.partition(":")
        if not colon or language not in LANGUAGES:
            raise ValueError("a selector such as css:h1::text, xpath://h1/text() or json:data.title")
        if len(text) > MAX_SELECTOR_CHARACTERS:
            raise ValueError(f"a selector of at most {MAX_SELECTOR_CHARACTERS} characters")
        return cls(text, language, _COMPILERS[language](path.strip()))

    @classmethod
    def parse_or_auto(cls, text: str) -> Selector:
        """Compiles a selector where `auto` may stand in its place; raises what `parse` raises."""
        return AUTO if text == AUTO.text else cls.parse(text)


def _compile_markup(path: str, language: type[Css | XPath], expected: str) -> Search:
    try:
        return language.parse(path).search
    except ValueError as error:
        raise ValueError(f"{expected} ({error})") from None


def _compile_re(path: str) -> Search:
    pattern = Pattern.parse(path)
    return lambda text: list(pattern.parts(text, MAX_MATCHES))


def _compile_text(phrase: str) -> Search:
    clean = line(phrase)
    if not clean:
        raise ValueError("a phrase after text:")
    return lambda shown: clean in shown


def _compile_json(path: str) -> Search:
    try:
        compiled = jmespath.compile(path)
        if (copies := _copies(compiled.parsed)) > MAX_COPIES:
            raise ValueError(
                f"a JMESPath expression that copies a value at most {MAX_COPIES} times, not {copies} times"
            )
        with suppress(JMESPathTypeError):
            compiled.search(None)  # raises for an unknown function, which compiling doesn't
    except JMESPathError as error:
        reason = str(error).splitlines()[0] if str(error) else "empty"
        raise ValueError(f"a JMESPath expression ({reason})") from None
    except RecursionError:
        raise ValueError("a JMESPath expression of fewer parts within parts") from None

    def search(value: Any) -> Any:
        try:
            return compiled.search(value)
        except (JMESPathError, RecursionError):  # a value of another type, or nested too deep: not the expected page
            return None

    return search


def _copies(node: Mapping[str, Any]) -> int:
    """Returns how many times as large as a value what a part of a JMESPath expression makes of it may be.

    Raises:
        ValueError: What it makes may be as large as the value times itself.
    """
    children = [child for child in node["children"] if isinstance(child, Mapping)]  # a slice has numbers
    parts = list(map(_copies, children))
    match node["type"], node.get("value"):
        case (("multi_select_list" | "multi_select_dict"), _):
            return sum(parts)
        case (("or_expression" | "and_expression"), _):
            return max(parts)
        case "function_expression", "to_string":  # of a string in a list, it escapes what it has escaped before
            return 2 * prod(parts)
        case "function_expression", "join" if any(child["type"] != "literal" for child in children[:1]):
            raise ValueError("a JMESPath expression that joins with a text of its own: join(', ', ...)")
    return prod(parts)


def _compile_objects(path: str) -> Search:
    search = _compile_json(path)

    def search_objects(objects: Iterable[Any]) -> list[Any]:
        value: Any = next(filter(_is_something, map(search, objects)), [])
        return value if isinstance(value, list) else [value]

    return search_objects


def _is_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})  # 0 is a number of comments


def _compile_meta(name: str) -> Search:
    if not name:
        raise ValueError("the name of a <meta> after meta:")
    return partial(_contents, name=name.lower())


def _contents(metas: Mapping[str, Sequence[str]], *, name: str) -> list[str]:
    return list(metas.get(name, ()))


_COMPILERS: dict[str, Callable[[str], Search]] = {
    "css": partial(_compile_markup, language=Css, expected="a CSS selector"),
    "xpath": partial(_compile_markup, language=XPath, expected="an XPath 1.0 expression"),
    "json": _compile_json,
    "re": _compile_re,
    "text": _compile_text,
    "jsonld": _compile_objects,
    "microdata": _compile_objects,
    "meta": _compile_meta,
}

AUTO = Selector("auto", "auto", lambda _page: [])
_PATTERN = f"^({'|'.join(_COMPILERS)}):"
SelectorField = Annotated[Selector, compiled_field(Selector.parse, {"format": "selector", "pattern": _PATTERN})]
SelectorOrAuto = Annotated[
    Selector, compiled_field(Selector.parse_or_auto, {"format": "selector", "pattern": f"{_PATTERN}|^{AUTO.text}$"})
]
