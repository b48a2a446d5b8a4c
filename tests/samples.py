"""Things that many tests need one of: a claimed seed, and the visit of it."""

from __future__ import annotations

from types import SimpleNamespace

from crawler.events import Events
from crawler.models import Claimed, Seed
from crawler.worker.lanes import Lane
from crawler.worker.visits import Visit


def a_claim(url="http://a.test/", *, owner="A", number=0, due_ms=0, delay_s=0.0, **more):
    """A claim of owner A on a seed with turn 1001."""
    return Claimed(Seed(url, "p", "s"), b"%d" % number, 0, f"{owner}#1", 1001, due_ms, 0, delay_s, **more)


def a_visit(url="http://a.test/", *, lane=None, events=None, **claim):
    """A visit of a claimed seed, on a lane of its own unless one is given."""
    claimed = a_claim(url, **claim)
    return Visit(claimed, lane or Lane(claimed.seed.host, 1001, 0, claimed.delay_s), events or Events())


class Stats(SimpleNamespace):
    """Counts as Scrapy's statistics do."""

    def __init__(self):
        super().__init__(values={})

    def inc_value(self, name, count=1):
        self.values[name] = self.values.get(name, 0) + count
