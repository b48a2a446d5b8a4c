"""A visit on a lane, and the worker as the middlewares see it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import TextResponse

from crawler.events import Events
from crawler.models import Claimed, Seed
from crawler.worker.lanes import Lane
from crawler.worker.request_state import RequestState
from crawler.worker.visits import PageFetched, Visit, VisitEnded


class Held:
    """A seed that is visited: its visit, lane, and what was published of them."""

    def __init__(self, host="a.test", delay_s=0.0):
        self.lane = Lane(host, 1001, 0, delay_s)
        self.fetched = []
        self.settlements = []
        events = Events()
        events.subscribe(PageFetched, lambda event: self.fetched.append(event.visit))
        events.subscribe(VisitEnded, lambda event: self.settlements.append(event.settlement))
        claimed = Claimed(Seed(f"http://{host}/", "p", "s"), b"f", 0, "A#1", 1001, 0, 0, delay_s)
        self.visit = Visit(claimed, self.lane, events)

    def request(self, url="http://a.test/", **state):
        return Request(url, meta=RequestState(self.visit, **{"lane": self.lane} | state).meta())

    def response(self, request=None, status=200, **headers):
        request = request or self.request()
        return TextResponse(
            request.url,
            status=status,
            headers={k.replace("_", "-").title(): v for k, v in headers.items()},
            request=request,
        )

    @property
    def ended(self):
        return [(end.operation, end.reason) for end in self.settlements]


class Turns:
    """Acquires any turn at once."""

    def __init__(self):
        self.acquired = []
        self.released = []
        self.reports = []

    async def acquire(self, host, visit):
        self.acquired.append((host, visit.seed.site))
        return Lane(host, 2001, 0, 0.0)

    def report(self, lane):
        self.reports.append(lane.report())

    def release(self, lane):
        self.released.append(lane.release())


@pytest.fixture
async def held():
    return Held()


@pytest.fixture
async def worker():
    return SimpleNamespace(session=SimpleNamespace(owner="A", alive=True), turns=Turns())
