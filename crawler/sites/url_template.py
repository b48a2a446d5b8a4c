"""URL templates: addresses with places for values, `{name}`, as the simple expressions of RFC 6570.

All values are percent-encoded, in the site's encoding, and filled in within one pass, so nothing in a value can act as
a separator or as another placeholder. The body of a search's request has placeholders of the same form.

Deviations from RFC 6570: `{base}`, which the site itself says, stands as it is; a parameter of the query that is only a
placeholder is left out where its value is empty; each value must be given.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from crawler.base.redaction import has_credentials
from crawler.base.urls import is_script_route

UrlTemplate = Annotated[str, Field(min_length=1, max_length=2_000)]

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def check_template(template: str, allowed: frozenset[str]) -> str:
    """Returns the template.

    Raises:
        ValueError: The template has another placeholder, or a brace that belongs to none.
    """
    placeholders = ", ".join(f"{{{name}}}" for name in sorted(allowed))
    for name in placeholders_in(template):
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1)
            meant = f" (did you mean {{{near[0]}}}?)" if near else ""
            raise ValueError(f"only the placeholders {placeholders}, not {{{name}}}{meant}")
    if re.search(r"[{}]", _PLACEHOLDER.sub("", template)):
        raise ValueError(f"braces only around a placeholder ({placeholders})")
    return template


def check_absolute(template: str) -> None:
    """Raises ValueError unless a template makes whole addresses, without a user and a password in them."""
    if not template.startswith(("{base}", "http://", "https://")):
        raise ValueError("a URL that starts with {base}, http:// or https://")
    check_no_credentials(template)


def check_no_credentials(template: str) -> None:
    """Raises ValueError if a template, or an address, has a user and a password."""
    if has_credentials(template):
        raise ValueError("a URL without user and password: definitions stand in Redis for all to read")


def check_address(template: str, names: frozenset[str]) -> str:
    """Returns the template of an address that is made of values.

    Raises:
        ValueError: It has no or another placeholder, or makes no address.
    """
    check_template(template, names | {"base"})
    if has_script_route(template):
        raise ValueError("a URL without #/ and #!: no server gets to see what is behind them")
    if not placeholders_in(template) & names:
        raise ValueError("a template with " + " or ".join(f"{{{name}}}" for name in sorted(names) or ["NAME"]))
    check_absolute(template)
    return template


def has_script_route(template: str) -> bool:
    """Returns whether the URLs that a template makes could only be opened by a browser's script."""
    return is_script_route(template.partition("#")[2])


def placeholders_in(template: Any) -> set[str]:
    """Returns the names of the placeholders in a template, or in all the strings of a nested one."""
    if isinstance(template, str):
        return set(_PLACEHOLDER.findall(template))
    if isinstance(template, Mapping):
        return set().union(*map(placeholders_in, template.values()))
    if isinstance(template, Sequence):
        return set().union(*map(placeholders_in, template))
    return set()


def fill_url(template: str, values: Mapping[str, str | int], encoding: str = "utf-8") -> str:
    """Fills a URL template: `base` as it is, all other values percent-encoded."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return str(values[name]) if name == "base" else quote(str(values[name]), safe="", encoding=encoding)

    head, mark, query = template.partition("?")
    pairs = [pair for pair in query.split("&") if not _is_void(pair.partition("=")[2], values)]
    return _PLACEHOLDER.sub(value, head + mark + "&".join(pairs))


def fill_all(template: Any, values: Mapping[str, str | int]) -> Any:
    """Fills all the strings of a nested template. One that is just a placeholder becomes the value in its own type."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        return values[whole[1]] if whole else _PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)
    if isinstance(template, Mapping):
        return {key: fill_all(value, values) for key, value in template.items() if not _is_void(value, values)}
    if isinstance(template, Sequence):
        return [fill_all(value, values) for value in template]
    return template


def _is_void(template: Any, values: Mapping[str, str | int]) -> bool:
    """Returns whether a parameter is nothing but a placeholder without a value: it is left out."""
    whole = _PLACEHOLDER.fullmatch(template) if isinstance(template, str) else None
    return whole is not None and values[whole[1]] == ""
