"""One frontier, the `nav` or the `content` seeds: offer, claim and settle seeds, acquire and release turns.

Each of these is one Lua script in one partition. Every method may raise `redis.exceptions.RedisError` when Redis is
away. It can then be called again: an offer that did arrive is `known` the second time, a settlement is refused, and
what a claim gave, or the turn that was acquired, is taken back first. A full Redis refuses claims (`full`) and offers
(`OutOfMemoryError`), a batch as a whole; all else goes on.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, cast

from redis.exceptions import OutOfMemoryError

from crawler.base import reasons
from crawler.base.errors import FrontierError
from crawler.base.models import Claimed, Frontier, Seed
from crawler.frontier import scripts
from crawler.frontier.in_flight import InFlight
from crawler.frontier.keys import OTHER, as_count, as_text, partition_of
from crawler.frontier.ledger import Totals
from crawler.frontier.offer import (
    IS_NEW,
    NO_RECEIPT,
    NO_TERMS,
    OFFER_BATCH,
    Count,
    OfferTerms,
    Proposal,
    Receipt,
    SeedKind,
)
from crawler.frontier.recall import Recall
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.frontier.turn_answers import NO_TURN, TurnAnswer, TurnStart
from crawler.servers.redis_cluster import is_cluster

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator, Sequence

    from redis.asyncio import Redis

    from crawler.base.reasons import Note
    from crawler.frontier.frontier_config import FrontierConfig
    from crawler.frontier.keys import PartitionKeys

MAX_SETTLE_CALL = 100  # most settlements, and turns, in one call: some 5 ms of Redis's time, as OFFER_BATCH seeds take
BACKOFF_FIRST_SECONDS = 1.0  # a failing host's first backoff, where its delay is shorter; see settle.lua for the next
BACKOFF_LONGEST_SECONDS = 300.0  # the longest backoff, so that a host that is back is noticed within five minutes
UNREADABLE = Seed("", "", "")  # stands in place of a damaged seed, until its claim has ended
DELIVERED = "+"  # stands in place of the host of a seed that needs no fetch
DAY_MILLISECONDS = 86_400_000
COUNT_WORDS = 3  # how many arguments of offer.lua each count takes
# After how long at most a claim comes back to a host with due seeds all of whose turns are held: RECHECK_MS in
# lua/lib/turns.lua.
TURN_RECHECK_MILLISECONDS = 15_000
FULL_MILLISECONDS = 5_000  # how long until a full Redis is tried again: seeds must end, or an operator make room
SEED_FIELDS = 7  # how many entries each seed takes in the answer of claim.lua


ClaimState = Literal["ok", "locked", "lapsed", "laden", "quarantined", "full", "late"]


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What a claim came back with.

    Attributes:
        state: `ok`; `locked` (another claimant holds the partition's lock); `lapsed` (the owner has no session and must
            open one first); `laden` (a quarantined seed waits for this owner, who must first end what it carries);
            `quarantined` (the one seed given is quarantined, run nothing beside it); `full` (Redis is at its maxmemory
            and refuses claims); `late` (worker/claiming/claims.py: the answer isn't there yet).
        wait_ms: How long until a claim may succeed; None when nothing is in sight.
        seeds: What the owner now holds; empty unless `state` is `ok` or `quarantined`.
        leaves_seeds: Whether seeds were left to workers with a browser, since the owner has none.
        line: Hosts whose time has come, those first that the next claim would look at first; as many as were asked for.
    """

    state: ClaimState
    wait_ms: int | None
    seeds: list[Claimed]
    leaves_seeds: bool = False
    line: tuple[str, ...] = ()

    @property
    def may_lack_turn(self) -> bool:
        """Whether due seeds may wait for nothing but a turn of their host, all of which others hold."""
        return self.wait_ms is not None and self.wait_ms <= TURN_RECHECK_MILLISECONDS


