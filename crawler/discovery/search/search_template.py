"""How a site is searched, as the templates of a site file say it: made of an address or a form, and changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote_plus

from crawler.base.urls import origin_as_written

QUERY = "{query}"
NAMED = re.compile(r"^[\w-]+[:=]")  # a name before the value of a path's segment, as in `page:2`


@dataclass(frozen=True, slots=True)
class SearchTemplate:
    """The search that is proposed.

    Attributes:
        url: With placeholders, absolute.
        body: Of a search by POST, as fields of a form.
        encoding: In which words are written.
        sort: Names of orders of results, by `newest` and `relevance`; {sort} is in `url` or `body` then.
        paging: The key `search.paging`; empty: none is known.
        source: Where it was found, in words.
        left_out: What of a form isn't in it, in words.
        fixed: Parameters that a form's hidden fields and preselected options bring, by their names as they stand in it.
    """

    url: str
    body: dict[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"
    sort: dict[str, str] = field(default_factory=dict)
    paging: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    left_out: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    def definition(self) -> dict[str, Any]:
        """Returns the site's key `search`."""
        parts: dict[str, Any] = {"url": self.url}
        if self.body:
            parts |= {"body": self.body, "body_type": "form"}
        if self.encoding != "utf-8":
            parts["encoding"] = self.encoding
        if self.paging:
            parts["paging"] = self.paging
        if self.sort:
            parts["sort"] = self.sort
        return parts

    def pairs(self) -> list[tuple[str, str]]:
        """Returns the parameters of its URL, or the fields of its body, as they stand in it."""
        if self.body:
            return list(self.body.items())
        pairs = (pair.partition("=") for pair in self.url.partition("?")[2].split("&"))
        return [(name, value) for name, _, value in pairs if name]

    def remarks(self) -> list[str]:
        """Returns where it was found, what is left out, and what an analyst might leave out, too."""
        brought = [f"{name}={value}" for name, value in self.pairs() if name in self.fixed and "{" not in value]
        narrowed = f"with {', '.join(brought)}, by the form's hidden fields or preselected options: that may narrow it"
        without = [f"without {part}" for part in self.left_out]
        return [f"from {self.source}", *without, *([narrowed] if brought else [])]


def of_url(url: str, word: str, encoding: str = "utf-8") -> str | None:
    """Returns the template of an address in which a word stands as a parameter or segment of the path; None: nowhere.

    A segment may name it, as in `/query:flood`.
    """
    head, mark, query = url.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")] if mark else []
    filled = [f"{name}{equals}{_filled(value, word, encoding)}" for name, equals, value in pairs]
    origin_end = head.find("/", head.find("//") + 2)
    path = head[origin_end:] if origin_end >= 0 else ""
    named = [(match[0] if (match := NAMED.match(part)) else "", part) for part in path.split("/")]
    segments = [name + _filled(part.removeprefix(name), word, encoding) for name, part in named]
    template = head[: len(head) - len(path)] + "/".join(segments) + mark + "&".join(filled)
    return template if QUERY in template else None


def with_parameter(url: str, name: str, value: str) -> str:
    """Returns a template with a parameter set: in place of one of the same name, else at the end."""
    head, _, query = url.partition("?")
    pairs = query.split("&") if query else []
    names = [pair.partition("=")[0] for pair in pairs]
    if name in names:
        pairs[names.index(name)] = f"{name}={value}"
    else:
        pairs.append(f"{name}={value}")
    return f"{head}?{'&'.join(pairs)}"


def literal(address: str) -> str:
    """Returns an address, or a part of one, as a template has it that stands for nothing else."""
    return address.replace("{", "%7B").replace("}", "%7D")


def escaped(text: str, encoding: str) -> str:
    """Returns a text as a template has it: percent-encoded, so that no brace of a page is taken for a placeholder."""
    return quote(text, safe="", encoding=encoding, errors="replace")


def _filled(value: str, word: str, encoding: str) -> str:
    written = unquote_plus(value, encoding=encoding, errors="replace")
    if written.casefold() == word.casefold():
        return QUERY
    return literal(value)


def based(keys: dict[str, Any], url: str) -> dict[str, Any]:
    """Returns the keys with the site's origin as its `base`, if its search is there."""
    base, search = origin_as_written(url), keys["search"]
    if not search["url"].startswith(f"{base}/"):
        return keys
    return {"base": base, **keys, "search": search | {"url": "{base}" + search["url"].removeprefix(base)}}
