"""What the patterns of a plan's `follow` and `scope` match, by trial: of its start pages, and of all addresses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawler.plans.start_pages import Skipped, start_pages
from crawler.scope.scope_file import matches_all, matches_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.plans.plan import Plan
    from crawler.sites.pattern import Pattern

MAX_TRIED = 1_000  # most start pages: enough to see what a pattern does
# The keys with patterns, each with what follows where one matches every address.
_IF_ALL = {
    "allow": "the key says nothing",
    "detail": "the key says nothing",
    "deny": "no link is followed",
    "never": "nothing is asked for",
    "list": "no page makes an item",
}


@dataclass(frozen=True, slots=True)
class PatternTrial:
    """How many start pages a pattern matches, of those that were tried."""

    key: str
    pattern: str
    matched: int
    tried: int


def trials(plan: Plan) -> list[PatternTrial]:
    """Returns what each pattern matches of the plan's first start pages; nothing for a plan without any.

    Raises:
        InputError: A start file can't be read.
    """
    urls = [seed.url for seed in islice(start_pages(plan, Skipped()), MAX_TRIED)]
    patterns = _patterns(plan) if urls else ()
    return [PatternTrial(key, each.text, sum(map(each.found_in, urls)), len(urls)) for key, each in patterns]


def useless_patterns(plan: Plan) -> Iterator[str]:
    """Yields what is said of patterns that match every address, or none."""
    for key, pattern in _patterns(plan):
        if matches_all(pattern):
            yield f"{key}: {pattern.text} matches every address, so {_IF_ALL[key.partition('.')[2]]}"
        elif matches_none(pattern):
            yield f"{key}: {pattern.text} matches no address: they begin with http:// or https://"


def _patterns(plan: Plan) -> Iterator[tuple[str, Pattern]]:
    for part in ("follow", "scope"):
        for key in _IF_ALL:
            for pattern in getattr(getattr(plan.file, part), key, ()):
                yield f"{part}.{key}", pattern
