"""Which pages Redis has told this worker to be known to their plans. They needn't be offered again, only counted."""

from __future__ import annotations

import time
from collections import Counter
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING

import orjson

from crawler.frontier.offer import OFFER_BATCH, STAYS_KNOWN, Count, OfferAnswer, Receipt, SeedKind
from crawler.worker.offers.recent_digests import DIGEST_BYTES, RecentDigests

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.frontier.offer import OfferTerms, Proposal
    from crawler.frontier.queue import Queue

# Pages are forgotten all at once after so long, which is well below a day, as lua/lib/receipts.lua asks for.
MAX_AGE_SECONDS = 6 * 3600.0


class KnownPages:
    """Offers seeds to one frontier, but only counts those that it remembers as known to their plans.

    What it remembers of a partition holds as long as Redis has the receipt of the last offer there
    (lua/lib/receipts.lua). Each call shows that receipt and leaves another one, so the calls to a partition must follow
    one another. After a call without an answer nothing of the partition is remembered.

    A page that is finished for a plan is remembered for all of the plan's words. One that isn't is remembered for those
    that it was offered with, and for its priority and depth: offered with others, Redis adds these to the seed
    (lua/lib/combinations.lua), or has it come sooner.

    Args:
        most: How many pages are remembered at most (KNOWN_PAGES).
    """

    def __init__(self, queue: Queue, most: int) -> None:
        self._queue = queue
        self._numbers = count(1)  # numbers receipts
        # By partition: the last receipt; missing: nothing of the partition is remembered.
        self._receipts: dict[int, str] = {}
        self._emptied: Counter[int] = Counter()  # by partition: how often all that was remembered of it was forgotten
        self._remembered = RecentDigests(most)  # of what `_digests` gives

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
        to_offer: list[int] = []  # indexes in `offered`, as those in `remembered`
        remembered: list[int] = []
        era = self._era(partition)
        for index, proposal in enumerate(offered):
            is_remembered = any(digest in self._remembered for digest in _digests(proposal, era))
            (remembered if is_remembered else to_offer).append(index)
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
        era = self._era(partition)
        for proposal, answer in zip(batch, answers, strict=False):  # it may not have come to all of them
            if answer in STAYS_KNOWN:
                whatever_the_words, by_these_words = _digests(proposal, era)
                self._remembered.add(whatever_the_words if answer == OfferAnswer.KNOWN_FINISHED else by_these_words)
        return answers

    def _era(self, partition: int) -> bytes:
        """Returns what all digests of a partition are made with, until what is remembered of it is forgotten."""
        return b"%d %d %d" % (partition, self._emptied[partition], time.monotonic() // MAX_AGE_SECONDS)

    def _forget(self, partition: int) -> None:
        """Forgets all seeds of a partition."""
        self._receipts.pop(partition, None)
        self._emptied[partition] += 1


def _digests(proposal: Proposal, era: bytes) -> tuple[bytes, bytes]:
    """Returns what a seed is remembered by whatever its words, priority and depth are, and with these."""
    seed = proposal.seed
    of_plan, of_words = _bases(era, seed.plan, seed.keywords, (seed.priority, seed.depth, seed.trap[:1]))
    return _digest(of_plan, proposal.fingerprint), _digest(of_words, proposal.fingerprint)


def _digest(base: blake2b, fingerprint: bytes) -> bytes:
    digest = base.copy()
    digest.update(fingerprint)
    return digest.digest()


@lru_cache(1_000)  # all links of a page have the same; a plan may have 100,000
def _bases(era: bytes, plan: str, words: tuple[str, ...], place: tuple[int, int, str]) -> tuple[blake2b, blake2b]:
    of_plan, of_words = plan.encode(), orjson.dumps([plan, words, *place])
    return _base(era, of_plan), _base(era, of_words)


def _base(era: bytes, name: bytes) -> blake2b:
    return blake2b(b"%b %b " % (era, name), digest_size=DIGEST_BYTES)
