"""What may stand in a plan file. Plans that come back from Redis, which isn't trusted, pass the same checks."""

from __future__ import annotations

import contextlib
import re
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crawler.base.errors import UrlError
from crawler.base.models import MAX_PRIORITY, is_plan_name
from crawler.base.urls import MAX_URL_CHARACTERS, canonical, hostname
from crawler.base.yamlfile import Part, ShortPart
from crawler.plans.match import OPERATORS
from crawler.plans.plan_budget import PlanBudget
from crawler.plans.plan_follow import PlanFollow
from crawler.plans.plan_searches import PlanSearches
from crawler.plans.site_choice import EVERY_HOST
from crawler.scope.scope_file import ScopeFile
from crawler.sites.host_names import host_pattern

MAX_WORD_CHARACTERS = 200  # the longest keyword: search boxes take no more
MAX_SITES = 1_000  # most sites of a plan: each is a file to read
MAX_START = 1_000  # most addresses in a plan, which stands in Redis and in workers' memory; files take any number
BREADTH_FIRST, FOCUSED = "breadth-first", "focused"  # the orders that ship
ANY, READS_ANY = "any", "web"  # the word for all other pages, and the built-in site that reads them
_MAX_INTERVAL_D = 366  # most days between two runs of a plan; more is a mistake
_UNITS_S = {"m": 60, "h": 3_600, "d": 86_400}
_SCHEDULE = re.compile(r"every ([1-9][0-9]{0,6}) ?([mhd])")
_CLASS_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
# The built-in sites that read what these keys name, and most pages of one.
READS_LISTS = {"sitemaps": ("any_sitemap", 1_000), "feeds": ("any_feed", 10)}
_SITE_FORMS = "a site's name, {use: NAME, name: NEW-NAME, base: https://...}, or {use: NAME, hosts: [...]}"
# Keys that only say how is searched for keywords.
_OF_SEARCHES = ("match", "match_text", "pages", "per_page", "searches", "sort", "since")

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARACTERS)]
Words = Annotated[tuple[Word, ...], Field(strict=False)]


class KeywordClass(Part):
    """Words of one kind. A class without words is left out of combinations."""

    required: Words = Field((), description="Words that stand in every combination of the class.", examples=[["洪水"]])
    optional: Words = Field(
        (), description="Words of which each combination has `choose`.", examples=[["救援", "停电"]]
    )
    choose: int = Field(
        1,
        ge=1,
        description="How many optional words a combination has, from 1 to the number of different ones.",
        examples=[2],
    )

    @field_validator("choose")
    @classmethod
    def _enough(cls, value: int, info: ValidationInfo) -> int:
        different = len(set(info.data.get("optional", ())))
        if "optional" in info.data and value > max(1, different):
            raise ValueError(f"at most {max(1, different)}, as optional has {different} different words")
        return value


class SiteUse(ShortPart):
    """A site of a plan. Its name alone will do, unless it is a kind of software that many places run."""

    use: str = Field(
        description="Name of a site file: a built-in one, or one in the folder `SITES_DIR`.", examples=["mediawiki"]
    )
    name: str = Field(
        "",
        description="What this place is called, in the ledger and as the `resource` of items; only with `base`.",
        examples=["city-wiki"],
    )
    base: str = Field(
        "",
        description="Where it is: what {base} stands for in the site's file; only with `name`.",
        examples=["https://wiki.example.org/w"],
    )
    hosts: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = Field(
        (),
        strict=False,
        max_length=1_000,
        description="Whose pages it reads, of those that start addresses and links lead to: a host, all below a "
        "domain (`*.gov.cn`), or `*`. Without it, those of the site's file; `any`, and each site whose file names no "
        "place, reads what no other site does.",
        examples=[["*.gov.cn"]],
    )

    short_for = "use"
    forms = _SITE_FORMS

    @model_validator(mode="after")
    def _both(self) -> Self:
        if bool(self.name) != bool(self.base):
            raise ValueError(_SITE_FORMS)
        return self

    @field_validator("use")
    @classmethod
    def _any(cls, value: str) -> str:
        return READS_ANY if value == ANY else value

    @field_validator("hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_host_pattern(pattern) for pattern in value)


def _host_pattern(value: str) -> str:
    """Returns a pattern of hosts as hosts of canonical URLs have it."""
    if value == EVERY_HOST:
        return value
    with contextlib.suppress(ValueError):
        return host_pattern(value)
    raise ValueError("a host such as www.example.org, *.example.org, or *")


def _class_name(value: Any) -> Any:
    if not isinstance(value, str) or not _CLASS_NAME.fullmatch(value) or value in OPERATORS:
        raise ValueError("a class name of small letters, digits and _, other than and, or")
    return value


def _address(value: str) -> str:
    try:
        is_pattern = EVERY_HOST in hostname(canonical(value, routes=True))
    except UrlError:
        raise ValueError("an http(s) address") from None
    if is_pattern:
        raise ValueError("the address of one page; which hosts a site reads, and how far links lead, other keys say")
    return value


ClassName = Annotated[str, BeforeValidator(_class_name)]
SiteList = Annotated[list[SiteUse], Field(min_length=1, max_length=MAX_SITES)]
Address = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARACTERS), AfterValidator(_address)]


