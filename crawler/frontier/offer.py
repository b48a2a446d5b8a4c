"""What the frontier is told of seeds that it is offered, and what it answers (lua/offer.lua)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from crawler.base.models import Seed

# Most seeds in one call, which then takes some 5 ms of Redis's time. A call that takes longer ends by itself
# (lua/lib/budget.lua) and says how far it came.
OFFER_BATCH = 300


class OfferTerms(NamedTuple):
    """What holds for all seeds of an offer.

    Attributes:
        due_ms: When they come due, in ms since the epoch; 0: now. A scheduled one that is due later than
            half its interval from now counts as visited before.
        edition: Of the plan, when it asked for the page that led to the seeds. If the plan was replaced since, they are
            refused, and counted as `replaced`. 0: not said.
        budget: For links found on pages: how many of them each host takes within FAIL_DAYS, by all calls together.
            Seeds beyond that are refused, and counted as `over-budget`. 0: no limit.
        confirmed: On a Redis Cluster, the offer is answered when a failure of a node can't undo it, so that what led to
            the seeds may be ended in another partition. (One Redis loses an end that came later first.) Nothing is
            waited for if CONFIRM_OFFERS is off.
        again: Seeds become ready that were finished for their plan without an item.
        refused_as: Why those that are new fail at once; empty: they are ready.
    """

    due_ms: int = 0
    edition: int = 0
    budget: int = 0
    confirmed: bool = False
    again: bool = False
    refused_as: str = ""


class SeedKind(NamedTuple):
    """What seeds are counted under."""

    plan: str
    site: str
    interval_s: int

    @classmethod
    def of(cls, seed: Seed) -> Self:
        """Returns the kind of a seed."""
        return cls(seed.plan, seed.site, seed.interval_s)


class Proposal(NamedTuple):
    """A seed as the frontier is offered it, with its fingerprint, which takes some time to find."""

    fingerprint: bytes
    seed: Seed

    @classmethod
    def of(cls, seed: Seed) -> Self:
        """Returns the proposal of a seed."""
        return cls(seed.fingerprint, seed)


class Count(NamedTuple):
    """Seeds that aren't offered, but that the ledger shall count.

    Attributes:
        counted_as: `known`, or why they are refused.
    """

    kind: SeedKind
    counted_as: str
    number: int


class Receipt(NamedTuple):
    """What an offer leaves in Redis, so that a later one may rely on its answer (lua/lib/receipts.lua).

    Attributes:
        owner: Of the lease in the partition; empty: nothing is left.
        number: Left by this call; the owner never uses it again.
        relied_on: Left by an earlier call, without which this one shall do nothing; empty: it relies on none.
    """

    owner: str
    number: str
    relied_on: str


NO_TERMS = OfferTerms()
NO_RECEIPT = Receipt("", "", "")


class OfferAnswer(IntEnum):
    """What offer.lua answers of a seed, a byte for each. One that stays known does so until receipts are voided."""

    KNOWN_FINISHED = ord("0")
    NEW_STAYS_KNOWN = ord("1")
    REFUSED = ord("2")  # the answer for a seed that is refused; the ledger says why
    PLAN_DELETED = ord("3")  # the answer for a seed whose plan is deleted, which is counted nowhere
    KNOWN = ord("4")
    NEW = ord("5")
    KNOWN_STAYS_KNOWN = ord("6")


IS_NEW = frozenset({OfferAnswer.NEW, OfferAnswer.NEW_STAYS_KNOWN})
STAYS_KNOWN = frozenset({OfferAnswer.KNOWN_FINISHED, OfferAnswer.NEW_STAYS_KNOWN, OfferAnswer.KNOWN_STAYS_KNOWN})