class Queue:
    """One frontier, over all its partitions.

    Args:
        redis: With `decode_responses=False`.
    """

    def __init__(self, redis: Redis, config: FrontierConfig, frontier: Frontier) -> None:
        self.redis, self.keys, self.partitions = redis, config.keys, config.partitions
        self.frontier: Frontier = frontier
        self._config = config
        self._script_keys = [self.keys.partition(number).script_keys(frontier) for number in range(self.partitions)]
        self._channel, self._other_channel = self.keys.wake(frontier), self.keys.wake(OTHER[frontier])
        self._in_flight: dict[tuple[int, str], InFlight] = defaultdict(InFlight)
        self._confirms = config.confirm_offers and is_cluster(redis)

    async def offer(
        self, seeds: Iterable[Seed], due_ms: int = 0, *, edition: int = 0, budget: int = 0, confirmed: bool = False
    ) -> list[bool]:
        """Proposes seeds, each for its plan. What the plan asked for before is refused, and what failed by its tries.

        The arguments beside the seeds are those of `OfferTerms`.

        Returns:
            For each seed whether it was new to its plan.
        """
        offered, terms = list(seeds), OfferTerms(due_ms, edition, budget, confirmed)
        by_partition: dict[int, list[int]] = defaultdict(list)
        for index, seed in enumerate(offered):
            by_partition[partition_of(seed.host, self.partitions)].append(index)
        is_new = [False] * len(offered)
        for partition, indexes in by_partition.items():
            answers = await self.offer_to(partition, [Proposal.of(offered[index]) for index in indexes], terms)
            for index, answer in zip(indexes, answers, strict=True):
                is_new[index] = answer in IS_NEW
        return is_new

    async def offer_to(self, partition: int, proposals: Sequence[Proposal], terms: OfferTerms) -> bytes:
        """Proposes seeds of one partition; returns an `OfferAnswer` for each, as bytes."""
        answers = b""
        while len(answers) < len(proposals):
            of_batch = await self.offer_batch(partition, proposals[len(answers) : len(answers) + OFFER_BATCH], terms)
            assert of_batch is not None  # without it the call relies on no receipt
            answers += of_batch
        return answers

    async def offer_batch(
        self,
        partition: int,
        proposals: Iterable[Proposal],
        terms: OfferTerms = NO_TERMS,
        *,
        counts: Iterable[Count] = (),
        receipt: Receipt = NO_RECEIPT,
    ) -> bytes | None:
        """Proposes up to OFFER_BATCH seeds of one partition by one call.

        Args:
            counts: Seeds that aren't proposed, and that the ledgers of their plans shall count all the same.
            receipt: What this call leaves for the owner's next one, and what it relies on itself
                (lua/lib/receipts.lua).

        Returns:
            An `OfferAnswer` for each seed that the call came to; None: the receipt isn't there, and nothing was done.
        """
        host_budget = f"{terms.budget} {self._config.fail_days * DAY_MILLISECONDS}" if terms.budget else ""
        again = "again" if terms.again else ""
        arguments: list[object] = [self._channel, terms.edition, *receipt, host_budget, again, terms.refused_as]
        words = [word for kind, *rest in counts for word in (" ".join(map(str, kind)), *rest)]
        arguments += (len(words) // COUNT_WORDS, *words)
        for fingerprint, seed in proposals:
            arguments += (fingerprint, seed.dump(), terms.due_ms)
        run = scripts.run_confirmed if terms.confirmed and self._confirms else scripts.run
        script = scripts.with_filters("offer", self._config.dedup_error_rate)
        answers: bytes | None = await run(self.redis, script, self._script_keys[partition], arguments)
        return answers

    async def refuse(self, seed: Seed, note: Note, number: int) -> None:
        """Counts pages that were found and can't be offered, in the ledger of a seed's plan and site.

        Args:
            seed: Any seed of that plan and site; it isn't offered.
            note: Why they can't.
        """
        count = Count(SeedKind.of(seed), note, number)
        await self.offer_batch(partition_of(seed.host, self.partitions), (), counts=[count])

    async def claim(
        self,
        partition: int,
        owner: str,
        claim: str,
        *,
        max_seeds: int,
        carrying: int,
        has_browser: bool = True,
        preferred: Sequence[str] = (),
        line_length: int = 0,
    ) -> ClaimAnswer:
        """Claims up to `max_seeds` seeds of one partition, under its lock, in one round trip.

        Args:
            claim: The claim's id: the owner, `#`, and a number of which the owner never used it before.
            carrying: How many seeds the owner holds already.
            has_browser: Whether the owner can render pages; if not, hosts whose pages must all be rendered are left to
                others.
            preferred: Hosts whose seeds are given first, where no other host has waited much longer: a few of a `line`.
            line_length: How many hosts the answer's `line` may name.
        """
        keys, lock_token = self._script_keys[partition], secrets.token_bytes(8)
        await self._recall_given_up(partition, owner)
        in_flight = self._in_flight[partition, owner]
        with in_flight.call(claim) as serial:
            try:
                lock = ["SET", keys[0], lock_token, "NX", "PX", self._config.lock_ms]
                numbers = [serial, max_seeds, carrying, self._config.lock_ms, int(has_browser), line_length]
                arguments = [self._channel, self._other_channel, lock_token, owner, claim, *numbers, *preferred]
                answer = await scripts.run_after(self.redis, "claim", keys, arguments, first=lock)
            except OutOfMemoryError:  # the script did nothing
                return ClaimAnswer("full", FULL_MILLISECONDS, [])
            state, wait_ms, _now, flat, left, in_line = answer
            seeds, damaged = self._read_claimed(partition, claim, flat, is_quarantined=state == b"quarantined")
            # This comes before the call counts as answered: should Redis go away now, all that it gave is recalled.
            if damaged:
                await self._fail_damaged(partition, owner, damaged, {(seed.seed.host, seed.turn) for seed in seeds})
        in_flight.hold(seeds)
        waits = None if wait_ms < 0 else int(wait_ms)
        line = tuple(host for host in map(as_text, in_line) if host != DELIVERED)
        return ClaimAnswer(cast("ClaimState", state.decode()), waits, seeds, left == 1, line)

    def _read_claimed(
        self, partition: int, claim: str, flat: Sequence[Any], *, is_quarantined: bool
    ) -> tuple[list[Claimed], list[tuple[str, Claimed]]]:
        """Reads the seeds in the answer of claim.lua.

        Returns:
            Those that are sound; and the damaged ones, of which nothing is known but what Redis says, each with the
            host that it is stored under.
        """
        seeds: list[Claimed] = []
        damaged: list[tuple[str, Claimed]] = []
        for fingerprint, stored, token, due_ms, tries, delay_ms, suspected in _in_groups(flat, SEED_FIELDS):
            value, *further = stored.split(b"\n")
            host, seed = self._load(fingerprint, value)
            claimed = Claimed(
                seed=seed or UNREADABLE,
                fingerprint=fingerprint,
                partition=partition,
                claim=claim,
                turn=int(token),
                due_ms=int(due_ms),
                tries=int(tries),
                delay_s=int(delay_ms) / 1000,
                quarantined=is_quarantined,
                suspected=suspected == 1,
                hopeless=suspected == 2,  # noqa: PLR2004 -- as claim.lua says it
                also=tuple(seed.as_wanted_by(line) for line in further) if seed else (),
                delivered=host == DELIVERED,
            )
            if seed is None:
                damaged.append((host, claimed))
            else:
                seeds.append(claimed)
        return seeds, damaged

    async def _fail_damaged(
        self, partition: int, owner: str, damaged: Sequence[tuple[str, Claimed]], used: set[tuple[str, int]]
    ) -> None:
        """Fails damaged seeds, and releases their turns but for those in use, by host and token."""
        turns = {(host, claimed.turn) for host, claimed in damaged if claimed.turn != NO_TURN} - used
        ends = [Settlement("fail", claimed, reason=reasons.DAMAGED) for _host, claimed in damaged]
        await self.settle(partition, owner, ends, [TurnRelease(host, turn) for host, turn in turns])

    async def prioritize(self, claimed: Claimed, priority: int) -> bool:
        """Gives a claimed seed another priority for its plan, from when it is ready again; returns whether it did."""
        arguments = [claimed.seed.plan, str(priority), "", claimed.fingerprint]
        changed, _done = await self._run("prioritize", claimed.partition, arguments)
        return bool(changed)

    async def moved_to(self, seed: Seed) -> str:
        """Returns the canonical URL of the page that is crawled in the place of a finished one; empty: none is."""
        partition = partition_of(seed.host, self.partitions)
        redis: Any = self.redis  # its types don't know that the answer is awaited
        url = await redis.hget(self.keys.partition(partition).of(self.frontier, "moved"), seed.fingerprint)
        return as_text(url or b"")

    async def begin_fetch(self, claimed: Claimed) -> None:
        """Notes that the fetch of a suspected seed begins: should its worker die from now on, it is quarantined."""
        await self._run("begin_fetch", claimed.partition, [claimed.fingerprint, claimed.claim])

    async def settle(
        self, partition: int, owner: str, settlements: Sequence[Settlement], turns: Sequence[TurnRelease] = ()
    ) -> tuple[int, int]:
        """Ends claims and releases turns.

        Returns:
            How many settlements ended a claim, and how many were refused, since the owner no longer held the seed.
        """
        await self._recall_given_up(partition, owner)
        pauses = [int(BACKOFF_FIRST_SECONDS * 1000), int(BACKOFF_LONGEST_SECONDS * 1000)]
        accepted = settled = released = 0
        while True:
            ends = settlements[settled : settled + MAX_SETTLE_CALL]
            releases = turns[released : released + MAX_SETTLE_CALL]
            config = self._config
            limits = [config.max_attempts, config.fail_days, int(config.finished_times), *pauses, len(ends)]
            arguments: list[object] = [self._channel, self._other_channel, owner, *limits]
            for end in ends:
                arguments += end.packed()
            for release in releases:
                arguments += release.packed()
            ended, ends_done, releases_done = await self._run(
                scripts.with_filters("settle", config.dedup_error_rate), partition, arguments
            )
            self._in_flight[partition, owner].end(ends[:ends_done], releases[:releases_done])
            accepted, settled, released = accepted + ended, settled + ends_done, released + releases_done
            if settled == len(settlements) and released == len(turns):
                return accepted, settled - accepted

    async def recall(self, partition: int, owner: str) -> int:
        """Makes Redis take back what it believes that an owner holds though no answer has said so.

        Redis believes so when it has lost writes that it had acknowledged. Not to be called while a claim is under way.

        Returns:
            How many seeds are ready again.
        """
        await self._recall_given_up(partition, owner)
        return await self._recall_of(partition, owner).unknown()

    def forget(self, partition: int, owner: str) -> None:
        """Forgets what an owner holds, after its lease was lost: others have it now."""
        self._in_flight.pop((partition, owner), None)

    async def acquire_turn(self, host: str, site: str, owner: str) -> TurnAnswer:
        """Acquires a turn of a host for a request that no seed stands for, if one is free."""
        return await self._acquire(host, owner, site)

    async def acquire_address(self, name: str, owner: str, concurrency: int, delay_ms: int) -> TurnAnswer:
        """Acquires a turn of an address, if one is free; it is released like a host's.

        Args:
            name: `@` and the address.
            concurrency: How many turns the address has.
            delay_ms: Between two starts on any of them.
        """
        return await self._acquire(name, owner, "", concurrency, delay_ms)

    async def turn_start(self, host: str, crawl_delay_ms: int, owner: str, token: int) -> TurnStart:
        """Says when a turn may start its next request, by its host's politeness as it is now.

        Args:
            crawl_delay_ms: The delay that the host's robots.txt asks for: from now on the host has one turn. 0: that
                isn't known.
            token: Of the owner's turn that the next request is to start on.
        """
        return TurnStart(*await self._turn_start(host, crawl_delay_ms or "", owner, token))

    async def drop_crawl_delay(self, host: str) -> None:
        """Forgets a host's Crawl-delay: its robots.txt asks for none any more."""
        await self._turn_start(host, 0, "", NO_TURN)

    async def hold_for_robots(self, host: str, seeds: int) -> None:
        """Sets how many seeds a claim takes of a host while its robots.txt is unreachable; 0: it is there again."""
        await self._run("hold_for_robots", partition_of(host, self.partitions), [host, seeds])

    async def _turn_start(self, host: str, *arguments: object) -> list[Any]:
        partition = partition_of(host, self.partitions)
        return await self._run("turn_start", partition, [self._channel, self._other_channel, host, *arguments])

    async def _acquire(self, host: str, owner: str, site: str, *budget: int) -> TurnAnswer:
        partition = partition_of(host, self.partitions)
        await self._recall_given_up(partition, owner)
        in_flight = self._in_flight[partition, owner]
        with in_flight.call() as serial:
            state, *numbers = await self._run("acquire_turn", partition, [owner, host, site, serial, *budget])
        answer = TurnAnswer(state.decode(), *numbers)
        if answer.state == "acquired":
            in_flight.turns.add(f"{answer.token} {host}")
        return answer

    async def plans_in_filters(self, keys: PartitionKeys, fingerprint: bytes, plans: Sequence[str]) -> list[str]:
        """Returns for which of some plans a page is finished as filters have it; none where there are no filters.

        Args:
            keys: Of the partition of its host.
        """
        if not self._config.dedup_error_rate:
            return []
        script, finished = scripts.with_filters("finished_plans", self._config.dedup_error_rate), []
        for first in range(0, len(plans), OFFER_BATCH):
            arguments = [fingerprint, *plans[first : first + OFFER_BATCH]]
            finished += await scripts.run(self.redis, script, keys.script_keys(self.frontier), arguments)
        return [as_text(plan) for plan in finished]

    async def totals(self) -> Totals:
        """Returns the number of seeds in each state, summed over the partitions; each is read at its own moment."""
        sums: dict[str, int] = defaultdict(int)
        for number in range(self.partitions):
            key = self.keys.partition(number).of(self.frontier, "counts")
            counts = await cast("Awaitable[dict[bytes, bytes]]", self.redis.hgetall(key))
            for name, value in counts.items():
                sums[as_text(name)] += as_count(value) or 0
        sums["ready"] -= sums["waiting"]
        return Totals(**{field.name: sums[field.name] for field in fields(Totals)})

    def _load(self, fingerprint: bytes, value: bytes) -> tuple[str, Seed | None]:
        """Returns a stored seed's host and the seed; None for a damaged one, of which no worker must die."""
        host = as_text(value.split(b" ", 1)[0])
        try:
            seed = Seed.load(value, self.frontier)
            sound = host in (seed.host, DELIVERED) and seed.fingerprint == fingerprint
        except (FrontierError, ValueError):
            return host, None
        return host, seed if sound else None

    async def _recall_given_up(self, partition: int, owner: str) -> None:
        """Makes Redis take back what unanswered calls gave; in most cases there are none."""
        if self._in_flight[partition, owner].unanswered:
            await self._recall_of(partition, owner).given_up()

    def _recall_of(self, partition: int, owner: str) -> Recall:
        in_flight, keys = self._in_flight[partition, owner], self.keys.partition(partition)
        return Recall(self.redis, keys, self.frontier, channel=self._channel, owner=owner, in_flight=in_flight)

    async def _run(self, name: str, partition: int, arguments: Sequence[object]) -> list[Any]:
        answer: list[Any] = await scripts.run(self.redis, name, self._script_keys[partition], arguments)
        return answer


def queues_of(config: FrontierConfig, redis: Redis) -> dict[Frontier, Queue]:
    """Returns the queue of each frontier."""
    return {frontier: Queue(redis, config, frontier) for frontier in OTHER}


def _in_groups(flat: Sequence[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """Returns a flat list's entries in tuples of `size`."""
    return zip(*[iter(flat)] * size, strict=True)
