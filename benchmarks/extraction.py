"""What does a page cost between its bytes and its item's bytes? CPU microseconds by step, beside parsel.

    .venv/bin/python -m benchmarks.extraction
    .venv/bin/python -m benchmarks.extraction --memory --pages 200000

The pages are those of `benchmarks/side_by_side`. Two site definitions read them as the consumer does: that one's, which
asks for text nodes as the peers do, and one as people write them, which asks for elements (whose blocks become lines,
and what is hidden stays out), and follows the 20 links. parsel reads the same by the peers' own script. What is read
is compared with what the pages were made of. Steps are timed alone, one after the other; the whole is what a worker
pays. `--memory` reads many pages instead, no two alike, and prints the process's memory on the way.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin

import parsel

from benchmarks.side_by_side import pages
from crawler import extract, sites
from crawler.base.models import Claimed, Fetched, Seed
from crawler.extract.document import absolute
from crawler.extract.encoding import decode
from crawler.extract.language import language_of
from crawler.extract.markup import parse_html
from crawler.pipelines.clean import CleanPipeline
from crawler.pipelines.sink import message
from crawler.spiders.consumer import item

sys.path.append(str(Path(__file__).parent / "side_by_side" / "peers"))
from fields import read  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.base.item import Item
    from crawler.extract import Fields
    from crawler.sites.selector import Selector
    from crawler.worker.visits.visit import Visit

PAGES = 200
BASE = "http://127.0.0.1:8800"
SIDE_BY_SIDE = Path(__file__).parent / "side_by_side"
ELEMENTS = """
name: elements
base: http://127.0.0.1:8800
content:
  title: css:h1.title
  author: css:.meta .author
  published: css:.meta time
  content: {select: css:.post .post-body, all: true, required: true}
  images: css:.posts img.avatar
  extra:
    section: css:.breadcrumbs a.section
    tags: {select: css:.tags a, all: true}
    views: css:.views
follow: {links: css:.related a, depth: 2, per_page: 100}
"""


def page_of(thread: pages.Thread) -> Fetched:
    """Returns a thread's page as it comes from the server."""
    return Fetched(BASE + pages.path(thread.number), 200, "text/html; charset=utf-8", pages.html(thread).encode())


def by_parsel(page: Fetched) -> dict[str, Any]:
    """Reads a page as the peers do."""
    selector = parsel.Selector(body=page.body, encoding="utf-8")
    found: dict[str, Any] = read(selector, page.url, partial(urljoin, page.url))
    return found


def visit_of(page: Fetched) -> Visit:
    """Returns as much of a visit as an item needs."""
    seed = Seed(page.url, "flood", "elements", keywords=("flood", "rescue"))
    claimed = Claimed(seed, seed.fingerprint, 0, "owner:1", 1, 0, 0, 0.0)
    return cast("Visit", SimpleNamespace(seed=seed, claimed=claimed))


def check(thread: pages.Thread, page: Fetched, sides: sites.Site, elements: sites.Site) -> None:
    """Compares what is read with what the page was made of.

    Raises:
        AssertionError: They differ.
    """
    wanted = pages.item(thread, BASE)
    theirs = by_parsel(page)
    assert all(theirs[name] == wanted[name] for name in theirs)
    for site in (sides, elements):
        found = extract.fields(page, site)
        assert all(getattr(found, name) == wanted[name] for name in ("title", "author", "published", "content"))
        assert all(found.extra[name] == wanted[name] for name in ("section", "tags", "views"))
    assert list(extract.fields(page, sides).images) == wanted["links"]
    assert list(extract.followed(page, elements).urls) == wanted["links"]


def cpu_us(step: Callable[[Any], Any], inputs: list[Any], rounds: int) -> float:
    """Returns the CPU us that a step takes for each of its inputs: the least of some rounds, others only add to it."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        for one in inputs:
            step(one)
        times.append((time.process_time() - begun) / len(inputs) * 1e6)
    return min(times)


def select(root: Any, selectors: list[Selector]) -> list[Any]:
    """Runs a site's selectors on a page."""
    return [selector.search(root) for selector in selectors]


