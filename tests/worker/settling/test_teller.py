"""Plans are told of a delivered page; what one of them can't be told costs the others nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from samples import RecordedVisit, a_claim

from crawler.base.errors import SinkRejectedError, UnavailableError
from crawler.base.events import Events
from crawler.base.tasks import TaskDied
from crawler.worker.settling.teller import Teller

REFUSED, AWAY = SinkRejectedError("kafka", "refused-by-kafka"), UnavailableError("away")


@pytest.fixture
def tell():
    """Returns a function that tells plans p, q and r, some in vain; it gives the visit's settlement."""

    async def tell(**errors):
        seed = a_claim().seed
        recorded = RecordedVisit(also=(replace(seed, plan="q"), replace(seed, plan="r")), delivered=True)

        async def deliver(also):
            if error := errors.get(also.plan):
                raise error

        teller = Teller(Events())
        teller.use(deliver)
        await teller._tell(recorded.visit)
        (settlement,) = recorded.settlements
        return settlement

    return tell


@pytest.mark.parametrize(
    ("errors", "served"),
    [({}, "1 p q r"), ({"q": REFUSED}, "1 p r"), ({"p": REFUSED, "r": AWAY}, "1 q"), ({"p": ValueError()}, "1 q r")],
)
async def test_who_was_told_is_served_and_the_others_are_left_to_another_visit(tell, errors, served):
    settlement = await tell(**errors)
    assert (settlement.operation, settlement.served) == ("finish", served)


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ((REFUSED, REFUSED, REFUSED), ("fail", "refused-by-kafka")),
        ((REFUSED, AWAY, REFUSED), ("release", "sink-unavailable")),
    ],
)
async def test_where_nobody_was_told_it_fails_only_if_no_other_try_may_help(tell, errors, outcome):
    settlement = await tell(**dict(zip("pqr", errors, strict=True)))
    assert (settlement.operation, settlement.reason) == outcome


@pytest.fixture
def told():
    """Returns a function that tells a plan through `deliver`; it gives the teller, the visit and the tasks' deaths."""

    def told(deliver):
        events, deaths, recorded = Events(), asyncio.Queue(), RecordedVisit(delivered=True)
        events.subscribe(TaskDied, deaths.put_nowait)
        teller = Teller(events)
        teller.use(deliver)
        teller.tell(recorded.visit)
        return teller, recorded, deaths

    return told


async def test_an_error_of_its_own_finishes_nothing_and_ends_the_worker(told):
    def deliver(_also):
        raise TypeError("nothing that could be awaited")

    _teller, recorded, deaths = told(deliver)
    death = await deaths.get()
    assert (death.name, type(death.error)) == ("tell", TypeError)
    assert recorded.outcomes == [("fail", "pipeline-error")]


async def test_a_worker_that_leaves_finishes_nobody_who_wasn_t_told(told):
    begun = asyncio.Event()

    async def deliver(_also):
        begun.set()
        await asyncio.Event().wait()

    teller, recorded, deaths = told(deliver)
    await begun.wait()
    await teller.close()
    assert recorded.outcomes == [("retry", "pipeline-error")]
    assert deaths.empty()
