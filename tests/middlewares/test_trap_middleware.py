"""Pages for which the budget of their kind has no room are refused, for each of their plans by its own reason."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from crawler.base import reasons
from crawler.middlewares.traps import TrapMiddleware
from crawler.worker.visits.refused import RefusedError


class Traps:
    def __init__(self, **refusals):
        self.refusals, self.asked = refusals, []

    async def refusal(self, seed, edition):
        self.asked.append((seed.plan, edition))
        return self.refusals.get(seed.plan)


@pytest.fixture
def request_of(recorded):
    seeds = [replace(recorded.visit.seed, plan=plan, trap="k") for plan in ("a", "b", "c")]
    recorded.visit.seeds = tuple(seeds)
    return recorded.request(is_page=True)


def middleware(traps):
    crawls = SimpleNamespace(get=lambda _seed: SimpleNamespace(edition=3))
    return TrapMiddleware(SimpleNamespace(claiming=SimpleNamespace(traps=traps, plan_crawls=crawls)))


async def test_plans_that_refuse_a_page_for_another_reason_are_left_to_a_visit_of_their_own(recorded, request_of):
    traps = Traps(a=reasons.TRAP_CALENDAR, b=reasons.TRAP_MIRROR, c=reasons.TRAP_CALENDAR)
    with pytest.raises(RefusedError) as caught:
        await middleware(traps).process_request(request_of)
    assert caught.value.outcome == ("fail", reasons.TRAP_CALENDAR)
    assert [seed.plan for seed in recorded.visit.seeds] == ["a", "c"]


async def test_a_page_is_asked_of_once_however_often_it_redirects(recorded, request_of):
    traps = Traps(a=reasons.TRAP_CALENDAR)
    await middleware(traps).process_request(request_of)
    assert [seed.plan for seed in recorded.visit.seeds] == ["b", "c"]
    recorded.visit.started = True
    await middleware(traps).process_request(request_of)
    assert traps.asked == [("a", 3), ("b", 3), ("c", 3)]
