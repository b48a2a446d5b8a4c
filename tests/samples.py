"""Objects that many tests need: a claimed seed, a visit of one with what it published, statistics, and junk."""

from __future__ import annotations

import os
from types import SimpleNamespace

from scrapy import Request
from scrapy.http import TextResponse

from crawler.base.events import Events
from crawler.base.models import Claimed, Seed
from crawler.frontier.keys import partition_of
from crawler.worker.visits.request_part import RequestPart
from crawler.worker.visits.request_state import Purpose, RequestState
from crawler.worker.visits.visit import Lane, PageFetched, Visit, VisitEnded

TURN = 1_001  # the number of the turn on which claims, lanes and turns of tests stand


def a_claim(url="http://a.test/", *, owner="A", number=0, depth=0, due_ms=0, tries=0, delay_s=0.0, **more):
    """A claim of owner A on a seed with turn TURN."""
    seed = Seed(url, "p", "s", depth=depth)
    return Claimed(seed, b"%d" % number, 0, f"{owner}#1", TURN, due_ms, tries, delay_s, **more)


def a_visit(url="http://a.test/", *, lane=None, events=None, **claim):
    """A visit of a claimed seed, on a lane of its own unless one is given."""
    claimed = a_claim(url, **claim)
    return Visit(claimed, lane or Lane(claimed.seed.host, TURN, 0, claimed.delay_s), events or Events())


class Leases(SimpleNamespace):
    """A session whose leases are what a test says."""

    def __init__(self, owner="A", partitions=1, *, alive=True):
        leases = [
            SimpleNamespace(partition=number, owner=owner, alive=alive, reachable=True) for number in range(partitions)
        ]
        super().__init__(leases=leases)

    def lease_of(self, host):
        return self.leases[partition_of(host, len(self.leases))]


class RecordedVisit:
    """A visit on a lane, and what was published of it."""

    def __init__(self, url="http://a.test/", **claim):
        self.fetched = []
        self.settlements = []
        events = Events()
        events.subscribe(PageFetched, lambda event: self.fetched.append(event.visit))
        events.subscribe(VisitEnded, lambda event: self.settlements.append(event.settlement))
        self.visit = a_visit(url, events=events, **claim)
        self.lane = self.visit.lane

    def end_callback(self):
        """Ends the first part, as when the page's callback has ended."""
        self.visit.end_fetch()
        self.visit.end_part()

    def request(self, url="http://a.test/", **state):
        """A request for a part of the visit; `state`: fields of its state, and of what it is for."""
        of_purpose = {name: state.pop(name) for name in Purpose.__slots__ if name in state}
        part = RequestPart(self.visit, is_page=of_purpose.get("is_page", False))
        purpose = Purpose(self.visit, part=part, **{"lane": self.lane} | of_purpose)
        return Request(url, meta=RequestState(purpose, **state).meta())

    def response(self, request=None, status=200, **headers):
        request = request or self.request()
        return TextResponse(
            request.url,
            status=status,
            headers={name.replace("_", "-").title(): value for name, value in headers.items()},
            request=request,
        )

    @property
    def outcomes(self):
        return [(settlement.operation, settlement.reason) for settlement in self.settlements]


class Stats(SimpleNamespace):
    """Counts as Scrapy's statistics do."""

    def __init__(self):
        super().__init__(values={})

    def get_stats(self):
        return self.values

    def inc_value(self, name, count=1):
        self.values[name] = self.values.get(name, 0) + count


class Bomb:
    """What unpickling would execute."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)
