"""What a check says: a state, and a line about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class State(Enum):
    """How it stands with what was looked at, from the best to the worst."""

    OK = "ok"
    NOT_TRIED = "not-tried"
    BETTER = "better"
    NO_ANSWER = "no-answer"
    STOPS = "stops"
    LOSS = "loss"


MEANINGS = {
    State.OK: "as it should be",
    State.NOT_TRIED: "couldn't be looked at; the line says why",
    State.BETTER: "the crawl runs, and could run better or survive more",
    State.NO_ANSWER: "a server fell silent while it was asked, so this isn't known; run the command again",
    State.STOPS: "the crawl can't run: it doesn't start, or it waits; nothing is lost meanwhile",
    State.LOSS: "a crash, a failover or a full memory loses data, or some items are refused",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        text: What is there; or what is wrong, and what to do, in one or two sentences.
    """

    state: State
    text: str


ok, not_tried, no_answer = (partial(Finding, state) for state in (State.OK, State.NOT_TRIED, State.NO_ANSWER))
advice, stop, loss = (partial(Finding, state) for state in (State.BETTER, State.STOPS, State.LOSS))


def worst(findings: Iterable[Finding], otherwise: str) -> Finding:
    """Returns the worst of some findings, the first of several such, and how many more there are.

    Without any, that all is well, by `otherwise`.
    """
    order = list(State)
    bad = [finding for finding in findings if finding.state is not State.OK]
    if not bad:
        return ok(otherwise)
    worst_finding = max(bad, key=lambda finding: order.index(finding.state))
    return (
        replace(worst_finding, text=f"{worst_finding.text} (and {len(bad) - 1} more)")
        if len(bad) > 1
        else worst_finding
    )
