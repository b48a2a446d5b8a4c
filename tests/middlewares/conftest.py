"""A recorded visit, and the worker as the middlewares see it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from samples import RecordedVisit

from crawler.worker.lanes import Lane


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
async def recorded():
    return RecordedVisit()


@pytest.fixture
async def worker():
    return SimpleNamespace(session=SimpleNamespace(owner="A", alive=True), turns=Turns())