class Consumer:
    """What the worker does with a page, from bytes to bytes."""

    def __init__(self, site: sites.Site) -> None:
        self.site = site
        self._clean = CleanPipeline()

    def steps(
        self, roots: list[Any], fetched: list[Fetched], visits: list[Visit], found: list[Fields], made: list[Item]
    ) -> list[tuple[str, Callable[[Any], Any], list[Any]]]:
        """Returns the steps and what goes into each."""
        content, follow = self.site.content, self.site.follow
        assert content
        selectors = [rule.select for rule in content.rules.values()] + ([follow.links] if follow else [])
        visited = list(zip(fetched, visits, found, strict=True))
        return [
            ("selectors alone", lambda root: select(root, selectors), roots),
            ("fields and links, from one parse", lambda page: extract.read(page, self.site, max_links=1_000), fetched),
            ("fields, from bytes", lambda page: extract.fields(page, self.site), fetched),
            ("links to follow, from bytes", lambda page: extract.followed(page, self.site), fetched),
            ("item (id, hash, time)", lambda each: item(*each), visited),
            ("language", lambda one: language_of(f"{one.title}\n{one.content}"), made),
            ("clean pipeline, language included", self.clean, made),
            ("message (orjson)", message, made),
            ("WHOLE: bytes to bytes", self.whole, fetched),
        ]

    def whole(self, page: Fetched) -> bytes:
        """Returns the item's bytes; links are found and thrown away."""
        reading = extract.read(page, self.site, max_links=1_000)
        return message(self.clean(item(page, visit_of(page), reading.fields())))

    def clean(self, found: Item) -> Item:
        """Runs the first pipeline, without an event loop."""
        found.language = None
        running = self._clean.process_item(found)
        while True:
            try:
                running.send(None)  # it waits for other pages, of which there are none here
            except StopIteration as end:
                return cast("Item", end.value)


def steps(rounds: int) -> None:
    """Prints the tables."""
    threads = [pages.thread(number) for number in range(PAGES)]
    fetched = [page_of(thread) for thread in threads]
    visits = [visit_of(page) for page in fetched]
    asyncio.run(CleanPipeline().open_spider())
    sides = sites.parse((SIDE_BY_SIDE / "sites" / "side_by_side.yaml").read_text(), "side_by_side.yaml")
    elements = sites.parse(ELEMENTS, "elements.yaml")
    for each in zip(threads, fetched, strict=True):
        check(*each, sides, elements)
    size = sum(len(page.body) for page in fetched) // PAGES
    print(f"{size} bytes a page; CPU us a page, the least of {rounds} rounds over {PAGES} pages")
    roots = [parse_html(page.body) for page in fetched]
    hrefs = [[link.attr("href") or "" for link in root.select("aside a")] for root in roots]
    shared: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
        ("encoding", decode, fetched),
        ("parser", lambda page: parse_html(page.body), fetched),
        ("20 links absolute", lambda some: absolute(some, f"{BASE}/thread/001/000001.html"), hrefs),
        ("parsel: the peers' fields and links", by_parsel, fetched),
    ]
    print_steps("both", shared, rounds)
    for site in (sides, elements):
        consumer = Consumer(site)
        found = [extract.fields(page, site) for page in fetched]
        made = [item(*each) for each in zip(fetched, visits, found, strict=True)]
        print_steps(site.name, consumer.steps(roots, fetched, visits, found, made), rounds)


def print_steps(title: str, table: list[tuple[str, Callable[[Any], Any], list[Any]]], rounds: int) -> None:
    """Times steps and prints them."""
    print(f"-- {title}")
    for name, step, inputs in table:
        print(f"{name:40} {cpu_us(step, inputs, rounds):8.1f}", flush=True)


def resident_mib() -> float:
    """Returns this process's resident memory."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def memory(number: int) -> None:
    """Reads many pages and prints the memory on the way."""
    consumer = Consumer(sites.parse(ELEMENTS, "elements.yaml"))
    for count in range(number):
        if count % (number // 10) == 0:
            print(f"{count:8} pages {resident_mib():8.1f} MiB", flush=True)
        consumer.whole(page_of(pages.thread(count)))
    print(f"{number:8} pages {resident_mib():8.1f} MiB")


def main() -> None:
    """Prints the steps' costs, or the memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--pages", type=int, default=20_000, help="for --memory")
    options = parser.parse_args()
    if options.memory:
        memory(options.pages)
    else:
        steps(options.rounds)


if __name__ == "__main__":
    main()
