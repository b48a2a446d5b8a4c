"""How many of a plan's search pages does it take to find nearly all that its combinations find?

    .venv/bin/python -m benchmarks.search_yield

Plans of 100 combinations search this machine's manual pages, with the full text search of SQLite that a MediaWiki on
SQLite asks: pages with all words, in the order of the pages. Search pages are claimed as the frontier does (ten at
once, by priority, then age; one claim in ten begins with another priority), and judged by what workers judge them with,
on a Redis. Each plan runs several times, with its combinations in another order.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import random
import re
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from crawler.base.models import Claimed, Seed
from crawler.frontier.keys import Keys
from crawler.plans.plan_searches import PlanSearches
from crawler.servers.redis import redis_async
from crawler.worker.definitions.search_wishes import SearchWish
from crawler.worker.offers.search_yield import SearchYield
from testbed.servers import Redis

if TYPE_CHECKING:
    from crawler.plans.combinations import Combination

MANUALS, MAX_MANUALS, MAX_CHARACTERS = Path("/usr/share/man"), 2_200, 20_000
PAGES, PER_PAGE, BURST, OTHERS = 5, 20, 10, 10
ROUNDS = 5
PLANS = {
    "two special words": (
        "network file disk user process image font kernel database password".split(),
        "convert remove monitor encrypt compress filter verify mount socket schedule".split(),
    ),
    "a common word and a special one": (
        "file user system output error option name directory command value".split(),
        "network disk process image kernel database password font memory socket".split(),
    ),
    "two rare words": (
        "perl python git server locale tcl package terminal window thread".split(),
        "parse install string color cache sort signal backup search library".split(),
    ),
}
ORDERS = {
    "as the plan names them": PlanSearches(order="plan"),
    "by yield": PlanSearches(),
    "by yield, `least_new: 0.25`": PlanSearches(least_new=0.25),
    "by yield, `least_new: 0.5`": PlanSearches(least_new=0.5),
    "by yield, `least_new: 1`": PlanSearches(least_new=1),
}
Results = dict["Combination", list[list[int]]]  # combination -> its search pages, each with the pages that it finds


def index() -> sqlite3.Connection:
    """Returns an index of manual pages of this machine, without what formats them."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE page USING fts3(text)")
    files = [path for part in "1578" for path in sorted(MANUALS.glob(f"man{part}/*.gz")) if not path.is_symlink()]
    random.Random(1).shuffle(files)
    for path in files[:MAX_MANUALS]:
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        text = re.sub(r"^[.'][A-Za-z]{1,2}\b|\\f[BIRP]|\\\(..|\\.", " ", text, flags=re.MULTILINE)
        database.execute("INSERT INTO page VALUES (?)", (text[:MAX_CHARACTERS].lower(),))
    return database


def results(database: sqlite3.Connection, first: list[str], second: list[str]) -> Results:
    """Returns what each combination of two words finds; one that finds nothing has a page, too."""
    found = {}
    for words in itertools.product(first, second):
        query = "SELECT rowid FROM page WHERE text MATCH ? LIMIT ?"
        rows = [row for (row,) in database.execute(query, (" ".join(words), PAGES * PER_PAGE))]
        found[words] = [rows[at : at + PER_PAGE] for at in range(0, len(rows), PER_PAGE)] or [[]]
    return found


async def crawl(found: Results, searches: PlanSearches, judge: SearchYield, edition: int) -> list[list[int]]:
    """Returns the search pages in the order in which they are asked for, each with what it finds."""
    wish = SearchWish(5, searches.order == "yield", searches.least_new)
    known, asked = set[int](), list[list[int]]()
    ready = [(-5, number, words, 1) for number, words in enumerate(found)]
    ages, claims = itertools.count(len(ready)), itertools.count(1)
    while ready:
        ready.sort()
        burst = ready[:BURST]
        other = next((entry for entry in ready if entry[0] > ready[0][0]), None)
        if next(claims) % OTHERS == 0 and other:
            burst = [other, *(entry for entry in burst[: BURST - 1] if entry != other)]
        ready = [entry for entry in ready if entry not in burst]
        for before, age, words, page in burst:
            seed = Seed("http://a.test/", "p", "s", "nav", words, edition=edition, page=page, per_page=PER_PAGE)
            claimed = Claimed(seed, b"", 0, "A#1", 1, 0, 0, 0.0)
            expected = await judge.expected(claimed)
            assert expected is not None  # Redis is there
            if wish.refuses(seed, expected):
                continue
            if (priority := wish.priority_of(seed, expected)) < -before:
                ready.append((-priority, age, words, page))
                continue
            brought = found[words][page - 1]
            asked.append(brought)
            await judge.learn(claimed, len({*brought} - known), looks_for_words=False)
            known |= {*brought}
            if page < len(found[words]):
                following = await judge.expected(replace(claimed, seed=replace(seed, page=page + 1)))
                ready.append((-wish.priority_of(seed, following or 0.0), next(ages), words, page + 1))
    return asked


def part_for(asked: list[list[int]], share: float, everything: int, searches: int) -> float:
    """Returns which part of all search pages it takes until a share of all pages was found; 1 where it never was."""
    known = set[int]()
    for number, brought in enumerate(asked, 1):
        known.update(brought)
        if len(known) >= share * everything:
            return number / searches
    return 1.0


async def compare(server: Redis) -> None:
    """Prints a table for each plan."""
    database, editions = index(), itertools.count(1)
    async with redis_async({"REDIS_URL": server.url}) as redis:
        judge = SearchYield(redis, Keys("hr"))
        for name, (first, second) in PLANS.items():
            found = results(database, first, second)
            searches, everything = sum(map(len, found.values())), len({n for p in found.values() for r in p for n in r})
            print(f"\n{name}: {len(found)} combinations, {searches} search pages, {everything} pages found\n")
            print("| order | search pages asked | of all requests | items | search pages for 95 % | items after 60 % |")
            print("|---|--:|--:|--:|--:|--:|")
            for order, wanted in ORDERS.items():
                rows = []
                for number in range(ROUNDS):
                    words = random.Random(number).sample(list(found), len(found))
                    asked = await crawl({each: found[each] for each in words}, wanted, judge, next(editions))
                    items = [len({n for r in asked[:end] for n in r}) for end in (len(asked), round(0.6 * searches))]
                    requests = (len(asked) + items[0]) / (searches + everything)
                    to_95 = part_for(asked, 0.95, everything, searches)
                    rows.append((len(asked) / searches, requests, items[0] / everything, to_95, items[1] / everything))
                means = [fmean(column) for column in zip(*rows, strict=True)]
                print(f"| {order} | {' | '.join(f'{100 * mean:.0f} %' for mean in means)} |", flush=True)


def main() -> None:
    """Compares on a Redis of its own."""
    with tempfile.TemporaryDirectory() as folder, Redis(Path(folder)) as server:
        asyncio.run(compare(server))


if __name__ == "__main__":
    main()
