"""How many pages on a topic a crawl has after a tenth of all pages: breadth-first, focused, by others' rules, at best.

A graph of pages is crawled in memory, by the frontier's order: priority, then depth, then age, with one page in ten of
another priority (lua/lib/order.lua, lua/claim.lua). benchmarks/README.md says what the graphs, topics and rules are.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import re
import subprocess
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import orjson

from crawler import extract
from crawler.base.errors import ExtractError
from crawler.base.models import MAX_PRIORITY, Fetched
from crawler.base.urls import canonical
from crawler.extract.words import CombinationSearch, comparable, text_of_page
from crawler.scope.scorers import BreadthFirst, Focused, Link, PageOfLinks, PlanTopic
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

Combinations = list[tuple[str, ...]]
Rate = "Callable[[Linked, Page, int], float]"

CACHE = Path(".cache/manuals")
PACKAGES = """postgresql-doc-15 python3.11-doc git-doc sqlite3-doc linux-doc-6.1 cppreference-doc-en-html erlang-doc
    cmake-doc python-django-doc apache2-doc libgtk-3-doc libglib2.0-doc bind9-doc octave-doc python-sqlalchemy-doc
    nodejs-doc llvm-14-doc""".split()
ORIGIN = "https://manuals.example/"  # where a page made here links to the first page of each manual
MAX_LINKS = 10_000
SHARE = 10  # one page in so many is of another priority than the first that waits, as in lua/claim.lua
PART = 10  # pages on topic are counted after a tenth of all pages
USUAL_PRIORITY = 5  # of a plan

# The weights that the scorer begins with were found by these topics ...
TUNED: dict[str, Combinations] = {
    "replication": [("replication",), ("standby server",)],
    "mutex": [("mutex",)],
    "framebuffer": [("framebuffer",), ("frame buffer",)],
    "window function": [("window function",)],
    "bitset": [("bitset",)],
    "gpio": [("gpio",), ("pinctrl",)],
    "csrf": [("csrf",), ("cross-site",)],
}
# ... and these were looked at afterwards.
UNSEEN: dict[str, Combinations] = {
    "vacuum": [("vacuum",)],
    "foreign key": [("foreign key",)],
    "coroutine": [("coroutine",), ("asyncio",)],
    "rebase": [("rebase",), ("submodule",)],
    "certificate": [("certificate", "ssl"), ("certificate", "tls")],
    "queryset": [("queryset",)],
    "template parameter": [("template parameter",)],
    "scheduler": [("scheduler", "cpu"), ("scheduler", "thread")],
    "i2c": [("i2c",)],
    "reverse proxy": [("reverse proxy",), ("websocket",)],
    "cross compile": [("toolchain",), ("cross compil",)],
    "fortran": [("fortran",)],
    "backup": [("backup", "restore")],
    "nfs": [("nfs",), ("smb",)],
    "collation": [("collation",)],
    "thermal": [("thermal",)],
}


class Linked(NamedTuple):
    """A link: the number of the page that it leads to, and its words."""

    to: int
    anchor: str
    around: str


class Page(NamedTuple):
    """A page of a graph; `text` is comparable."""

    url: str
    text: str
    links: Sequence[Linked]


class Graph(Protocol):
    """Pages by their numbers. A crawl begins with page 0, from which all others are reached."""

    def __len__(self) -> int:
        """Returns how many pages there are."""

    def __getitem__(self, number: int) -> Page:
        """Returns a page."""


# --- Crawling ---------------------------------------------------------------------------------------------------------


class Waiting(NamedTuple):
    """A known page in the order of a frontier: by depth, then by age."""

    depth: int
    age: int
    number: int
    why: str


class Frontier:
    """Known pages in the order of lua/lib/order.lua. One that is offered again with a higher priority comes sooner."""

    def __init__(self) -> None:
        self._waiting: list[list[Waiting]] = [[] for _ in range(MAX_PRIORITY + 1)]
        self._best: dict[int, int] = {}
        self._claimed: set[int] = set()
        self._ages = self._claims = 0

    def offer(self, number: int, priority: int, depth: int, why: str) -> None:
        """Offers a page that a link leads to."""
        if number not in self._claimed and self._best.get(number, -1) < priority:
            self._best[number] = priority
            self._ages += 1
            heapq.heappush(self._waiting[priority], Waiting(depth, self._ages, number, why))

    def claim(self) -> Waiting | None:
        """Returns the page that comes first; None: all are claimed."""
        self._claims += 1
        there = [priority for priority in range(MAX_PRIORITY, -1, -1) if self._top(priority)]
        if not there:
            return None
        chosen = there[0]
        if self._claims % SHARE == 0:
            turn = self._claims // SHARE
            below = MAX_PRIORITY - 1 - turn // 2 % MAX_PRIORITY
            chosen = there[-1] if turn % 2 == 0 else next((each for each in there if each <= below), there[0])
        claimed = heapq.heappop(self._waiting[chosen])
        self._claimed.add(claimed.number)
        return claimed

    def _top(self, priority: int) -> bool:
        waiting = self._waiting[priority]
        while waiting and (waiting[0].number in self._claimed or self._best[waiting[0].number] != priority):
            heapq.heappop(waiting)
        return bool(waiting)


class Result(NamedTuple):
    """How many pages on topic a crawl had, and the seconds of CPU that its rule took for a page."""

    on_topic: int
    rule_s: float


def crawl(graph: Graph, relevant: AbstractSet[int], scorer: BreadthFirst | Focused, pages: int) -> Result:
    """Crawls so many pages in the order of our frontier."""
    frontier, on_topic, rule_s = Frontier(), 0, 0.0
    frontier.offer(0, USUAL_PRIORITY, 0, "")
    for _ in range(pages):
        if (claimed := frontier.claim()) is None:
            break
        page = graph[claimed.number]
        on_topic += claimed.number in relevant
        began = time.process_time()
        links = [Link(graph[link.to].url, link.anchor, link.around) for link in page.links]
        scores = scorer.scores(links, PageOfLinks(page.url, USUAL_PRIORITY, claimed.depth, claimed.why, page.text))
        rule_s += time.process_time() - began
        for link, score in zip(page.links, scores, strict=True):
            frontier.offer(link.to, score.priority, claimed.depth + 1, score.why)
    return Result(on_topic, rule_s / pages)


def crawl_best_first(
    graph: Graph, relevant: AbstractSet[int], rated: Callable[[int], Iterable[float]], pages: int
) -> int:
    """Crawls so many pages, the best-rated known one first, whatever else waits; of equal ones the oldest first.

    Args:
        rated: Returns the rates of a page's links, in their order.
    """
    waiting, best, claimed, on_topic, age = [(-1.0, 0, 0)], {0: 1.0}, set[int](), 0, 0
    while waiting and len(claimed) < pages:
        number = heapq.heappop(waiting)[2]
        if number in claimed:
            continue
        claimed.add(number)
        on_topic += number in relevant
        for link, rate in zip(graph[number].links, rated(number), strict=True):
            if link.to not in claimed and best.get(link.to, -1.0) < rate:
                best[link.to] = rate
                age += 1
                heapq.heappush(waiting, (-rate, age, link.to))
    return on_topic


class Literature:
    """What others rate links by: the cosine of words, and the shark search."""

    def __init__(self, graph: Graph, combinations: Combinations) -> None:
        self._graph = graph
        self._words = sorted({word for words in combinations for word in words})
        self._inherited: dict[int, float] = {}
        self.cosine = cache(self._cosine)

    def _cosine(self, text: str) -> float:
        """Returns the cosine of the topic's words, each once, and a text's words."""
        numbers = [text.count(word) for word in self._words]
        if not any(numbers):
            return 0.0
        counts = Counter(re.findall(r"\w+", text))
        length = math.sqrt(sum(count * count for count in counts.values()))
        return min(1.0, sum(numbers) / (length * math.sqrt(len(numbers))))

    def best_first(self, number: int) -> list[float]:
        """Returns the mean of the cosines of the page and the anchor."""
        page = self._graph[number]
        of_page = self.cosine(page.text)
        return [(of_page + self.cosine(link.anchor.lower())) / 2 for link in page.links]

    def shark(self, number: int) -> list[float]:
        """Returns what Hersovici and others (1998) say, with their constants."""
        page = self._graph[number]
        of_page = self.cosine(page.text)
        inherited = 0.5 * (of_page or self._inherited.get(number, 0.0))
        rates = []
        for link in page.links:
            self._inherited[link.to] = max(inherited, self._inherited.get(link.to, 0.0))
            anchor = self.cosine(link.anchor.lower())
            context = 1.0 if anchor else self.cosine(f"{link.anchor} {link.around}".lower())
            rates.append(0.5 * inherited + 0.5 * (0.8 * anchor + 0.2 * context))
        return rates


# --- Debian's manuals -------------------------------------------------------------------------------------------------


def manuals() -> list[Page]:
    """Returns the pages of the manuals that links reach; they are downloaded and read if they aren't in the cache."""
    saved = CACHE / "pages.jsonl"
    if not saved.exists():
        root = _unpacked()
        files = {_url_of(path, root): path for path in sorted(root.rglob("*.htm*")) if path.is_file()}
        firsts = [path for path in files.values() if re.fullmatch(r"(index|contents)\.html?", path.name)]
        folders = {path.parent for path in firsts}
        highest = [path for path in firsts if folders.isdisjoint(path.parent.parents)]
        numbers = {url: number for number, url in enumerate(files, 1)}
        links = [[numbers[_url_of(path, root)], " ".join(path.parts[-3:-1]), ""] for path in highest]
        with saved.open("wb") as file, ProcessPoolExecutor() as readers:
            file.write(orjson.dumps({"url": ORIGIN, "text": "manuals", "links": links}) + b"\n")
            for url, (text, linked) in zip(files, readers.map(_read, files, files.values(), chunksize=50), strict=True):
                links = [[numbers[to], *words] for to, *words in linked if to in numbers]
                file.write(orjson.dumps({"url": url, "text": text, "links": links}) + b"\n")
    rows = [orjson.loads(line) for line in saved.read_bytes().splitlines()]
    reached = {0: 0}  # old numbers, by which new ones count from 0
    for number in (queue := [0]):
        for to, *_words in rows[number]["links"]:
            if to not in reached:
                reached[to] = len(reached)
                queue.append(to)
    return [
        Page(row["url"], row["text"], [Linked(reached[to], *words) for to, *words in row["links"]])
        for row in (rows[number] for number in reached)
    ]


