"""A recorded visit, and the worker as the middlewares see it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from samples import RecordedVisit

from crawler.worker.turns import turns
from crawler.worker.visits.visit import Lane


class Turns(turns.Turns):
    """Acquires any turn at once, and tells the frontier nothing."""

    def __init__(self):
        self.acquired = []
        self.kept = []
        self.released = []
        self.reports = []

    async def acquire(self, host, visit):
        self.acquired.append((host, visit.seed.site))
        return Lane(host, 2001, 0, 0.0)

    async def heed_politeness(self, turn, visit):
        self.kept.append(turn.crawl_delay_s)
        turn.heed_politeness(turn.changes, max(turn.delay_s, turn.crawl_delay_s), 0.0)

    def report(self, lane):
        self.reports.append(lane.report())

    def release(self, lane):
        self.released.append(lane.release())


class Tally:
    """Remembers what was counted."""

    def __init__(self):
        self.answers = []

    def answered(self, *answer):
        self.answers.append(answer)


class Answers:
    """Remembers what came back."""

    def __init__(self):
        self.counted = []

    def count(self, *counted):
        self.counted.append(counted)


class Egress:
    """A way out that is there, unless `blames_host` is set to False."""

    is_down = False
    blames_host = True
    suspects_itself = False

    def __init__(self):
        self.places = []

    def answered(self, place):
        self.places.append(place)

    def suspects(self, host):
        return self.suspects_itself

    async def blames(self, _host, _site, _ask):
        return self.blames_host


class SecondOpinions:
    """What is heard of a host is its own fault, unless `are_hosts_own` is set to False."""

    are_hosts_own = True

    async def is_hosts_own(self, _complaint, _host, *, in_the_end=False):
        return self.are_hosts_own


@pytest.fixture
async def recorded():
    return RecordedVisit()


@pytest.fixture
async def worker():
    leases = [SimpleNamespace(owner="A", alive=True)]
    answers = []  # their sizes
    lacking = []
    headroom = SimpleNamespace(answers=answers, answered=answers.append, lacking=lacking, lacks=lacking.append)
    return SimpleNamespace(
        life=SimpleNamespace(
            session=SimpleNamespace(leases=leases), egress=Egress(), second_opinions=SecondOpinions(), headroom=headroom
        ),
        claiming=SimpleNamespace(queue=None),
        turns=Turns(),
        reports=SimpleNamespace(tally=Tally(), answers=Answers()),
    )
