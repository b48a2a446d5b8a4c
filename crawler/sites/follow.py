"""Which links of content pages are followed, through which redirects, how far, and how many of them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import re2
from pydantic import Field, GetPydanticSchema, field_validator
from pydantic_core import core_schema

from crawler.errors import UrlError
from crawler.sites.selector import Selector, SelectorField
from crawler.urls import canonical, host, hostname, without_host_dot
from crawler.yamlfile import Part

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PATTERN_CHARACTERS = 500  # a person writes far less; definitions also come from Redis
PATTERN_MEMORY_BYTES = 1 << 20  # of one compiled pattern; nested repetitions expand beyond it and are refused


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression in RE2's syntax, which is Python's without backreferences and lookarounds.

    RE2 takes linear time for any pattern; Python's own module would hang on `(a+)+$`.

    Attributes:
        text: The pattern as written.
        found_in: Returns whether the pattern matches anywhere in a URL.
    """

    text: str
    found_in: Callable[[str], bool] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Compiles a pattern.

        Raises:
            ValueError: The text is no pattern; the message says what was expected.
        """
        if not text or len(text) > MAX_PATTERN_CHARACTERS:
            raise ValueError(f"a regular expression of 1 to {MAX_PATTERN_CHARACTERS} characters")
        options = re2.Options()
        options.max_mem, options.log_errors = PATTERN_MEMORY_BYTES, False
        try:
            search = re2.compile(text, options).search
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace") if error.args else "refused"
            raise ValueError(f"a regular expression in RE2's syntax ({reason})") from None
        return cls(text, lambda url: search(url) is not None)


# A pattern as a field of a pydantic model: a string in YAML and JSON.
PatternField = Annotated[
    Pattern,
    GetPydanticSchema(
        lambda _type, _handler: core_schema.no_info_after_validator_function(
            Pattern.parse,
            core_schema.str_schema(strict=True),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda pattern: pattern.text),
        )
    ),
]


class Follow(Part):
    """Which links of content pages are followed; its keys are named as in Scrapy's LinkExtractor."""

    links: SelectorField = Field(
        Selector.parse("css:a, area"),
        description="Selects the links; of an element, the `href` counts. A `json:` selector if content pages are "
        "JSON.",
        examples=["css:article a"],
    )
    allow: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions (RE2) of which a link's address must match one, anywhere in it; empty: all "
        "do.",
        examples=[[r"/20\d\d/"]],
    )
    deny: tuple[PatternField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Regular expressions of addresses that aren't followed, even if `allow` matches.",
        examples=[["/print$"]],
    )
    allow_domains: tuple[Annotated[str, Field(min_length=1, max_length=253)], ...] = Field(
        (),
        strict=False,
        max_length=100,
        description="Domains, each with its subdomains, that links may lead to besides the page's own host. A redirect "
        "out of these fails the page as `out-of-scope`.",
        examples=[["example.org"]],
    )
    depth: int = Field(1, ge=1, le=50, description="Most links between a search result and a page.", examples=[2])
    per_page: int = Field(
        100, ge=1, le=10_000, description="Most links of one page that are followed; the first ones are.", examples=[50]
    )
    per_host: int = Field(
        10_000,
        ge=1,
        le=100_000_000,
        description="Most pages of one host that are crawled because of a link, over all pages and plans; what is over "
        "counts as `over-budget`. The count is forgotten `FAIL_DAYS` after its first page.",
        examples=[5_000],
    )

    @field_validator("allow_domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked_domain(domain) for domain in value)

    def wants(self, url: str, page_url: str) -> bool:
        """Returns whether a link is followed, or a redirect from a page that a link led to.

        Args:
            url: Canonical URL of the link, or of the redirect's target.
            page_url: Canonical URL of the page with the link, or of the one that redirects.
        """
        url = without_host_dot(url)  # as patterns are written
        if self.allow and not any(pattern.found_in(url) for pattern in self.allow):
            return False
        return self._in_scope(url, page_url) and not any(pattern.found_in(url) for pattern in self.deny)

    def _in_scope(self, url: str, page_url: str) -> bool:
        if host(url) == host(page_url):
            return True
        name = hostname(url)
        return any(name == domain or name.endswith(f".{domain}") for domain in self.allow_domains)


def _checked_domain(value: str) -> str:
    with contextlib.suppress(UrlError):
        if not any(mark in value for mark in ":/?#@\\"):
            return hostname(canonical(f"http://{value}/"))
    raise ValueError("a domain such as example.org")
