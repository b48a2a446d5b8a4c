"""Takes back what an owner holds in Redis without knowing it: lua/recall.lua says how that comes about.

What it holds may be much, so it is read in batches, and the script is told what of it is to be taken back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier import scripts
from crawler.frontier.keys import as_text
from crawler.frontier.scan import scan_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.in_flight import InFlight
    from crawler.frontier.keys import PartitionKeys

RECALL_BATCH = 100  # most seeds, and most turns, in one call: some 3 ms of Redis's time
TOKENS_PER_SERIAL = 1_000  # how many tokens lua/lib/turns.lua makes of each serial number
HELD_TURN = re.compile(rb"(\d{1,15}) (.+)", re.DOTALL)  # an entry of turns:OWNER; anything else is junk


class HeldTurn(NamedTuple):
    """A turn to be taken back."""

    host: str
    token: int
    may_have_started: bool  # a request may have been started on it as late as now


class Recall:
    """Takes back what one owner holds in one partition of a frontier.

    Args:
        channel: That wakes the frontier's workers.
        in_flight: What the owner knows.
    """

    def __init__(
        self, redis: Redis, keys: PartitionKeys, frontier: Frontier, *, channel: str, owner: str, in_flight: InFlight
    ) -> None:
        self._redis: Any = redis  # its types don't know that answers are bytes
        self._held = keys.of(frontier, f"held:{owner}")
        self._turns = keys.turns(owner)
        self._claims = keys.of(frontier, "claims")
        self._script_keys = keys.script_keys(frontier)
        self._head = (channel, owner)
        self._in_flight = in_flight

    async def given_up(self) -> None:
        """Takes back what calls without an answer gave; those of them that are still on their way become void."""
        calls = list(self._in_flight.unanswered)  # more may be added while this waits for Redis
        if not calls:
            return
        claims, serials = {claim.encode() for claim, _ in calls}, {serial for _, serial in calls}
        await self._run(max(serials), [], [])
        async for held in scan_steps(self._redis.sscan, self._held):
            await self._take_seeds([seed for seed in await self._with_claims(held) if seed[1] in claims])
        async for entries in scan_steps(self._redis.sscan, self._turns):
            turns = [HeldTurn(host, token, may_have_started=False) for token, host in _tokens_and_hosts(entries)]
            await self._take_turns([turn for turn in turns if turn.token // TOKENS_PER_SERIAL in serials])
        self._in_flight.unanswered = [call for call in self._in_flight.unanswered if call not in calls]

    async def unknown(self) -> int:
        """Takes back what no answer has told the owner of. No claim may be under way.

        Returns:
            How many seeds are ready again.
        """
        first_under_way, recalled = self._in_flight.first_under_way(), 0
        async for held in scan_steps(self._redis.sscan, self._held):
            fingerprints = [fingerprint for fingerprint in held if fingerprint not in self._in_flight.seeds]
            recalled += await self._take_seeds(await self._with_claims(fingerprints))
        async for entries in scan_steps(self._redis.sscan, self._turns):
            await self._take_turns(
                [
                    HeldTurn(host, token, may_have_started=True)
                    for token, host in _tokens_and_hosts(entries)
                    if token // TOKENS_PER_SERIAL < first_under_way and f"{token} {host}" not in self._in_flight.turns
                ]
            )
        return recalled

    async def _with_claims(self, fingerprints: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Returns fingerprints with the ids of the claims under which they are held, but for those that aren't."""
        claims = await self._redis.hmget(self._claims, fingerprints) if fingerprints else []
        pairs = zip(fingerprints, claims, strict=True)
        return [(fingerprint, claim) for fingerprint, claim in pairs if claim is not None]

    async def _take_seeds(self, seeds: Sequence[tuple[bytes, bytes]]) -> int:
        """Makes seeds ready whose claims haven't ended meanwhile; returns how many."""
        recalled = 0
        while seeds:
            ready, seeds_done, _ = await self._run(0, seeds[:RECALL_BATCH], [])
            recalled, seeds = recalled + ready, seeds[seeds_done:]
        return recalled

    async def _take_turns(self, turns: Sequence[HeldTurn]) -> None:
        while turns:
            _, _, turns_done = await self._run(0, [], turns[:RECALL_BATCH])
            turns = turns[turns_done:]

    async def _run(
        self, serial: int, seeds: Sequence[tuple[bytes, bytes]], turns: Sequence[HeldTurn]
    ) -> tuple[int, int, int]:
        arguments: list[object] = [*self._head, serial, len(seeds)]
        for seed in seeds:
            arguments += seed
        for turn in turns:
            arguments += (turn.host, turn.token, int(turn.may_have_started))
        recalled, seeds_done, turns_done = await scripts.run(self._redis, "recall", self._script_keys, arguments)
        return recalled, seeds_done, turns_done


def _tokens_and_hosts(entries: Iterable[bytes]) -> list[tuple[int, str]]:
    matches = (HELD_TURN.fullmatch(entry) for entry in entries)
    return [(int(match[1]), as_text(match[2])) for match in matches if match]
