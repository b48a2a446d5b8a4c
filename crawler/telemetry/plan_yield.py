"""What a plan's searches brought, by combination of words and by page of results: which are worth asking, and how far.

Workers add to it as to the history, and like that it is for people to look at: a worker that is killed takes what it
hadn't told with it, and a page that is read again counts again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import orjson

from crawler.frontier.keys import as_count, as_text
from crawler.frontier.scripts import run_text
from crawler.telemetry.history import ADD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.models import Seed
    from crawler.frontier.keys import Keys

MAX_NAMES = 3_000  # most names of one plan: some 500 combinations, in 300 kB at most; what comes later isn't counted
KEPT_SECONDS = 31 * 86_400  # how long counts are kept after the last one
What = Literal["pages", "found", "new", "items", "off_topic", "low_yield"]


@dataclass(slots=True)
class Yield:
    """What was brought.

    Attributes:
        pages: Pages of results that were read.
        found: Results on them.
        new: Of these, pages that the plan hadn't asked for before.
        items: Of all pages found, those that were delivered.
        off_topic: Of all pages found, those without the plan's words, which `match_text` asks for.
        low_yield: Pages of results that weren't asked for, as they would have brought too little.
    """

    pages: int = 0
    found: int = 0
    new: int = 0
    items: int = 0
    off_topic: int = 0
    low_yield: int = 0


@dataclass(frozen=True, slots=True)
class PlanYield:
    """What a plan brought.

    Attributes:
        combinations: By words joined with ` + `, those with the most items first.
        pages: By the number of the page of results, from 1.
    """

    combinations: dict[str, Yield] = field(default_factory=dict)
    pages: dict[int, Yield] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each combination, then for each page of results."""
        words = [{"words": words, "page": None, **asdict(brought)} for words, brought in self.combinations.items()]
        return words + [{"words": "", "page": page, **asdict(brought)} for page, brought in self.pages.items()]


def counts_of_search(seed: Seed, found: int, new: int) -> dict[str, int]:
    """Returns what a page of results adds."""
    names: list[object] = [seed.page]
    if seed.keywords:
        names.append(seed.keywords)
    brought: dict[What, int] = {"pages": 1, "found": found, "new": new}
    return {_name(what, of): number for of in names for what, number in brought.items()}


def counts_of_page(seed: Seed, *, is_item: bool = True) -> dict[str, int]:
    """Returns what a page adds to the combinations that found it: one that was delivered, or one that is off topic."""
    return {_name("items" if is_item else "off_topic", words): 1 for words in seed.combinations}


def counts_of_low_yield(seed: Seed) -> dict[str, int]:
    """Returns what a search page adds that isn't asked for, nor are those behind it."""
    return {_name("low_yield", seed.keywords): 1 + seed.more}


async def on_topic(redis: Any, keys: Keys, seed: Seed) -> float:
    """Returns which share of the pages that a search's combination has found is on topic; 1 where none was read."""
    names = [_name("items", seed.keywords), _name("off_topic", seed.keywords)]
    items, off_topic = (as_count(raw or b"") or 0 for raw in await redis.hmget(keys.plan_yield(seed.plan), names))
    return (items + 1) / (items + off_topic + 1)


def add(client: Any, keys: Keys, plan: str, counts: Mapping[str, int]) -> None:
    """Adds counts of a plan, also when Redis is full. Takes a client or a pipeline."""
    words = [word for pair in counts.items() for word in pair]
    run_text(client, ADD, [keys.plan_yield(plan)], KEPT_SECONDS, MAX_NAMES, *words)


async def read(redis: Any, keys: Keys, plan: str) -> PlanYield:
    """Returns what a plan brought; empty where nothing was counted, or it was a month ago."""
    combinations: dict[str, Yield] = {}
    pages: dict[int, Yield] = {}
    for raw, number in (await redis.hgetall(keys.plan_yield(plan))).items():
        what, _, of = as_text(raw).partition(" ")
        try:
            value = orjson.loads(of)
        except ValueError:
            continue
        if what not in Yield.__slots__:
            continue
        if isinstance(value, int):
            brought = pages.setdefault(value, Yield())
        elif isinstance(value, list):
            brought = combinations.setdefault(" + ".join(map(str, value)), Yield())
        else:
            continue
        setattr(brought, what, as_count(number) or 0)
    best = sorted(combinations.items(), key=lambda pair: (-pair[1].items, -pair[1].found, pair[0]))
    return PlanYield(dict(best), dict(sorted(pages.items())))


def _name(what: What, of: object) -> str:
    return f"{what} {orjson.dumps(of).decode()}"
