"""Is everything found that links reach, once, in the order of depth; and what does it cost beside Scrapy's CrawlSpider?

    python -m benchmarks.mirror --kill                       # 50,000 pages on 20 hosts, some 15 minutes a run
    python -m benchmarks.mirror --manuals 5 --kill           # 3,400 pages
    python -m benchmarks.mirror --runs scope --kill          # one of the four

Debian's packages of HTML manuals are served by one nginx, each as a host of its own. A plan begins with the first page
of each and follows its links; two consumers crawl it: breadth-first; focused on a word; and breadth-first within a
scope of seven filters. What they delivered, and what nginx was asked, is held against the pages that an own reader of
the files finds by their links. Then Scrapy's CrawlSpider does the same. Exit status 1 says that ours missed a page,
delivered one twice, delivered one that no link leads to, or asked for what is out of scope.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from benchmarks.mirror.manuals import MAX_LINKS, PACKAGES, Bounds, Manual
from benchmarks.mirror.mirror_server import MirrorServer
from benchmarks.mirror.outcome import COLUMNS, Outcome, Truth
from benchmarks.mirror.runs import Breaks, crawl_ours, crawl_scrapy
from benchmarks.side_by_side.install import CACHE, run_folder
from crawler.base.errors import HeadroomError
from crawler.extract.document import MAX_BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MANUALS = CACHE.parent / "manuals"
RUNS = ("breadth-first", "focused", "scope", "crawl-spider")
TOPIC = "mutex"  # what the focused crawl looks for
MAX_DEPTH = 50  # more than any of the manuals has
PER_HOST = 1_000_000  # followed links, of which OpenJDK's manual alone has over 10,000
SCOPE = Bounds(3, ("/class-use/", "/(de|es|fr|ja|ko|tr)/"), (".txt", ".png", ".svg", ".htm"), 200_000)
ROBOTS = "robots.txt"  # is asked for whatever the scope
OUT_BY_NAME, OUT_BY_ADDRESS = 1, 2  # which of the manuals the filters of hosts and of addresses keep out


def main() -> int:
    """Returns 0; 1 where a page is missing, twice there, or too many."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mirror", description=__doc__.splitlines()[0])
    parser.add_argument("--manuals", type=int, default=len(PACKAGES), help="how many, the smallest first (3 at least)")
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS, help="all unless some are named")
    parser.add_argument(
        "--kill", action="store_true", help="kill a worker when a third is done, stop both at two thirds and go on"
    )
    parser.add_argument("--depth", type=int, default=MAX_DEPTH, help="most links from a first page to a page")
    options = parser.parse_args()
    manuals, status = [Manual(package, MANUALS) for package in PACKAGES[: options.manuals]], 0
    folder = run_folder("mirror")
    try:
        with MirrorServer(folder, manuals) as server:
            mirror = Mirror(server, manuals, options.depth)
            print(f"| | {' | '.join(COLUMNS)} |\n|---|{'--:|' * len(COLUMNS)}")
            for run in options.runs:
                truth = mirror.truth(is_scoped=run == "scope")
                if run == "crawl-spider":
                    items = crawl_scrapy(folder, mirror.first)
                else:
                    part = len(truth.depths) / 3
                    breaks = Breaks(server.count, part, 2 * part) if options.kill else Breaks(server.count)
                    items = crawl_ours(folder / run, mirror.plan(run), breaks)
                wrong = Outcome(truth, server.asked(), items).report(run, was_killed=options.kill)
                status |= wrong if run != "crawl-spider" else 0
                server.forget()
    except HeadroomError as error:
        print(f"{error} (all is left in {folder})", file=sys.stderr)
        return 1
    if not status:
        shutil.rmtree(folder)
    return status


class Mirror:
    """The manuals by their addresses.

    Args:
        depth: Most links from a manual's first page to a page.

    Attributes:
        first: The address of each one's first page.
    """

    def __init__(self, server: MirrorServer, manuals: Sequence[Manual], depth: int) -> None:
        self._depth, self._scope = depth, SCOPE._replace(depth=min(SCOPE.depth, depth))
        self._manuals = {server.hosts[manual.name]: manual for manual in manuals}
        self.first = [f"http://{host}/{manual.first}" for host, manual in self._manuals.items()]

    def plan(self, run: str) -> dict[str, Any]:
        """Returns the plan of a run."""
        follow = {"depth": self._depth, "links": MAX_LINKS, "per_host": PER_HOST}
        plan: dict[str, Any] = {"name": run, "sites": ["manual"], "start": self.first, "follow": follow}
        if run == "focused":
            plan |= {"keywords": {"topic": {"optional": [TOPIC]}}, "order": "focused"}
        if run == "scope":
            addresses = [urlsplit(url).hostname for url in self.first]
            plan["scope"] = {
                "depth": self._scope.depth,
                "hosts": [f"not {addresses[OUT_BY_NAME]}"],
                "addresses": [f"not {addresses[OUT_BY_ADDRESS]}/32"],
                "suffixes": [f"not {suffix}" for suffix in SCOPE.suffixes],
                "deny": list(SCOPE.denied),
                "max_bytes": SCOPE.max_bytes,
                "content_types": ["text/html"],
            }
        return plan

    def truth(self, *, is_scoped: bool) -> Truth:
        """Returns what a crawl is to find, within the scope or without one."""
        bounds = self._scope if is_scoped else Bounds(self._depth, (), (), MAX_BODY_BYTES)
        left_out = {OUT_BY_NAME, OUT_BY_ADDRESS} if is_scoped else ()
        reached = {
            host: {} if number in left_out else manual.depths(bounds)
            for number, (host, manual) in enumerate(self._manuals.items())
        }
        pages = [(host, path) for host, depths in reached.items() for path in depths]

        def links(host: str, path: str) -> Iterator[str]:
            return (_url(host, target) for target in self._manuals[host].pages[path].links if target in reached[host])

        def may_be_asked(url: str) -> bool:
            host, path = urlsplit(url).netloc, unquote(urlsplit(url).path).lstrip("/")
            is_too_deep = path in self._manuals[host].pages  # for it isn't among those that are reached
            return bool(reached[host]) and (path == ROBOTS or not (is_too_deep or bounds.refuse(path)))

        return Truth(
            {_url(host, path): reached[host][path] for host, path in pages},
            {_url(host, path): list(links(host, path)) for host, path in pages},
            may_be_asked,
            frozenset(
                _url(host, path)
                for host, path in pages
                if TOPIC.encode() in (self._manuals[host].root / path).read_bytes().lower()
            ),
        )


def _url(host: str, path: str) -> str:
    return f"http://{host}/{quote(path)}"


if __name__ == "__main__":
    sys.exit(main())
