"""What a crawl of the mirror came to: what nginx was asked, in which order, and which items came out."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from benchmarks.mirror.manuals import HTML
from benchmarks.mirror.mirror_server import STATUS_OK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.mirror.mirror_server import Asked

SHOWN = 5  # most addresses of a kind that are named
PART = 10  # pages on the topic are counted after a tenth of all
COLUMNS = (
    "pages",
    "items",
    "missed",
    "without an item",
    "twice",
    "no link leads there",
    "out of scope",
    "asked twice",
    "other requests",
    "inversions",
    "overtaken by",
    "on topic after a tenth",
    "pages a minute",
)


class Truth(NamedTuple):
    """What a crawl is to find.

    Attributes:
        depths: Of the address of each page that links lead to, the fewest of them.
        links: Of such a page, the addresses of those that it leads to.
        may_be_asked: Whether the crawl's bounds let an address be asked for, wherever a link to it stands.
        on_topic: Those of `depths` whose files have the topic's word.
    """

    depths: Mapping[str, int]
    links: Mapping[str, Sequence[str]]
    may_be_asked: Callable[[str], bool]
    on_topic: frozenset[str]


class Outcome:
    """What came out of a crawl.

    Args:
        requests: In the order in which they were answered.
        items: The addresses of its items, as often as they were delivered.

    Attributes:
        asked: How many requests came for each page that links lead to.
        others: How many came for anything else.
        out_of_scope: What of this should not have come.
        inversions: How many pages were asked for after a deeper page of their host.
        overtaken: By how many deeper pages of its host at most a page was overtaken, after it was known by a link.
        on_topic: How many of the first tenth of the pages have the topic's word.
    """

    def __init__(self, truth: Truth, requests: Iterable[Asked], items: Iterable[str]) -> None:
        self._truth = truth
        self.asked: Counter[str] = Counter()
        self.items = Counter(quoted(url) for url in items)
        self.others = self.inversions = self.overtaken = 0
        self.out_of_scope: set[str] = set()
        self._asked_at_depth: dict[str, Counter[int]] = defaultdict(Counter)  # by host, so far
        deeper_when_known: dict[str, int] = {}
        times_s = []
        for request in requests:
            url = f"http://{request.host}{quote(unquote(request.path))}"
            if url not in truth.depths:
                self.others += 1
                self.out_of_scope |= set() if truth.may_be_asked(url) else {url}
                continue
            times_s.append(request.at_s)
            if not self.asked[url]:
                deeper = self._deeper(url)
                self.inversions += deeper > 0
                self.overtaken = max(self.overtaken, deeper - deeper_when_known.get(url, deeper))
                self._asked_at_depth[request.host][truth.depths[url]] += 1
                for target in truth.links[url]:
                    if target not in deeper_when_known:
                        deeper_when_known[target] = self._deeper(target)
            self.asked[url] += request.status == STATUS_OK
        self.seconds = times_s[-1] - times_s[0]
        self.on_topic = len(truth.on_topic.intersection(list(self.asked)[: len(truth.depths) // PART]))

    def _deeper(self, url: str) -> int:
        """Returns how many pages of an address's host that are deeper were asked for so far."""
        depth = self._truth.depths[url]
        return sum(number for at, number in self._asked_at_depth[urlsplit(url).netloc].items() if at > depth)

    def report(self, name: str, *, was_killed: bool) -> int:
        """Prints a crawl's row; returns 1 where what it asked for or delivered isn't the truth.

        Args:
            was_killed: A worker was, so that what it had delivered, and not said so yet, may come again.
        """
        depths = self._truth.depths
        wrong = {
            "missed": depths.keys() - self.asked.keys(),
            "twice": {url for url, number in self.items.items() if number > 1},
            "no link leads to": {url for url in self.items if url.lower().endswith(HTML)} - depths.keys(),
            "out of scope": self.out_of_scope,
        }
        without_item = self.asked.keys() - self.items.keys()
        figures = (
            len(depths),
            self.items.total(),
            len(wrong["missed"]),
            len(without_item),
            len(wrong["twice"]),
            len(wrong["no link leads to"]),
            len(wrong["out of scope"]),
            sum(number > 1 for number in self.asked.values()),
            self.others,
            self.inversions,
            self.overtaken,
            self.on_topic,
            round(len(self.asked) * 60 / self.seconds),
        )
        print(f"| {name} | " + " | ".join(f"{figure:,}" for figure in figures) + " |", flush=True)
        for what, urls in {**wrong, "without an item": without_item}.items():
            for url in sorted(urls)[:SHOWN]:
                print(f"  {what}: {url}", file=sys.stderr)
        return int(any(urls for what, urls in wrong.items() if what != "twice" or not was_killed))


def quoted(url: str) -> str:
    """Returns an address as the truth writes it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{quote(unquote(rest), safe='/:')}"