class PlanFile(Part):
    """What to look for, and where: keywords and their logic, or start addresses; sites, pages, schedule."""

    name: str = Field(
        description="Name of the plan, in the ledger and in every item: 1 to 64 of a-z, 0-9 and -. One name, one plan: "
        "another file of that name needs `--replace`.",
        examples=["flood-2026"],
    )
    sites: tuple[SiteUse, ...] = Field(
        (),
        strict=False,
        min_length=1,
        max_length=MAX_SITES,
        description="Where to search, and who reads the pages that start addresses and links lead to. Each site once; "
        "another name tells two places of one kind apart. `any` reads any page, without selectors: what a plan with "
        "start addresses has where it names no sites.",
        examples=[["city_news", {"use": "mediawiki", "name": "city-wiki", "base": "https://wiki.example.org/w"}]],
    )
    start: tuple[Address, ...] = Field(
        (),
        strict=False,
        min_length=1,
        max_length=MAX_START,
        description="Addresses that the crawl begins with, beside or instead of `keywords`; `follow.allow` and "
        "`follow.deny` say nothing of them.",
        examples=[["https://city.example.org/"]],
    )
    start_file: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        (),
        strict=False,
        min_length=1,
        max_length=100,
        description="Files of such addresses, in the plan's folder or below it: UTF-8, one on each line; blank lines "
        "and those that begin with # are passed over. They may have millions of lines. What is no address is counted, "
        "and named as the plan is checked and submitted.",
        examples=[["hosts.txt"]],
    )
    sitemaps: tuple[Address, ...] = Field(
        (),
        strict=False,
        min_length=1,
        max_length=MAX_START,
        description="Addresses of sitemaps, or of indexes of them, packed or not: the crawl begins with their pages, "
        "as far as `follow` has their hosts and addresses; 1,000 sitemaps of an index at most. With a `schedule` they "
        "are read again each time. The producer reads them.",
        examples=[["https://city.example.org/sitemap.xml"]],
    )
    feeds: tuple[Address, ...] = Field(
        (),
        strict=False,
        min_length=1,
        max_length=MAX_START,
        description="Addresses of RSS, Atom or JSON feeds, likewise; at most 10 pages of each, if one names the next.",
        examples=[["https://city.example.org/feed.xml"]],
    )
    follow: PlanFollow | None = Field(
        None,
        description="Which links of the plan's pages are followed, whatever their sites' files say; without it, none "
        "of start pages, and of results those that their site follows.",
        examples=[{"depth": 5, "links": 100}],
    )
    keywords: dict[ClassName, KeywordClass] = Field(
        {},
        min_length=1,
        max_length=100,
        description="Classes of words, by names of your own: small letters, digits and _, other than and, or. May be "
        "left out beside start addresses.",
        examples=[{"region": {"optional": ["重庆", "四川"]}, "event": {"required": ["洪水"]}}],
    )
    match: str = Field(
        "",
        max_length=2_000,
        description="How the classes are joined: their names with `and`, `or` and parentheses; `and` goes before `or`. "
        "Without it, all classes that have words, by `and`. A class that isn't named is never searched; "
        "`scrapy plan check` says so.",
        examples=["region and (event or person)"],
    )
    match_text: bool = Field(
        default=False,
        description="Takes a page that a search led to only if its title, text or comments have all words of a "
        "combination, in upper or lower case, whichever search it was; others fail as `lacks-words`. Their links are "
        "followed all the same. A site can ask for it by `results.match_text`. In a plan with `start` or `follow` it "
        "holds for every page.",
        examples=[True],
    )
    pages: int = Field(5, ge=1, le=1_000, description="Pages of results, for each combination and site.", examples=[10])
    per_page: int = Field(20, ge=1, le=500, description="Results on each page; a site may give fewer.", examples=[50])
    searches: PlanSearches = Field(
        PlanSearches(),
        description="Which search pages come first, and which aren't worth a request.",
        examples=[{"least_new": 0.5}],
    )
    sort: Literal["newest", "relevance"] = Field(
        "newest", description="Which results come first, where a site's search can say so.", examples=["relevance"]
    )
    since: str = Field(
        "",
        description="First day that results may be from, as YYYY-MM-DD, where a site can search so; empty for all.",
        examples=["2026-11-01"],
    )
    schedule: str = Field(
        "",
        description="How often it is searched again: `every` and a number with m, h or d, up to 366d; empty: once. "
        "Pages that are known aren't fetched again, but for start pages, unless `follow.detail` names them, and those "
        "that `follow.list` or `list_types` names: such list pages make no item.",
        examples=["every 30m"],
    )
    priority: int = Field(
        5,
        ge=0,
        le=MAX_PRIORITY,
        description="Which plan's pages come first where several wait for one host: 9 before 8, down to 0. One page in "
        "ten is of another priority than the highest that waits there, so that none waits for ever.",
        examples=[8],
    )
    budget: PlanBudget | None = Field(
        None,
        description="How much it may have. A page that there is no room for fails by the bound's name "
        "(`budget-pages`), and is tried when the plan is submitted with a larger budget and `--replace`.",
        examples=[{"items": 1_000, "per_host": 500}],
    )
    scope: ScopeFile | None = Field(
        None,
        description="Where its crawl ends. In lists, `not ` before an entry refuses what it names; what none refuses "
        "is in scope if the list has no other entries, or one of those names it.",
        examples=[{"hosts": ["*.gov.cn"], "suffixes": ["not .zip"]}],
    )

    order: str = Field(
        BREADTH_FIRST,
        pattern="^[a-z0-9-]{1,30}$",
        description="Which of the links that its word counts for come first on a host. `breadth-first`: those that the "
        "fewest links led to. `focused`: those that look as if they led to its keywords, which it learns as it reads "
        "pages; the others come last, and none is left out. Or a name of `LINK_SCORERS`.",
        examples=["focused"],
    )

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not is_plan_name(value):
            raise ValueError("1 to 64 of a-z, 0-9 and -")
        return value

    @field_validator("since")
    @classmethod
    def _since(cls, value: str) -> str:
        if value and _day(value) is None:
            raise ValueError("a day such as 2026-11-01")
        return value

    @field_validator("schedule")
    @classmethod
    def _schedule(cls, value: str) -> str:
        if value and not 0 < _seconds(value) <= _MAX_INTERVAL_D * _UNITS_S["d"]:
            raise ValueError(f"every 30m, every 2h or every 1d; from 1m to {_MAX_INTERVAL_D}d")
        return value

    @field_validator("sites", mode="before", json_schema_input_type=Literal["any"] | SiteList)
    @classmethod
    def _any_site(cls, value: Any) -> Any:
        return [ANY] if value == ANY else value

    @property
    def names_pages(self) -> bool:
        """Whether it names pages to begin with."""
        return bool(self.start or self.start_file or self.sitemaps or self.feeds)

    @property
    def list_sites(self) -> dict[str, str]:
        """The site that reads each of its sitemaps and feeds, by the key that names them."""
        return {key: site for key, (site, _pages) in READS_LISTS.items() if getattr(self, key)}

    @property
    def is_general(self) -> bool:
        """Whether it says itself what links are worth, instead of its sites."""
        return self.names_pages or self.follow is not None

    @property
    def looks_for_words(self) -> bool:
        """Whether its keywords are looked for in the text of pages."""
        return self.match_text or self.order != BREADTH_FIRST

    @property
    def judges_links(self) -> bool:
        """Whether its word counts for its pages, and where they lead."""
        return self.is_general or self.scope is not None or self.budget is not None or self.order != BREADTH_FIRST

    @property
    def beside_keywords(self) -> str:
        """The first key that says something of searches, where there are no keywords; empty for none."""
        fields = type(self).model_fields
        given = (name for name in _OF_SEARCHES if getattr(self, name) != fields[name].default)
        return "" if self.keywords else next(given, "")

    @cached_property
    def since_day(self) -> date | None:
        """`since` as a date; None for all."""
        return _day(self.since)

    @cached_property
    def interval_s(self) -> int:
        """Seconds between two runs; 0: it runs once."""
        return _seconds(self.schedule)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        return None


def _seconds(schedule: str) -> int:
    match = _SCHEDULE.fullmatch(schedule)
    return int(match[1]) * _UNITS_S[match[2]] if match else 0
