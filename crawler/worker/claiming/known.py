"""Which pages Redis has told this worker to be known to their plans. They needn't be offered again, only counted."""

from __future__ import annotations

import time
from collections import Counter
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from crawler.frontier.queue import OFFER_BATCH, STAYS_KNOWN, Count, OfferAnswer, Receipt, SeedKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.frontier.queue import Proposal, Queue

# Half of what is remembered at most; a page takes some 200 bytes. A site's menu is on each of its pages, and what one
# search of a plan has found, the next ones find, too: both soon or not at all.
HALF_PAGES = 10_000
HALF_SECONDS = 200.0  # so a page is remembered for less than 10 minutes; lua/lib/receipts.lua says why not for a day


class Known:
    """Offers seeds to one frontier, but only counts those that it remembers as known to their plans.

    What it remembers of a partition holds as long as Redis has the receipt of the last offer there
    (lua/lib/receipts.lua). Each call shows that receipt and leaves another one, so the calls to a partition must follow
    one another. After a call without an answer nothing of the partition is remembered.

    A page that is finished for a plan is remembered for all of the plan's words. One that isn't is remembered for those
    that it was offered with: offered with others, Redis adds these to the seed (lua/lib/combinations.lua).

    It has two halves: the younger one is filled, and takes the place of the older one when it is full or old enough.

    Args:
        clock: In seconds; it never goes back.
    """

    def __init__(self, queue: Queue, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue = queue
        self._clock = clock
        self._numbers = count(1)  # of receipts
        self._receipts: dict[int, str] = {}  # by partition; missing: nothing of it is remembered
        self._emptied: Counter[int] = Counter()  # by partition: how often what was remembered of it was forgotten
        # What `_names` gives -> `_emptied` of its partition at that time.
        self._younger: dict[bytes, int] = {}
        self._older: dict[bytes, int] = {}
        self._younger_since_s = clock()

    async def offer(
        self, partition: int, owner: str, offered: Sequence[Proposal], *, edition: int = 0, budget: int = 0
    ) -> tuple[bytes, int]:
        """Offers seeds of one partition as `Queue.offer` does, confirmed.

        Args:
            owner: Of the lease in the partition; the receipts are made out to it.

        Returns:
            What offer.lua answers of each seed, also of one that was only counted; and how many those were.

        Raises:
            redis.exceptions.RedisError: Redis is away or full; some of the seeds may have been offered.
        """
        try:
            return await self._offer(partition, owner, offered, edition, budget)
        except BaseException:  # a cancellation, too: nobody knows which receipt was left last
            self._forget(partition)
            raise

    async def _offer(
        self, partition: int, owner: str, offered: Sequence[Proposal], edition: int, budget: int
    ) -> tuple[bytes, int]:
        self._age()
        to_offer: list[int] = []  # places in `offered`, as those in `remembered`
        remembered: list[int] = []
        emptied = self._emptied[partition]
        for place, proposal in enumerate(offered):
            (remembered if emptied in map(self._remembered, _names(proposal)) else to_offer).append(place)
        answers = b""  # of those in `to_offer`, in their order
        if remembered:
            counts = Counter(SeedKind.of(offered[place].seed) for place in remembered)
            batch = [offered[place] for place in to_offer[:OFFER_BATCH]]
            answer = await self._call(partition, owner, batch, edition=edition, budget=budget, counts=counts)
            if answer is None:
                to_offer, remembered = list(range(len(offered))), []
            else:
                answers = answer
        rest = [offered[place] for place in to_offer[len(answers) :]]
        answers += await self._offer_all(partition, owner, rest, edition, budget)
        marks = bytearray([OfferAnswer.KNOWN_FINISHED] * len(offered))
        for place, mark in zip(to_offer, answers, strict=True):
            marks[place] = mark
        return bytes(marks), len(remembered)

    async def _offer_all(
        self, partition: int, owner: str, proposals: Sequence[Proposal], edition: int, budget: int
    ) -> bytes:
        """Offers seeds, in as many calls as that takes. Returns what offer.lua answers of each."""
        marks = b""
        while len(marks) < len(proposals):
            batch = proposals[len(marks) : len(marks) + OFFER_BATCH]
            answer = await self._call(partition, owner, batch, edition=edition, budget=budget, counts=Counter())
            marks += answer or b""  # the call after one that did nothing relies on no receipt
        return marks

    async def _call(
        self,
        partition: int,
        owner: str,
        batch: Sequence[Proposal],
        *,
        edition: int,
        budget: int,
        counts: Counter[SeedKind],
    ) -> bytes | None:
        """Makes one call, and remembers what it says to be known, or forgets all where the receipt isn't there.

        Returns:
            As `Queue.offer_batch`.
        """
        receipt = Receipt(owner, str(next(self._numbers)), self._receipts.get(partition, ""))
        answer = await self._queue.offer_batch(
            partition,
            batch,
            edition=edition,
            budget=budget,
            confirmed=True,
            counts=[Count(kind, "known", number) for kind, number in counts.items()],
            receipt=receipt,
        )
        if answer is None:
            self._forget(partition)
            return None
        self._receipts[partition] = receipt.number
        emptied = self._emptied[partition]
        for proposal, mark in zip(batch, answer, strict=False):  # it may not have come to all of them
            if mark in STAYS_KNOWN:
                whatever_the_words, by_these_words = _names(proposal)
                self._younger[whatever_the_words if mark == OfferAnswer.KNOWN_FINISHED else by_these_words] = emptied
        return answer

    def _remembered(self, name: bytes) -> int | None:
        """Returns `_emptied` of a seed's partition as it was when the seed was remembered last; None: it never was."""
        emptied = self._younger.get(name)
        return self._older.get(name) if emptied is None else emptied

    def _forget(self, partition: int) -> None:
        """Forgets all seeds of a partition."""
        self._receipts.pop(partition, None)
        self._emptied[partition] += 1

    def _age(self) -> None:
        """Has the younger half take the place of the older one, if it is full or old enough."""
        since_s = self._clock() - self._younger_since_s
        if len(self._younger) >= HALF_PAGES or since_s >= HALF_SECONDS:
            self._older = self._younger if since_s < 2 * HALF_SECONDS else {}
            self._younger = {}
            self._younger_since_s += since_s


def _names(proposal: Proposal) -> tuple[bytes, bytes]:
    """Returns what a seed is remembered by whatever its words are, and with these. All fingerprints are as long."""
    of_plan, of_words = _suffixes(proposal.seed.plan, proposal.seed.keywords)
    return proposal.fingerprint + of_plan, proposal.fingerprint + of_words


@lru_cache(1_000)  # all links of a page have the same; a plan may have 100,000
def _suffixes(plan: str, words: tuple[str, ...]) -> tuple[bytes, bytes]:
    return plan.encode(), "\0".join((plan, *words, "")).encode()
