"""A visit on a lane, and a worker's say in what its requests may do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import TextResponse

from crawler.models import Claimed, Seed
from crawler.worker.visits import Lane, Visit


class Held:
    """A seed that is visited: its visit, lane, and how it went."""

    def __init__(self, host="a.test", delay_s=0.0):
        self.lane = Lane(host, 1001, 0, delay_s)
        self.lanes_free = []
        self.settlements = []
        claimed = Claimed(Seed(f"http://{host}/", "p", "s"), b"f", 0, "A#1", 1001, 0, 0, delay_s)
        self.visit = Visit(
            claimed, self.lane, self.lanes_free.append, lambda _visit, settlement: self.settlements.append(settlement)
        )

    def request(self, url="http://a.test/", **options):
        meta = {"visit": self.visit, "lane": self.lane} | options.pop("meta", {})
        return Request(url, meta={name: value for name, value in meta.items() if value is not None}, **options)

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


class Worker:
    """The worker as middlewares see it: its session, and turns of other hosts."""

    def __init__(self):
        self.session = SimpleNamespace(owner="A", alive=True)
        self.borrowed = []
        self.released = []
        self.told = []

    async def acquire_turn(self, host, visit):
        lane = Lane(host, 2001, 0, 0.0)
        self.borrowed.append((host, visit.seed.site))
        return lane

    def tell(self, lane):
        self.told.append(lane.news())

    def release_turn(self, lane):
        self.released.append(lane.release())


@pytest.fixture
async def held():
    return Held()


@pytest.fixture
async def worker():
    return Worker()
