"""What the frontier answers of turns (lua/acquire_turn.lua, lua/turn_start.lua)."""

from __future__ import annotations

from typing import Literal, NamedTuple

NO_TURN = 0  # stands in place of a token where there is no turn
OTHERS_FIRST = -1  # stands in place of ms: other turns of the host are used first


class TurnAnswer(NamedTuple):
    """What asking for a turn came back with.

    Attributes:
        state: `acquired`; `busy` (no turn is free); `backoff` (the host has one, or operators have paused it); or
            `lapsed` (the owner has no session).
        token: Of the turn; NO_TURN unless it was acquired.
        delay_ms: Between two starts on the turn; 0 unless it was acquired.
        wait_ms: How long until it is worth asking again, or the backoff ends; 0 for the other states.
    """

    state: Literal["acquired", "busy", "backoff", "lapsed"]
    token: int = NO_TURN
    delay_ms: int = 0
    wait_ms: int = 0


class TurnStart(NamedTuple):
    """When a turn may start its next request, by its host's politeness as it is now.

    Attributes:
        surplus: How many other turns are held beyond those that may be used beside this one.
        wait_ms: How long until the turn may start a request; OTHERS_FIRST: others go first.
        delay_ms: The host's, between two starts.
    """

    surplus: int
    wait_ms: int
    delay_ms: int
