"""Plans are told of a delivered page; what one of them can't be told costs the others nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import RecordedVisit, a_claim

from crawler.errors import SinkRejectedError, UnavailableError
from crawler.worker.teller import Teller

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

        teller = Teller()
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
