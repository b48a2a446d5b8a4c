"""The Plan: what a plan file says, checked together with its sites, and the nav seeds that it becomes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler import sites as site_files
from crawler.base import yamlfile
from crawler.base.errors import InputError, UrlError
from crawler.base.models import Seed
from crawler.base.urls import canonical
from crawler.plans.combinations import Combination, TooManyError, combine
from crawler.plans.match import Expression, MatchError, join, names_in
from crawler.plans.match import parse as parse_match
from crawler.plans.plan_file import ANY, FOCUSED, READS_LISTS, PlanFile, SiteUse
from crawler.plans.site_choice import SiteChoice
from crawler.plans.start_pages import seed_of, start_file
from crawler.sites import SearchTarget, Site, SiteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.base.yamlfile import YamlDocument

# Stands for any word to count search pages: they depend on the site alone, and all encodings have an a.
_ANY_WORD = ("a",)
# Most combinations that are looked for in lists, two seconds for a thousand rows, or in the text of pages.
LOOKED_FOR_MAX = 10_000
# Keys that a definition has whatever they say. Others it has where they aren't at their default, so that a plan stays
# the same that was submitted before they were known.
_IN_DEFINITION = {"name", "sites", "match", "match_text", "pages", "per_page", "sort", "since", "schedule"}
SEEDS_MAX = 10_000_000  # most seeds of a plan from Redis: it was counted when it was submitted, but a forged one wasn't


@dataclass(frozen=True)
class Plan:
    """A plan that can be carried out: every site exists and can be asked for every combination.

    Attributes:
        file: What its file says, with `match` written out.
        sites: Its sites, in the order of the file; no two have the same name.
        expression: How the keyword classes are joined; None: it has no keywords.
        max_seeds: Most nav seeds that it may have.
        folder: Where its start files are; None: it isn't read from a file.
    """

    file: PlanFile
    sites: tuple[Site, ...]
    expression: Expression | None
    max_seeds: int = field(compare=False)
    folder: Path | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """Its name, under which it is submitted."""
        return self.file.name

    def matches_text(self, site: str) -> bool:
        """Returns whether the plan takes those pages of a site alone whose text has its words; False for another's."""
        return any(own.name == site and (self.file.match_text or own.results.match_text) for own in self.sites)

    def combinations(self) -> tuple[Combination, ...]:
        """Returns the combinations, each once, its words in the order of the expression's classes.

        Raises:
            TooManyError: They would be more than `max_seeds` nav seeds; never for a plan that was read from a file.
        """
        return self._combinations

    def targets(self, site: Site, words: Sequence[str], *, pages: int = 0) -> list[SearchTarget]:
        """Returns the requests that search one site for one combination.

        Args:
            pages: Of the first pages alone; 0: as many as the plan wants.

        Raises:
            SiteError: The site can't be asked for these words.
        """
        file = self.file
        return site.search_targets(
            words, pages=pages or file.pages, per_page=file.per_page, sort=file.sort, since=file.since_day
        )

    def nav_seeds(self, edition: int) -> Iterator[Seed]:
        """Yields the first page of each of the plan's searches, once where two combinations make one query; its lists.

        One combination after the other goes to all sites, so that all hosts have work from the start.

        Args:
            edition: The submission, in ms since the epoch.
        """
        seen: set[bytes] = set()
        for words in self.combinations():
            for site in self.searched:
                target, *_ = self.targets(site, words, pages=1)
                seed = Seed(
                    url=target.url,
                    plan=self.name,
                    site=site.name,
                    frontier="nav",
                    keywords=words,
                    edition=edition,
                    method=target.method,
                    body=target.body,
                    more=self.file.pages - 1 if site.search.paging else 0,
                    per_page=self.file.per_page,
                    sort=self.file.sort,
                    since=self.file.since,
                    priority=self.file.priority,
                    interval_s=self.file.interval_s,
                    exact=site.exact,
                    match_text=self.file.match_text,
                    general=self.file.judges_links,
                )
                if seed.fingerprint not in seen:
                    seen.add(seed.fingerprint)
                    yield seed
        for key, name in self.file.list_sites.items():
            for address in getattr(self.file, key):
                yield Seed(
                    canonical(address),
                    self.name,
                    name,
                    "nav",
                    edition=edition,
                    more=READS_LISTS[key][1] - 1,
                    priority=self.file.priority,
                    interval_s=self.file.interval_s,
                    match_text=self.file.match_text,
                    general=True,
                )

    def search_pages(self, edition: int) -> Iterator[Seed]:
        """Yields all search pages that the plan may ask for, as far as the pages before them needn't name them."""
        sites = {site.name: site for site in self.sites}
        for first in self.nav_seeds(edition):
            seed: Seed | None = first
            while seed is not None:
                yield seed
                seed = sites[seed.site].next_page(seed) if seed.more else None

    def definition(self) -> dict[str, Any]:
        """Returns the plan as JSON values, its sites by name, from which `from_definition` makes an equal one."""
        fields = type(self.file).model_fields
        left_out = {name for name in fields.keys() - _IN_DEFINITION if getattr(self.file, name) == fields[name].default}
        sites = [{"use": use.use, "hosts": list(use.hosts)} if use.hosts else use.use for use in self.file.sites]
        return self.file.model_dump(mode="json", exclude=left_out) | {"sites": sites}

    @classmethod
    def from_definition(cls, definition: dict[str, Any], sites: Mapping[str, Site]) -> Plan:
        """Returns the plan that `definition()` described.

        Args:
            definition: From Redis, and therefore checked as a file is.
            sites: The sites that are stored, by name.

        Raises:
            InputError: It isn't the definition of a plan, or one of its sites isn't stored.
        """
        name = definition.get("name") if isinstance(definition, dict) else None
        document = yamlfile.YamlDocument(f"definition of plan {name!r}", definition)
        checked = _whole(document, yamlfile.validate(document, PlanFile))
        for index, use in enumerate(checked.sites):
            if use.use not in sites:
                raise document.error(("sites", index), use.use, "a stored site")
        plan_sites = tuple(sites[use.use] for use in checked.sites)
        return _build(checked, plan_sites, _expression(document, checked), SEEDS_MAX)

    @cached_property
    def searched(self) -> tuple[Site, ...]:
        """Those of its sites that are searched for its keywords."""
        lists = self.file.list_sites.values()
        return (
            tuple(site for site in self.sites if site.searchable and site.name not in lists) if self.expression else ()
        )

    @cached_property
    def sites_by_name(self) -> dict[str, Site]:
        """Its sites by name."""
        return {site.name: site for site in self.sites}

    @cached_property
    def site_choice(self) -> SiteChoice:
        """Which of its sites reads a page that a start address or a link leads to."""
        return SiteChoice((site, use.hosts) for site, use in zip(self.sites, self.file.sites, strict=True))

    @cached_property
    def _combinations(self) -> tuple[Combination, ...]:
        if self.expression is None:
            return ()
        return combine(
            self.expression, self.file.keywords, max(1, self.max_seeds // max(1, self.seeds_per_combination))
        )

    @cached_property
    def seeds_per_combination(self) -> int:
        """The number of nav seeds of one combination, on all sites."""
        return sum(len(self.targets(site, _ANY_WORD)) for site in self.searched)


def priority_of(definition: Mapping[str, Any]) -> int:
    """Returns the priority in a plan's definition."""
    return int(definition.get("priority", PlanFile.model_fields["priority"].default))


def with_priority(definition: dict[str, Any], priority: int) -> dict[str, Any]:
    """Returns a plan's definition with another priority, which is left out where it is the default."""
    others = {name: value for name, value in definition.items() if name != "priority"}
    return others if priority == PlanFile.model_fields["priority"].default else others | {"priority": priority}


def described_sites(path: str, *, sites_dir: str = "") -> dict[str, tuple[Site, str]]:
    """Returns those sites of a plan file by name whose search is described elsewhere, each with a word to search for.

    Sites that are wrong are left to `load`, which tells of all.

    Raises:
        InputError: Something else in the file is wrong.
        SiteError: `sites_dir` can't be read.
    """
    document = yamlfile.read(path)
    file = yamlfile.validate(document, PlanFile)
    word = next((word for words in file.keywords.values() for word in (*words.required, *words.optional)), "")
    described = {}
    for index, use in enumerate(file.sites):
        with contextlib.suppress(InputError):
            site = _site(document, index, use, sites_dir, {})
            if site.search.description:
                described[site.name] = (site, word)
    return described


def load(
    path: str, *, sites_dir: str = "", max_seeds: int, described: Mapping[str, Mapping[str, Any]] | None = None
) -> Plan:
    """Reads a plan file.

    Args:
        path: Of the file.
        sites_dir: The analyst's folder of site files (SITES_DIR); empty for none.
        max_seeds: Most nav seeds that it may have (PLAN_MAX_SEEDS).
        described: By name what was read of sites whose search is described elsewhere (`described_sites`).

    Raises:
        InputError: Something in the file is wrong; the first such thing is named. Or its nav seeds are too many.
        SiteError: `sites_dir` can't be read.
    """
    return _from_document(yamlfile.read(path), sites_dir, max_seeds, described or {}, Path(path).parent)


def parse(text: str | bytes, file: str, *, sites_dir: str = "", max_seeds: int) -> Plan:
    """Returns the plan that a text describes, as `load` does; `file` is the name that errors show."""
    return _from_document(yamlfile.parse(text, file), sites_dir, max_seeds, {})


def _from_document(
    document: YamlDocument,
    sites_dir: str,
    max_seeds: int,
    described: Mapping[str, Mapping[str, Any]],
    folder: Path | None = None,
) -> Plan:
    file = _whole(document, yamlfile.validate(document, PlanFile))
    sites: dict[str, Site] = {}
    errors: list[InputError] = []
    for index, use in enumerate(file.sites):
        try:
            site = _site(document, index, use, sites_dir, described)
            if not (site.searchable or site.search.description or file.is_general):
                expected = f"a site with a search; scrapy seeds offer takes pages of {use.use}"
                raise document.error(("sites", index), use.use, expected)
            if site.search.description:
                raise document.error(
                    ("sites", index), use.use, f"a description of its search at {site.description_url}"
                )
            if sites.setdefault(site.name, site) is not site:
                expected = "each site once; {use, name, base} gives it another name"
                raise document.error(("sites", index), site.name, expected)
        except InputError as error:
            errors.append(error)
    try:
        expression = _expression(document, file)
    except InputError as error:
        errors.append(error)
    if file.order == FOCUSED and not file.keywords:
        errors.append(document.error(("order",), file.order, "keywords, by which links are judged; or breadth-first"))
    if errors:
        raise yamlfile.in_one(errors)
    plan = replace(_build(file, tuple(sites.values()), expression, max_seeds), folder=folder)
    _check_start(document, plan)
    if plan.expression is not None:
        _count(document, plan)
        _ask(document, plan)
    return plan


def _whole(document: YamlDocument, file: PlanFile) -> PlanFile:
    """Returns what a file says, with `sites: any` where it may leave them out, and the sites that read its lists.

    Raises:
        InputError: It has nothing to begin with, or no sites to search.
    """
    missing = [name for name in ("sites", "keywords") if not getattr(file, name)] if not file.names_pages else []
    if missing:
        expected = {"sites": "this key", "keywords": "this key, or start: addresses to begin with"}
        raise yamlfile.in_one([document.error((name,), None, expected[name]) for name in missing])
    if key := file.beside_keywords:
        raise document.error((key,), getattr(file, key), "keywords beside it: it says how sites are searched for them")
    names = {use.use for use in file.sites}
    lists = tuple(SiteUse(use=name) for name in file.list_sites.values() if name not in names)
    return file.model_copy(update={"sites": (*(file.sites or (SiteUse(use=ANY),)), *lists)})


def _build(file: PlanFile, sites: tuple[Site, ...], expression: Expression | None, max_seeds: int) -> Plan:
    # Sites are stored under the names that they have here.
    uses = tuple(SiteUse(use=site.name, hosts=use.hosts) for site, use in zip(sites, file.sites, strict=True))
    match = file.match.strip() or " and ".join(_filled(file))
    return Plan(file.model_copy(update={"sites": uses, "match": match}), sites, expression, max_seeds)


def _check_start(document: YamlDocument, plan: Plan) -> None:
    """Refuses start addresses that no site of the plan reads, and start files that can't be read."""
    errors = []
    for index, address in enumerate(plan.file.start):
        try:
            seed_of(plan, address)
        except UrlError as error:
            errors.append(document.error(("start", index), address, f"an http(s) address: {error}"))
        except LookupError:
            expected = (
                "an address that `follow.never` doesn't name, on a host of one of the sites; `any` has all others"
            )
            errors.append(document.error(("start", index), address, expected))
    for index, name in enumerate(plan.file.start_file):
        try:
            start_file(plan.folder, name)
        except ValueError as error:
            errors.append(document.error(("start_file", index), name, str(error)))
    if errors:
        raise yamlfile.in_one(errors)


def _site(
    document: YamlDocument, index: int, use: SiteUse, sites_dir: str, described: Mapping[str, Mapping[str, Any]]
) -> Site:
    path = ("sites", index)
    try:
        site = site_files.load(use.use, sites_dir)
    except SiteError as error:
        raise document.error(path, use.use, f"the name of a site: {error}") from None
    if use.name:
        try:
            site = site.named(use.name, use.base)
        except InputError as error:
            raise document.error((*path, error.key), error.value, error.expected) from None
    if site.name in described:
        site = site.described(described[site.name])
    if site.needs_base:
        expected = f"the place of a {use.use}: {{use: {use.use}, name: ..., base: https://...}}"
        raise document.error(path, use.use, expected)
    return site


def _expression(document: YamlDocument, file: PlanFile) -> Expression | None:
    """Returns what `match` says; without it, all classes that have words, joined by and; None: it has no keywords."""
    if not file.keywords:
        return None
    filled = _filled(file)
    if not filled:
        raise document.error(("keywords",), list(file.keywords), "words in at least one class")
    if "match" not in document.value:
        return join("and", filled)
    try:
        return parse_match(file.match, file.keywords)
    except MatchError as error:
        raise document.error(("match",), file.match, str(error)) from None


def _filled(file: PlanFile) -> list[str]:
    """Returns the names of the classes that have words."""
    return [name for name, words in file.keywords.items() if words.required or words.optional]


def _count(document: YamlDocument, plan: Plan) -> None:
    """Refuses a plan without combinations or with too many nav seeds."""
    assert plan.expression is not None  # the caller has looked
    if not plan.searched and not plan.file.looks_for_words:
        names = [site.name for site in plan.sites]
        raise document.error(
            ("sites",), names, "at least one site with a search, which keywords are for, or order: focused"
        )
    try:
        number = len(plan.combinations())
    except TooManyError as error:
        number = error.count
    if not number:
        named = ((name, plan.file.keywords[name]) for name in names_in(plan.expression))
        empty = ", ".join(name for name, words in named if not words.required and not words.optional)
        raise document.error(("match",), plan.file.match, f"at least one combination: {empty} has no words")
    place = "pages" if plan.file.looks_for_words else next((site.name for site in plan.sites if site.matches_all), "")
    if place and number > LOOKED_FOR_MAX:
        expected = f"at most {LOOKED_FOR_MAX} combinations, each of which is looked for in what {place} say"
        raise document.error(("keywords",), f"{number} combinations", expected)
    seeds = number * plan.seeds_per_combination
    if seeds > plan.max_seeds:
        value = f"{seeds} nav seeds ({number} combinations x {plan.seeds_per_combination} pages on all sites)"
        expected = f"at most {plan.max_seeds} (PLAN_MAX_SEEDS): fewer words or pages, or a smaller choose"
        raise document.error(("keywords",), value, expected)


def _ask(document: YamlDocument, plan: Plan) -> None:
    """Refuses a plan with a combination that a site can't be asked for."""
    for site in plan.searched:
        for words in plan.combinations():
            try:
                plan.targets(site, words)
            except SiteError as error:
                raise document.error(_place_of_word(plan, site, words), list(words), str(error)) from None


def _place_of_word(plan: Plan, site: Site, words: Combination) -> tuple[str | int, ...]:
    """Returns the place in the file of the first word that the site can't be asked for; `keywords` if there is none."""
    for word in words:
        try:
            plan.targets(site, (word,))
        except SiteError:
            for name, entries in plan.file.keywords.items():
                for kind, listed in (("required", entries.required), ("optional", entries.optional)):
                    if word in listed:
                        return ("keywords", name, kind, listed.index(word))
    return ("keywords",)
