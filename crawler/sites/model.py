"""A site: its validated definition, and the requests that search it."""

from __future__ import annotations

import contextlib
import re
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationInfo, field_validator, model_validator

from crawler.base import yamlfile
from crawler.base.errors import UrlError
from crawler.base.item import SITE_NAME
from crawler.base.models import Politeness
from crawler.base.urls import canonical, host
from crawler.base.yamlfile import Part
from crawler.sites.content_rules import Content
from crawler.sites.follow import Follow
from crawler.sites.headers import Cookies, Headers, secrets_in
from crawler.sites.page_type import LANGUAGES
from crawler.sites.politeness import PolitenessField
from crawler.sites.render_rules import Render
from crawler.sites.result_rules import NO_RESULTS, Results
from crawler.sites.search import NO_SEARCH, Search, SearchTarget, fill_body, query_text, since_value
from crawler.sites.site_error import SiteError
from crawler.sites.url_template import check_no_credentials, fill_url, has_script_route

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.base.models import Frontier, Seed
    from crawler.sites.pattern import Pattern

Name = Annotated[str, Field(pattern=f"^{SITE_NAME}$")]
_PARSER = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"


class Site(Part):
    """A source of pages: how it is searched, how its pages are read, and how politely it is crawled."""

    name: Name = Field(
        description="Name of the site: of its file without `.yaml`, in plans, and the `resource` of its items. 1 to 64 "
        "of a-z, 0-9, _ and -, the first a letter or digit.",
        examples=["city_news"],
    )
    kind: str = Field(
        "",
        max_length=64,
        description="Software or a format that many places have, described below: what this file doesn't say is taken "
        "from there. With it, `name` and `base` are all that most sites need. A key without a value takes away what "
        "the kind says.",
        examples=["mediawiki"],
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
        description="Names of parameters that don't tell pages apart, such as ids of sessions, in the query, in the "
        "path (`;name=...`) or in a route (`#/a?name=...`), in any case. They are taken off addresses.",
        examples=[["sid", "from"]],
    )
    identity: Literal["folded", "exact"] = Field(
        "folded",
        description="`exact` where each spelling of an address is a page of its own, such as `%7E` and `~`, or `?a&b` "
        "and `?b&a`; `folded` where they are one page.",
        examples=["exact"],
    )
    headers: Headers = Field(
        {},
        description="Headers of the site's requests, by name. A value may hold `${SITE_SECRET_NAME}`, a secret of the "
        "operator's: it is sent to the hosts alone that the setting `SITE_SECRET_HOSTS` binds it to, and pages wait as "
        "`no-secret` where it is missing. Values without a secret go to the page's own host and those of `base` and "
        "`search.url`, not to where another host redirects. robots.txt is asked for without them.",
        examples=[{"Accept-Language": "zh-CN", "Authorization": "Bearer ${SITE_SECRET_BOARD}"}],
    )
    cookies: Cookies = Field(
        {},
        description="Cookies of the site's requests, by name, as `headers`. What the site sets is kept along a page's "
        "redirects alone.",
        examples=[{"over18": "1", "session": "${SITE_SECRET_BOARD_SESSION}"}],
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
        description="How content pages are read, field by field: each by its selector, or by `auto` as without one. "
        "With neither this nor a parser, the article is found by what pages declare and what their parts are usually "
        "named.",
        examples=[{"title": "css:h1", "content": "css:article"}],
    )
    follow: Follow | None = Field(
        None,
        description="Which links of content pages are followed; without it, none. `{}` follows the first links of the "
        "page's own host.",
        examples=[{"links": "css:article a", "depth": 2}],
    )
    render: Render = Field(
        Render(),
        description="Which pages a browser renders, since scripts write what is to be read on them. Nodes without a "
        "browser leave such pages to others.",
        examples=[{"content": "always"}],
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

    @field_validator("results")
    @classmethod
    def _finds_words(cls, value: Results, info: ValidationInfo) -> Results:
        search = info.data.get("search")
        if not search or not search.url:
            return value
        is_list = "query" not in search.placeholders
        if is_list and value.match is None and not value.every:
            raise ValueError("{query} in search.url or search.body; or match, or every: true, here for a list")
        if value.every and not is_list:
            raise ValueError("every: a list, without {query} in search.url or search.body")
        return value

    @model_validator(mode="after")
    def _one_reader(self) -> Self:
        if self.parser and self.content:
            raise ValueError("either parser or content")
        return self

    @model_validator(mode="after")
    def _links_of_content(self) -> Self:
        expected = LANGUAGES[self.content.type if self.content else "html"]
        if self.xhr_of("content"):
            expected = (*expected, "json")
        if self.follow and self.follow.links.language not in expected:
            raise ValueError("follow.links: " + " or ".join(f"{name}:..." for name in expected) + ", as the pages are")
        return self

    @model_validator(mode="after")
    def _html_where_rendered(self) -> Self:
        types = {"content": self.content.type if self.content else "html", "results": self.results.type}
        for name, page_type in types.items():
            if getattr(self.render, name).when != "never" and page_type != "html":
                raise ValueError(f"render.{name}: never beside {name}.type: {page_type}")
        return self

    @model_validator(mode="after")
    def _rendered_where_they_load(self) -> Self:
        for name, xhr in {"content": self.xhr_of("content"), "results": self.xhr_of("nav")}.items():
            if xhr and getattr(self.render, name).when == "never":
                raise ValueError(f"render.{name}: always, or auto, beside {name}.from: a browser loads what pages load")
        return self

    @model_validator(mode="after")
    def _rendered_where_routed(self) -> Self:
        for key, template, name in (
            ("search.url", self.search.url, "results"),
            ("results.link", self.results.link or "", "content"),
        ):
            if getattr(self.render, name).when == "never" and has_script_route(template):
                raise ValueError(
                    f"{key}: a URL without #/ and #!, or render.{name}: always; only a script knows what is behind them"
                )
        return self

    @model_validator(mode="after")
    def _search_and_results(self) -> Self:
        if not self.search.description and self.searchable != (self.results != NO_RESULTS):
            raise ValueError("both search and results, or neither for a site whose pages are only offered")
        if self.search.names_next and self.results.next is None:
            raise ValueError(f"results.next beside paging: {{kind: {self.search.paging.kind}}}")  # type: ignore[union-attr]  # it names the next
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

        Args:
            words: As for `search_target`, and so the others.
            pages: Pages of results.
            per_page: Results on a page.
            sort: `newest` or `relevance`.
            since: First day of results.

        Raises:
            SiteError: As `search_target`.
        """
        paging = self.search.paging
        known_pages = pages if paging and not paging.names_next else 1
        return [
            self.search_target(words, page=page, per_page=per_page, sort=sort, since=since)
            for page in range(1, known_pages + 1)
        ]

    def search_target(
        self, words: Sequence[str], *, page: int, per_page: int, sort: str, since: date | None = None
    ) -> SearchTarget:
        """Returns the request for one page of a search. A sort or a `since` that the search doesn't know is left out.

        Args:
            words: At least one; joined by the site's `join`.
            page: Number of the page, from 1.
            per_page: Results on a page; at most the site's `max_per_page` are asked for.
            sort: `newest` or `relevance`.
            since: First day of results; None for all.

        Raises:
            SiteError: The site can't be searched or has no base, its encoding can't write a word, or the URL gets too
                long.
        """
        if not self.searchable:
            raise SiteError(f"site {self.name} can't be searched: its pages are only offered")
        search, per_page = self.search, min(per_page, self.search.max_per_page)
        values: dict[str, str | int] = {
            "base": self._place(),
            "query": query_text(words, search, self.name),
            "per_page": per_page,
            "sort": dict(search.sort).get(sort, ""),  # type: ignore[call-overload]  # a plan's sort is any string here
            "since": since_value(since, search, self.zone),
        }
        if search.paging:
            values[search.paging.kind] = search.paging.position(page, per_page)
        body = fill_body(search, values)
        try:
            url = canonical(fill_url(search.url, values, search.encoding), routes=self.has_routes("nav"))
        except UrlError as error:
            raise SiteError(f"site {self.name}: {error}") from None
        return SearchTarget(url, "POST" if body else "GET", body, page)

    def next_page(self, seed: Seed) -> Seed | None:
        """Returns the search page after a seed's; None where only that page itself can name it.

        Raises:
            SiteError: The site was defined anew since, and can't be searched so any more.
        """
        paging = self.search.paging
        if not self.searchable or paging is None or paging.names_next:
            return None
        try:
            since = date.fromisoformat(seed.since) if seed.since else None
        except ValueError:  # from Redis, which isn't trusted
            raise SiteError(f"site {self.name}: {seed.since!r} is no day") from None
        target = self.search_target(
            seed.keywords, page=seed.page + 1, per_page=seed.per_page, sort=seed.sort, since=since
        )
        return seed.followed_by(url=target.url, method=target.method, body=target.body)

    def link(self, value: str) -> str:
        """Returns the URL that `results.link` makes of a value that a page of results has."""
        return fill_url(self.results.link or "{value}", {"base": self._place(), "value": value})

    def address_of(self, url: str) -> str:
        """Returns what is fetched for a content page: by `content.fetch`, or else the page itself.

        Args:
            url: Canonical URL of the page.
        """
        twin = self.content.fetch if self.content else None
        if twin is None or (names := twin.pattern.names(url)) is None:
            return url
        address = self._address(twin.url, names)
        return address if address and host(address) == host(url) else url

    def joined_address(self, template: str, values: Mapping[str, str], page_url: str) -> str:
        """Returns the URL of a further request for a page; empty where its host is neither the page's nor the file's.

        Args:
            template: The `url` of an entry of `content.joined`.
            values: What the page says for its placeholders: never the host.
            page_url: Canonical URL of the page.
        """
        address = self._address(template, values)
        return address if address and host(address) in {host(page_url), *self._hosts_of(self.base, template)} else ""

    def _address(self, template: str, values: Mapping[str, str]) -> str:
        """Returns the canonical URL that a template makes of values; empty where that is none."""
        try:
            return canonical(fill_url(template, {"base": self.base, **values}))
        except UrlError:
            return ""

    def may_redirect(self, seed: Seed, url: str) -> bool:
        """Returns whether a seed may be visited where it redirects to.

        What a search found, or somebody named, may lie on any host, and so may what it redirects to. What a link on a
        content page led to must fulfil `follow` after each redirect as well.

        Args:
            url: Canonical URL of the target.
        """
        return not seed.depth or (self.follow or Follow()).wants(url, seed.url)

    def has_routes(self, frontier: Frontier) -> bool:
        """Returns whether routes of scripts (`#/thread/1`) are pages of their own: a browser renders the frontier's."""
        return self.render.of(frontier).when != "never"

    def xhr_of(self, frontier: Frontier) -> Pattern | None:
        """Returns the addresses of JSON that pages of a frontier load and are read from; None: of none."""
        part = self.content if frontier == "content" else self.results
        return part.xhr if part else None

    @property
    def description_url(self) -> str:
        """Where the description is by which the site is to be searched, and that is yet to be read; empty for none."""
        if not self.search.description:
            return ""
        return canonical(fill_url(self.search.description, {"base": self._place()}))

    def described(self, keys: Mapping[str, Any]) -> Self:
        """Returns the site with what its description says, where its file doesn't.

        Args:
            keys: `search`, and maybe `results`, as site files have them.

        Raises:
            InputError: They make no site that can be searched.
        """
        own = self.definition()
        search = {name: value for name, value in own["search"].items() if name != "description"}
        return self.from_definition({**own, **keys, "search": {**keys["search"], **search}})

    @property
    def searchable(self) -> bool:
        """Whether plans can use the site."""
        return bool(self.search.url)

    @property
    def is_list(self) -> bool:
        """Whether its search pages are lists, the same for all combinations, in which `results.match` searches."""
        return self.searchable and "query" not in self.search.placeholders

    @property
    def matches_all(self) -> bool:
        """Whether all combinations of a plan are looked for in what its search or its pages say."""
        return self.is_list or self.results.match_text

    def matches_text(self, seed: Seed) -> bool:
        """Returns whether a content page makes an item only if its text has words of the plan that wants it."""
        if seed.general and seed.match_text:  # which no search need have led to
            return True
        return bool(seed.keywords) and (seed.match_text or self.results.match_text)

    @property
    def needs_base(self) -> bool:
        """Whether a plan must give the site a base."""
        templates = [self.search.url, self.search.description, self.results.link or ""]
        if self.content:
            templates += [self.content.fetch.url] if self.content.fetch else []
            templates += [entry.url for entry in self.content.joined]
        templates += [step.goto or "" for part in (self.render.content, self.render.results) for step in part.steps]
        return not self.base and any("{base}" in template for template in templates)

    @property
    def request_content_type(self) -> str:
        """The Content-Type of its search requests; empty for GET."""
        if not self.search.body:
            return ""
        return "application/json" if self.search.body_type == "json" else "application/x-www-form-urlencoded"

    @property
    def reads_without_selectors(self) -> bool:
        """Whether content pages, or some of their fields, are read by what is usual alone."""
        return self.content.has_auto if self.content else not self.parser

    @cached_property
    def own_hosts(self) -> frozenset[str]:
        """The hosts of `base` and of its search: those that the file itself names."""
        return self._hosts_of(self.base, self.search.url)

    def _hosts_of(self, *templates: str) -> frozenset[str]:
        """Returns the hosts that templates name themselves, without what fills them."""
        places = (re.sub(r"[{?#].*", "", template.replace("{base}", self.base)) for template in templates)
        hosts = set()
        for place in filter(None, places):
            with contextlib.suppress(UrlError):
                hosts.add(host(canonical(place)))
        return frozenset(hosts)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The names of the secrets in its headers and cookies."""
        return frozenset().union(*map(secrets_in, (*self.headers.values(), *self.cookies.values())))

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


def _checked_base(value: str) -> str:
    try:
        url = canonical(value)
    except UrlError:
        raise ValueError("an http(s) URL") from None
    check_no_credentials(value)
    if "?" in url or "#" in value:
        raise ValueError("an http(s) URL without ? and #")
    return url.rstrip("/")
