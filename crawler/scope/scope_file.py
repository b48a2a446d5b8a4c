"""What may stand under a plan's key `scope`: which addresses its crawl may reach."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import AfterValidator, Field, field_validator

from crawler.base.yamlfile import Part
from crawler.scope.entries import NOT
from crawler.scope.registrable import registrable_domain
from crawler.sites.host_names import checked_host, host_pattern
from crawler.sites.pattern import PatternField

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.sites.pattern import Pattern

MAX_ENTRIES = 1_000  # most entries of a list; a plan's file has 1 MB, and a person writes some ten
MAX_ENTRY_CHARACTERS = 260  # a host's name has 254
MAX_PATTERNS = 50  # as many as of a site's `follow`
MAX_SUFFIX_CHARACTERS = 21  # longest end of a path: `.webmanifest` has 12
_SUFFIX = re.compile(rf"\.[a-z0-9_.-]{{1,{MAX_SUFFIX_CHARACTERS - 1}}}")
_CONTENT_TYPE = re.compile(r"[a-z0-9.+_-]+/(?:[a-z0-9.+_-]+|\*)")
_REGION = re.compile(r"[A-Z]{2}(?:-[A-Z0-9]{1,3})?(?:/[^/]{1,100})?")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_UNLIKE = ("http://a.example/", "https://b.test:8443/q?x=1", "http://[2001:db8::1]/zz/00.html")
_BEGINNINGS = (b"http://", b"https://")
_MAX_PREFIX_BYTES = 8


def _each(check: Callable[[str], str]) -> AfterValidator:
    """Returns what checks an entry without the `not ` that it may begin with."""

    def checked(entry: str) -> str:
        begin = NOT if entry.startswith(NOT) else ""
        return begin + check(entry.removeprefix(NOT).strip())

    return AfterValidator(checked)


def _like(form: re.Pattern[str], expected: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(f"{expected}, or `not ` and one")
        return text

    return check


def _domain(text: str) -> str:
    name = checked_host(text)
    domain = registrable_domain(name)
    if not domain:
        raise ValueError(f"a registrable domain; others register theirs below {text}, for all: hosts: ['*.{text}']")
    if domain != name:
        raise ValueError(f"a registrable domain, such as {domain}; for a part of it: hosts: ['{text}', '*.{text}']")
    return name


def _network(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError:
        raise ValueError("an IP address, or a network such as 203.0.113.0/24, or `not ` and one") from None


def matches_none(pattern: Pattern) -> bool:
    """Returns whether no address can match a pattern: tied to the beginning, it must begin as addresses do."""
    if not pattern.text.startswith("^") or "|" in pattern.text:
        return False
    low, high = pattern.compiled.possiblematchrange(_MAX_PREFIX_BYTES)
    return not any(low[: len(begin)] <= begin <= high for begin in _BEGINNINGS)


def matches_all(pattern: Pattern) -> bool:
    """Returns whether a pattern matches addresses that have nothing in common but what each address has."""
    return all(map(pattern.found_in, _UNLIKE))


def _reachable(pattern: Pattern) -> Pattern:
    if matches_none(pattern):
        raise ValueError("a pattern that some address matches; they begin with http:// or https://")
    return pattern


def _not_all(pattern: Pattern) -> Pattern:
    if matches_all(pattern):
        raise ValueError("a pattern that doesn't match every address, for nothing would be left")
    return _reachable(pattern)


_ENTRIES, _PATTERNS = Field(strict=False, max_length=MAX_ENTRIES), Field(strict=False, max_length=MAX_PATTERNS)
_Text = Annotated[str, Field(min_length=1, max_length=MAX_ENTRY_CHARACTERS)]
Domains = Annotated[tuple[Annotated[_Text, _each(_domain)], ...], _ENTRIES]
Hosts = Annotated[tuple[Annotated[_Text, _each(host_pattern)], ...], _ENTRIES]
Networks = Annotated[tuple[Annotated[_Text, _each(_network)], ...], _ENTRIES]
Suffixes = Annotated[
    tuple[Annotated[_Text, _each(_like(_SUFFIX, "an ending in small letters such as .zip"))], ...], _ENTRIES
]
Regions = Annotated[
    tuple[Annotated[_Text, _each(_like(_REGION, "a region such as CN, CN-BJ or CN/Beijing"))], ...], _ENTRIES
]
ContentTypes = Annotated[
    tuple[Annotated[_Text, _each(_like(_CONTENT_TYPE, "a media type such as text/html or image/*"))], ...], _ENTRIES
]
Languages = Annotated[tuple[Annotated[_Text, _each(_like(_LANGUAGE, "a language such as zh or en"))], ...], _ENTRIES]
Allowed = Annotated[tuple[Annotated[PatternField, AfterValidator(_reachable)], ...], _PATTERNS]
Denied = Annotated[tuple[Annotated[PatternField, AfterValidator(_not_all)], ...], _PATTERNS]


class ScopeRules(Part):
    """Bounds for addresses of pages, or of media."""

    domains: Domains = Field(
        (),
        description="Registrable domains, each with all hosts below it, as the public suffix list has them: "
        "`example.co.uk`.",
        examples=[["example.org", "not example.net"]],
    )
    hosts: Hosts = Field(
        (),
        description="Names of hosts; `*.gov.cn` stands for all below gov.cn, but not for gov.cn.",
        examples=[["*.gov.cn", "not ads.example.org"]],
    )
    allow: Allowed = Field(
        (),
        description="Regular expressions (RE2) of which an address must match one, anywhere in it; empty: all do.",
        examples=[[r"/20\d\d/"]],
    )
    deny: Denied = Field(
        (),
        description="Regular expressions of addresses that are out of scope, whatever else allows them.",
        examples=[["/print$"]],
    )
    suffixes: Suffixes = Field(
        (),
        description="How a path ends, in upper or lower case, as `not .zip`: addresses without a query and with one. "
        "Without `not`, the path must end so.",
        examples=[["not .zip", "not .exe"]],
    )
    addresses: Networks = Field(
        (),
        description="IP addresses and networks of hosts. A host is out of scope if one of its addresses is.",
        examples=[["203.0.113.0/24", "not 2001:db8::/32"]],
    )
    regions: Regions = Field(
        (),
        description="Where the addresses of a host are, by the database that the setting `REGION_DB` names: a country "
        "(`CN`), a region of it by ISO 3166-2 (`CN-BJ`), a city by its English name (`CN/Beijing`). An address that "
        "the database doesn't know is in no region.",
        examples=[["CN", "not CN-XJ", "US/New York"]],
    )
    content_types: ContentTypes = Field(
        (),
        description="Media types of answers; `image/*` stands for all of a kind. One that isn't named is in scope.",
        examples=[["text/html", "application/xhtml+xml"]],
    )
    max_bytes: int | None = Field(
        None,
        ge=1,
        le=1 << 40,
        description="The largest answer in bytes, up to `DOWNLOAD_MAXSIZE`; left out: that.",
        examples=[2_000_000],
    )
    own: dict[str, Any] = Field(
        {},
        max_length=20,
        description="Values for filters of your own (`URL_FILTERS`), by their names.",
        examples=[{"weekday": ["monday"]}],
    )

    @field_validator("own")
    @classmethod
    def _own(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            if orjson.loads(orjson.dumps(value)) == value:  # as Redis keeps it
                return value
        except TypeError:
            pass
        raise ValueError("values that JSON can have, whole numbers of at most 64 bits among them")


class ScopeFile(ScopeRules):
    """Where a plan's crawl ends. It holds for all content pages: for links, redirects, and results of searches."""

    depth: int | None = Field(
        None,
        ge=0,
        le=1_000,
        description="Most links between a page that the plan named, or a search's result, and a page.",
        examples=[5],
    )
    languages: Languages = Field(
        (),
        description="Languages of pages. A page in another one makes no item, and its links aren't followed; one whose "
        "text is too short to tell is in scope.",
        examples=[["zh", "en"]],
    )
    media: ScopeRules | None = Field(
        None,
        description="Bounds for images and videos, which those for pages say nothing of; left out: there are none.",
        examples=[{"domains": ["example.org"], "content_types": ["image/*"]}],
    )