def _unpacked() -> Path:
    root, packages = CACHE / "root", CACHE / "debs"
    if not root.exists():
        packages.mkdir(parents=True, exist_ok=True)
        for name in PACKAGES:
            subprocess.run(["apt-get", "download", name], cwd=packages, check=True)  # noqa: S607
        for package in packages.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)  # noqa: S607
    return root


def _url_of(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix()
    return canonical(ORIGIN + name.replace("%", "%25").replace("?", "%3F").replace("#", "%23"))


class _AllLinks:
    """Takes all links of a page, with their words."""

    per_page = MAX_LINKS

    def wants(self, url: str, _page_url: str) -> bool:
        return url.startswith(ORIGIN)


def _read(url: str, path: Path) -> tuple[str, list[tuple[str, str, str]]]:
    """Returns the text of a page, as workers have it, and its links with their words."""
    page = Fetched(url, 200, "text/html", path.read_bytes())
    try:
        site = Site.from_definition({"name": "manuals"})
        reading = extract.read(page, site, max_links=MAX_LINKS, by_site=False, rules=[_AllLinks()], with_context=True)
    except ExtractError:
        return "", []
    (links,) = reading.links_by_rule
    words = [(to, links.contexts[to].anchor, links.contexts[to].around) for to in links.urls]
    if reading.found is None or isinstance(reading.found, ExtractError):
        return "", words
    fields = reading.found
    return text_of_page(fields.title, fields.content, (comment.text for comment in fields.comments)), words


# --- A made web -------------------------------------------------------------------------------------------------------


class MadeWeb:
    """200,000 pages of 400 hosts about 200 topics, made from their numbers.

    A host has a topic of its own, which 60 % of its pages are about; the others are about any. A page has 16 links: 4
    to the first pages of its host, as menus do; of the other 12, 45 % lead to pages of its own topic (most of them on
    its host), 15 % to a related topic, and 40 % to any page of its host or of any other: noise. Of the links' texts,
    45 % have a word of the topic that they lead to, 10 % one of any topic, the others none. Of an address, a third has
    one. A text has 60 words: a quarter are of its topic's 12, the first ones more often, and 3 % of another topic's.
    """

    PAGES, HOSTS, TOPICS, LINKS = 200_000, 400, 200, 16
    PER_HOST = PAGES // HOSTS

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self._seed = seed
        self._topics = [
            number // self.PER_HOST % self.TOPICS if chance.random() < 0.6 else chance.randrange(self.TOPICS)
            for number in range(self.PAGES)
        ]
        self._by_topic: list[list[int]] = [[] for _ in range(self.TOPICS)]
        self._by_host: list[list[list[int]]] = [[[] for _ in range(self.TOPICS)] for _ in range(self.HOSTS)]
        for number, topic in enumerate(self._topics):
            self._by_topic[topic].append(number)
            self._by_host[number // self.PER_HOST][topic].append(number)
        self._cached = cache(self._made)

    def __len__(self) -> int:
        return self.PAGES

    def __getitem__(self, number: int) -> Page:
        return self._cached(number)

    @staticmethod
    def combinations(topic: int) -> Combinations:
        """Returns the words that a plan has for a topic."""
        return [(f"t{topic}a", f"t{topic}b"), (f"t{topic}c", f"t{topic}d")]

    def _made(self, number: int) -> Page:
        chance = random.Random(self._seed * self.PAGES + number)
        topic, host = self._topics[number], number // self.PER_HOST
        stray = chance.randrange(self.TOPICS)
        words = [
            self._word(topic, chance)
            if (at := chance.random()) < 0.25
            else self._word(stray, chance)
            if at < 0.28
            else f"w{chance.randrange(3_000)}"
            for _ in range(60)
        ]
        targets = [host * self.PER_HOST + place for place in (0, *(1 + chance.randrange(20) for _ in range(3)))]
        if number == 0:  # the page that the crawl begins with leads to a tenth of the hosts
            targets = [host * self.PER_HOST for host in range(0, self.HOSTS, 10)]
        elif number % self.PER_HOST <= 20:  # the first pages of a host lead to many of it
            targets += [host * self.PER_HOST + chance.randrange(self.PER_HOST) for _ in range(30)]
        while len(targets) < self.LINKS:
            targets.append(self._target(topic, host, chance))
        links = [Linked(to, self._anchor(to, chance), " ".join(words[at : at + 8])) for at, to in enumerate(targets)]
        return Page(self._url(number), " ".join(words), links)

    def _target(self, topic: int, host: int, chance: random.Random) -> int:
        at = chance.random()
        if at < 0.3:
            return chance.choice(self._by_host[host][topic])
        if at < 0.45:
            return chance.choice(self._by_topic[topic])
        if at < 0.6:
            return chance.choice(self._by_topic[(topic + chance.choice((-1, 1))) % self.TOPICS])
        return host * self.PER_HOST + chance.randrange(self.PER_HOST) if at < 0.8 else chance.randrange(self.PAGES)

    def _anchor(self, to: int, chance: random.Random) -> str:
        at = chance.random()
        topic = self._topics[to] if at < 0.45 else chance.randrange(self.TOPICS)
        return f"w{chance.randrange(3_000)} " + (self._word(topic, chance) if at < 0.55 else "more")

    def _url(self, number: int) -> str:
        chance = random.Random(-number)
        slug = self._word(self._topics[number], chance) if chance.random() < 0.33 else f"w{chance.randrange(3_000)}"
        return f"https://h{number // self.PER_HOST}.example/{slug}/{number}"

    @staticmethod
    def _word(topic: int, chance: random.Random) -> str:
        """Returns a word of a topic, of 12, the first ones more often."""
        return f"t{topic}{'abcdefghijkl'[int(12 * chance.random() ** 2)]}"


# --- The report -------------------------------------------------------------------------------------------------------


def report(graph: Graph, topics: dict[str, Combinations]) -> None:
    """Prints how many pages on each topic each rule has after a tenth of the pages."""
    pages = len(graph) // PART
    print(f"{len(graph):,} pages, {pages:,} crawled")
    print("| topic | on topic | breadth-first | cosine | shark | focused | oracle | x breadth-first | of oracle |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    factors, parts, rule_s = [], [], []
    for name, combinations in topics.items():
        search = CombinationSearch([tuple(map(comparable, words)) for words in combinations])
        relevant = {number for number in range(len(graph)) if search.found_in(graph[number].text)}
        topic = PlanTopic(USUAL_PRIORITY, combinations, lambda text, search=search: search.words_in(comparable(text)))
        others = Literature(graph, combinations)
        breadth = crawl(graph, relevant, BreadthFirst.of(topic), pages).on_topic
        focused = crawl(graph, relevant, Focused.of(topic), pages)
        cosine = crawl_best_first(graph, relevant, others.best_first, pages)
        shark = crawl_best_first(graph, relevant, others.shark, pages)
        oracle = crawl_best_first(
            graph,
            relevant,
            lambda number, relevant=relevant: [float(link.to in relevant) for link in graph[number].links],
            pages,
        )
        factors.append(focused.on_topic / max(1, breadth))
        parts.append(focused.on_topic / max(1, oracle))
        rule_s.append(focused.rule_s)
        counts = (len(relevant), breadth, cosine, shark, focused.on_topic, oracle)
        print(
            f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {factors[-1]:.1f} | {parts[-1]:.2f} |",
            flush=True,
        )
    mean = math.exp(sum(math.log(max(factor, 0.1)) for factor in factors) / len(factors))
    print(f"geometric mean {mean:.1f} times breadth-first, mean {sum(parts) / len(parts):.2f} of the oracle")
    enough, good = sum(factor >= 2.5 for factor in factors), sum(part >= 0.8 for part in parts)
    print(f"of {len(parts)} topics {enough} have 2.5 times as many or more, {good} have 0.8 of the oracle's or more")
    print(f"the scorer takes {1e3 * sum(rule_s) / len(rule_s):.2f} ms of CPU a page")


def main() -> None:
    """Crawls the graphs that are asked for, for each topic by each rule."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--graph", choices=("manuals", "web"), default="manuals")
    parser.add_argument(
        "--tuned", action="store_true", help="the topics by which the scorer's first weights were found"
    )
    args = parser.parse_args()
    if args.graph == "manuals":
        report(manuals(), TUNED if args.tuned else UNSEEN)
    else:
        numbers = (3, 50, 101) if args.tuned else (7, 42, 77, 120, 163, 198)
        report(MadeWeb(20261128), {f"topic {number}": MadeWeb.combinations(number) for number in numbers})


if __name__ == "__main__":
    main()
