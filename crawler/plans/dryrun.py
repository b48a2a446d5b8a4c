"""The dry run of a plan, `scrapy plan check`: what it would cost, found without sending anything."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from crawler.plans.match import names_in
from crawler.plans.pattern_trial import PatternTrial, trials
from crawler.plans.start_pages import Skipped, start_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.base.models import Politeness
    from crawler.plans.combinations import Combination
    from crawler.plans.plan import Plan

OVERLAPS_SHOWN = 100  # most pairs that are shown; the first few already tell what to change
OVERLAP_STEPS = 1_000_000  # most subsets that are looked at, in about a second
_SECONDS_PER_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two combinations that find the same pages, on a site that looks for all words.

    Attributes:
        wider: Fewer words, so more results.
        narrower: The same words and more, or the same in other letter case: its results are among the wider one's.
    """

    wider: Combination
    narrower: Combination


@dataclass(frozen=True, slots=True)
class SiteShare:
    """What one run of a plan asks of one site.

    Attributes:
        host: The site's host; empty when all its searches are those of another site of the plan.
        nav_seeds: Pages of search results, where no search ends before; with cursors and links, the first of each.
        pages_at_most: All search pages, and a content page for each result, as if none were known or found twice.
        hours_at_most: What those pages take at the site's politeness, if no other plan asks the host. No bound of the
            time that it will take: fewer may be new, and what `Check` doesn't count comes on top. The name is of old.
    """

    site: str
    host: str
    nav_seeds: int
    pages_at_most: int
    hours_at_most: float


@dataclass(frozen=True, slots=True)
class Check:
    """What a plan would cost. Images, further pages of one item, and waits for slow answers aren't counted.

    Attributes:
        plan: Its name.
        combinations: All of them.
        nav_seeds: Their number, on all sites.
        sites: In the order of the plan.
        pages_at_most: On all sites.
        hours_at_most: Until the slowest host is done; hosts are crawled at the same time.
        overlaps: The first OVERLAPS_SHOWN pairs.
        more_overlaps: Whether there are more, or may be.
        unused: Classes that have words but don't stand in `match`.
        interval_s: Seconds between two runs; 0: it runs once.
        match_text: Sites of which those pages alone are taken whose text has the words of a combination.
        start_pages: How many addresses it begins with, those that stand in it several times as often.
        skipped: What is said of lines of start files that are left out.
        depth: How many links are followed from these, and from results; 0: none.
        patterns: What those of its `follow` and `scope` match of its first start pages.
    """

    plan: str
    combinations: tuple[Combination, ...]
    nav_seeds: int
    sites: tuple[SiteShare, ...]
    pages_at_most: int
    hours_at_most: float
    overlaps: tuple[Overlap, ...]
    more_overlaps: bool
    unused: tuple[str, ...]
    interval_s: int
    match_text: tuple[str, ...]
    start_pages: int = 0
    skipped: tuple[str, ...] = ()
    depth: int = 0
    patterns: tuple[PatternTrial, ...] = ()


def check(plan: Plan) -> Check:
    """Returns what a plan would cost; opens no connection.

    Raises:
        InputError: A start file can't be read.
    """
    seeds: Counter[str] = Counter()
    searches: Counter[str] = Counter()
    hosts: dict[str, str] = {}
    by_name = {site.name: site for site in plan.sites}
    for seed in plan.nav_seeds(edition=0):
        seeds[seed.site] += 1 if by_name[seed.site].search.names_next else 1 + seed.more
        searches[seed.site] += 1 + seed.more
        hosts.setdefault(seed.site, seed.host)
    shares = tuple(_shares(plan, seeds, searches, hosts))
    overlaps, more = _overlaps(plan.combinations())
    used = set(names_in(plan.expression)) if plan.expression else set()
    skipped = Skipped()
    number = sum(1 for _ in start_pages(plan, skipped))
    filled = (name for name, words in plan.file.keywords.items() if words.required or words.optional)
    return Check(
        plan=plan.name,
        combinations=plan.combinations(),
        nav_seeds=seeds.total(),
        sites=shares,
        pages_at_most=sum(share.pages_at_most for share in shares),
        hours_at_most=_slowest(plan, shares),
        overlaps=overlaps,
        more_overlaps=more,
        unused=tuple(name for name in filled if name not in used),
        interval_s=plan.file.interval_s,
        match_text=tuple(site.name for site in plan.sites if plan.matches_text(site.name)),
        start_pages=number,
        skipped=tuple(skipped.lines()),
        depth=plan.file.follow.depth if plan.file.follow else 0,
        patterns=tuple(trials(plan)),
    )


def _shares(plan: Plan, seeds: Counter[str], searches: Counter[str], hosts: dict[str, str]) -> Iterator[SiteShare]:
    for site in plan.searched:
        pages = searches[site.name] * (1 + min(plan.file.per_page, site.search.max_per_page))
        pace = site.politeness
        yield SiteShare(site.name, hosts.get(site.name, ""), seeds[site.name], pages, _hours(pages, [pace]))


def _slowest(plan: Plan, shares: Sequence[SiteShare]) -> float:
    """Returns the hours of the host that takes longest; sites that are on one host share its turns."""
    paces: dict[str, list[Politeness]] = {}
    pages: Counter[str] = Counter()
    for site, share in zip(plan.searched, shares, strict=True):
        paces.setdefault(share.host, []).append(site.politeness)
        pages[share.host] += share.pages_at_most
    return max((_hours(pages[host], paces[host]) for host in paces), default=0.0)


def _hours(pages: int, paces: Sequence[Politeness]) -> float:
    """Returns how long a host takes at the strictest pace of its sites."""
    delay_s = max(pace.delay_s for pace in paces)
    concurrency = min(pace.concurrency for pace in paces)
    return pages * delay_s / concurrency / _SECONDS_PER_HOUR


def _overlaps(combos: Sequence[Combination]) -> tuple[tuple[Overlap, ...], bool]:
    """Returns pairs of which one set of words, in any letter case, holds the other; and whether there may be more."""
    overlaps: list[Overlap] = []
    for steps, overlap in enumerate(_pairs(combos)):
        if overlap:
            overlaps.append(overlap)
        if len(overlaps) > OVERLAPS_SHOWN or steps >= OVERLAP_STEPS:
            return tuple(overlaps[:OVERLAPS_SHOWN]), True
    return tuple(overlaps), False


def _pairs(combos: Sequence[Combination]) -> Iterator[Overlap | None]:
    """Looks for overlaps; yields at each step the one that was found, or None."""
    by_size: dict[int, dict[frozenset[str], Combination]] = {}
    for words in combos:
        key = _folded(words)
        first = by_size.setdefault(len(key), {}).setdefault(key, words)
        yield Overlap(first, words) if first is not words else None
    for words in combos:
        key = _folded(words)
        for size, smaller in by_size.items():
            if size >= len(key):
                continue
            if comb(len(key), size) <= len(smaller):  # look up each subset, or look at each smaller combination
                parts = (smaller.get(frozenset(part)) for part in combinations(sorted(key), size))
            else:
                parts = (part_words if part < key else None for part, part_words in smaller.items())
            yield from (Overlap(part, words) if part else None for part in parts)


def _folded(words: Combination) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
