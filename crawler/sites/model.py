"""A site: its validated definition, and the requests that search it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from crawler import yamlfile
from crawler.errors import UrlError
from crawler.item import SITE_NAME
from crawler.models import Politeness
from crawler.redaction import has_credentials
from crawler.sites import search as searching
from crawler.sites.definition import (
    NO_CREDENTIALS,
    NO_RESULTS,
    NO_SEARCH,
    Content,
    PolitenessField,
    Results,
    Search,
)
from crawler.sites.follow import Follow
from crawler.sites.search import SearchTarget, SiteError
from crawler.urls import canonical
from crawler.yamlfile import Part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from crawler.models import Seed

Name = Annotated[str, Field(pattern=f"^{SITE_NAME}$")]
_PARSER = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"


class Site(Part):
    """A source of pages: how it is searched, how its pages are read, and how politely it is crawled."""

    name: Name = Field(
        description="Name of the site: of its file without `.yaml`, in plans, and the `resource` of its items. 1 to 64 "
        "of a-z, 0-9, _ and -, the first a letter or digit.",
        examples=["city_news"],
    )
    base: str = Field(
        "",
        max_length=500,
        description="The address that {base} stands for. Software that many places run leaves it out; then each plan "
        "gives it, as `{use: NAME, name: ..., base: https://...}`.",
        examples=["https://news.example.org"],
    )
    timezone: str = Field(
        "UTC",
        description="IANA name of the time zone of dates on pages that name none, and of {since}.",
        examples=["Asia/Shanghai"],
    )
    politeness: PolitenessField = Field(
        Politeness(),
        description="How politely the site is crawled.",
        examples=[{"delay": 2, "concurrency": 1}],
    )
    drop_parameters: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        (),
        strict=False,
        max_length=100,
        description="Names of parameters that don't tell pages apart, such as ids of sessions, in the query or in the "
        "path (`;name=...`), in any case. They are taken off addresses.",
        examples=[["sid", "from"]],
    )
    identity: Literal["folded", "exact"] = Field(
        "folded",
        description="`exact` where each spelling of an address is a page of its own, such as `%7E` and `~`, or `?a&b` "
        "and `?b&a`; `folded` where they are one page.",
        examples=["exact"],
    )
    search: Search = Field(
        NO_SEARCH,
        description="How the site is searched. Without it plans can't use the site; it only takes pages that are "
        "offered (`scrapy seeds offer`).",
        examples=[{"url": "{base}/search?q={query}&page={page}", "paging": {"kind": "page"}}],
    )
    results: Results = Field(
        NO_RESULTS,
        description="How pages of results are read; required with `search`.",
        examples=[{"links": "css:.result h2 a", "empty": "css:.nothing-found"}],
    )
    parser: str = Field(
        "",
        max_length=200,
        pattern=rf"{_PARSER}|^$",
        description="A Python function `package.module:function` that reads content pages instead of `content`. Its "
        "module must stand in the setting `PARSER_MODULES`, or pages fail as `parser-refused`.",
        examples=["my_parsers.news:read"],
    )
    content: Content | None = Field(
        None,
        description="How content pages are read, field by field. With neither this nor a parser, the article is found "
        "without selectors, by trafilatura.",
        examples=[{"title": "css:h1", "content": "css:article"}],
    )
    follow: Follow | None = Field(
        None,
        description="Which links of content pages are followed; without it, none. `{}` follows the first links of the "
        "page's own host.",
        examples=[{"links": "css:article a", "depth": 2}],
    )

    @field_validator("base")
    @classmethod
    def _base(cls, value: str) -> str:
        return _checked_base(value) if value else ""

    @field_validator("timezone")
    @classmethod
    def _timezone(cls, value: str) -> str:
        try:
            return ZoneInfo(value).key
        except (ValueError, OSError, LookupError):
            raise ValueError("a time zone such as Asia/Shanghai") from None

    @model_validator(mode="after")
    def _one_reader(self) -> Self:
        if self.parser and self.content:
            raise ValueError("either parser or content")
        return self

    @model_validator(mode="after")
    def _links_of_content(self) -> Self:
        expected = ("json",) if self.content and self.content.type == "json" else ("css", "xpath")
        if self.follow and self.follow.links.language not in expected:
            raise ValueError("follow.links: " + " or ".join(f"{name}:..." for name in expected) + ", as the pages are")
        return self

    @model_validator(mode="after")
    def _search_and_results(self) -> Self:
        if self.searchable != (self.results != NO_RESULTS):
            raise ValueError("both search and results, or neither for a site whose pages are only offered")
        return self

    @classmethod
    def from_definition(cls, definition: dict[str, Any]) -> Self:
        """Returns the site with a definition, after all checks, since definitions from Redis aren't trusted.

        Raises:
            InputError: This isn't the definition of a site.
        """
        name = definition.get("name") if isinstance(definition, dict) else None
        document = yamlfile.YamlDocument(f"definition of site {name!r}", definition, {(): 0})
        return yamlfile.validate(document, cls)

    def definition(self) -> dict[str, Any]:
        """Returns the site as JSON values, of which `from_definition` makes an equal site."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def named(self, name: str, base: str) -> Self:
        """Returns the same site with another name and base.

        Raises:
            InputError: The name or the base isn't valid.
        """
        return self.from_definition({**self.definition(), "name": name, "base": base})

    def search_targets(
        self, words: Sequence[str], *, pages: int, per_page: int, sort: str, since: date | None = None
    ) -> list[SearchTarget]:
        """Returns the requests that search for all of `words`.

        Where pages of results name the next one, only the first is known. A site without paging has one page.
        A sort or a `since` that the site's search doesn't know is left out.

        Args:
            words: At least one; joined by the site's `join`.
            pages: Pages of results.
            per_page: Results on a page; at most the site's `max_per_page` are asked for.
            sort: `newest` or `relevance`.
            since: First day of results; None for all.

        Raises:
            SiteError: The site can't be searched or has no base, its encoding can't write a word, or the URL gets too
                long.
        """
        if not self.searchable:
            raise SiteError(f"site {self.name} can't be searched: its pages are only offered")
        search = self.search
        per_page = min(per_page, search.max_per_page)
        values: dict[str, str | int] = {
            "base": self._place(),
            "query": searching.query_text(words, search, self.name),
            "per_page": per_page,
            "sort": dict(search.sort).get(sort, ""),  # type: ignore[call-overload]  # a plan's sort is any string here
            "since": searching.since_value(since, search, self.zone),
        }
        if search.paging is None:
            return [self._target(values, 1)]
        positions = search.paging.positions(pages, per_page)
        return [self._target({**values, search.paging.kind: at}, page) for page, at in enumerate(positions, 1)]

    def link(self, value: str) -> str:
        """Returns the URL that `results.link` makes of a value that a page of results has."""
        return searching.fill_url(self.results.link or "{value}", {"base": self._place(), "value": value})

    def may_redirect(self, seed: Seed, url: str) -> bool:
        """Returns whether a seed may be visited where it redirects to.

        What a search found, or somebody named, may lie on any host, and so may what it redirects to. What a link on a
        content page led to must fulfil `follow` after each redirect as well.

        Args:
            url: Canonical URL of the target.
        """
        return not seed.depth or (self.follow or Follow()).wants(url, seed.url)

    @property
    def searchable(self) -> bool:
        """Whether plans can use the site."""
        return bool(self.search.url)

    @property
    def needs_base(self) -> bool:
        """Whether a plan must give the site a base."""
        return not self.base and "{base}" in self.search.url + (self.results.link or "")

    @property
    def request_content_type(self) -> str:
        """The Content-Type of its search requests; empty for GET."""
        if not self.search.body:
            return ""
        return "application/json" if self.search.body_type == "json" else "application/x-www-form-urlencoded"

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)

    @property
    def exact(self) -> bool:
        """Whether each spelling of a URL is a page of its own."""
        return self.identity == "exact"

    @cached_property
    def drop(self) -> frozenset[str]:
        """`drop_parameters` as `urls.canonical` takes them."""
        return frozenset(name.lower() for name in self.drop_parameters)

    def _place(self) -> str:
        if self.needs_base:
            raise SiteError(f"site {self.name} needs a base: {{use: {self.name}, name: ..., base: https://...}}")
        return self.base

    def _target(self, values: dict[str, str | int], page: int) -> SearchTarget:
        body = searching.fill_body(self.search, values)
        try:
            url = canonical(searching.fill_url(self.search.url, values, self.search.encoding))
        except UrlError as error:
            raise SiteError(f"site {self.name}: {error}") from None
        return SearchTarget(url, "POST" if body else "GET", body, page)


def _checked_base(value: str) -> str:
    try:
        url = canonical(value)
    except UrlError:
        raise ValueError("an http(s) URL") from None
    if has_credentials(value):
        raise ValueError(NO_CREDENTIALS)
    if "?" in url or "#" in value:
        raise ValueError("an http(s) URL without ? and #")
    return url.rstrip("/")
