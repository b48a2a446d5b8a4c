"""Which pages Redis has told this worker to be known to their plans. They needn't be offered again, only counted."""

from __future__ import annotations

import time
from collections import Counter
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING

from crawler.frontier.offer import OFFER_BATCH, STAYS_KNOWN, Count, OfferAnswer, Receipt, SeedKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.frontier.offer import OfferTerms, Proposal
    from crawler.frontier.queue import Queue

# Half of what is remembered at most; a page takes some 200 bytes. A site's menu is on each of its pages, and what one
# search of a plan has found, the next ones find, too: both soon or not at all.
HALF_PAGES = 10_000
HALF_SECONDS = 200.0  # half of the longest time that a page is remembered; lua/lib/receipts.lua says why it isn't a day


class KnownPages:
    """Offers seeds to one frontier, but only counts those that it remembers as known to their plans.

    What it remembers of a partition holds as long as Redis has the receipt of the last offer there
    (lua/lib/receipts.lua). Each call shows that receipt and leaves another one, so the calls to a partition must follow
    one another. After a call without an answer nothing of the partition is remembered.

    A page that is finished for a plan is remembered for all of the plan's words. One that isn't is remembered for those
    that it was offered with, and for its priority: offered with others, Redis adds these to the seed
    (lua/lib/combinations.lua), or has it come sooner.

    It has two halves: the younger one is filled, and takes the place of the older one when it is full or old enough.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._numbers = count(1)  # numbers receipts
        # By partition: the last receipt; missing: nothing of the partition is remembered.
        self._receipts: dict[int, str] = {}
        self._emptied: Counter[int] = Counter()  # by partition: how often all that was remembered of it was forgotten
        # What `_names` gives -> `_emptied` of its partition at that time.
        self._younger: dict[bytes, int] = {}
        self._older: dict[bytes, int] = {}
        self._younger_since_s = time.monotonic()

    async def offer(
        self, partition: int, owner: str, offered: Sequence[Proposal], terms: OfferTerms
    ) -> tuple[bytes, int]:
        """Offers seeds of one partition as `Queue.offer_to` does.

        Args:
            owner: Of the lease in the partition; the receipts are made out to it.

        Returns:
            An `OfferAnswer` for each seed, also for one that was only counted; and how many those were.

        Raises:
            redis.exceptions.RedisError: Redis is away or full; some of the seeds may have been offered.
        """
        call = partial(self._call, partition, owner, terms)
        try:
            return await self._offer(partition, offered, call)
        except BaseException:  # a cancellation, too: nobody knows which receipt was left last
            self._forget(partition)
            raise

    async def _offer(
        self, partition: int, offered: Sequence[Proposal], call: Callable[..., Awaitable[bytes | None]]
    ) -> tuple[bytes, int]:
        self._age()
        to_offer: list[int] = []  # indexes in `offered`, as those in `remembered`
        remembered: list[int] = []
        emptied = self._emptied[partition]
        for index, proposal in enumerate(offered):
            (remembered if emptied in map(self._remembered, _names(proposal)) else to_offer).append(index)
        counts = Counter(SeedKind.of(offered[index].seed) for index in remembered)
        answers = b""  # the answers for those in `to_offer`, in their order
        while counts or len(answers) < len(to_offer):
            batch = [offered[index] for index in to_offer[len(answers) : len(answers) + OFFER_BATCH]]
            of_batch = await call(batch, counts=counts)
            if of_batch is None and counts:  # then the next call relies on no receipt
                to_offer, remembered = list(range(len(offered))), []
            counts = Counter()
            answers += of_batch or b""
        of_all = bytearray([OfferAnswer.KNOWN_FINISHED] * len(offered))
        for index, answer in zip(to_offer, answers, strict=True):
            of_all[index] = answer
        return bytes(of_all), len(remembered)

    async def _call(
        self,
        partition: int,
        owner: str,
        terms: OfferTerms,
        batch: Sequence[Proposal],
        *,
        counts: Counter[SeedKind],
    ) -> bytes | None:
        """Makes one call, and remembers what it says to be known, or forgets all where the receipt isn't there.

        Returns:
            As `Queue.offer_batch`; None: nothing was done.
        """
        receipt = Receipt(owner, str(next(self._numbers)), self._receipts.get(partition, ""))
        answers = await self._queue.offer_batch(
            partition,
            batch,
            terms,
            counts=[Count(kind, "known", number) for kind, number in counts.items()],
            receipt=receipt,
        )
        if answers is None:
            self._forget(partition)
            return None
        self._receipts[partition] = receipt.number
        emptied = self._emptied[partition]
        for proposal, answer in zip(batch, answers, strict=False):  # it may not have come to all of them
            if answer in STAYS_KNOWN:
                whatever_the_words, by_these_words = _names(proposal)
                self._younger[whatever_the_words if answer == OfferAnswer.KNOWN_FINISHED else by_these_words] = emptied
        return answers

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
        since_s = time.monotonic() - self._younger_since_s
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
