"""What a check says: a state, and a line about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
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


def ok(text: str) -> Finding:
    """Returns that all is as it should be."""
    return Finding(State.OK, text)


def not_tried(text: str) -> Finding:
    """Returns that something couldn't be looked at."""
    return Finding(State.NOT_TRIED, text)


def no_answer(text: str) -> Finding:
    """Returns that something was asked for, and the answer didn't come."""
    return Finding(State.NO_ANSWER, text)


def advice(text: str) -> Finding:
    """Returns that something could be better."""
    return Finding(State.BETTER, text)


def stop(text: str) -> Finding:
    """Returns that the crawl can't run."""
    return Finding(State.STOPS, text)


def loss(text: str) -> Finding:
    """Returns that data will be lost."""
    return Finding(State.LOSS, text)


def worst(findings: Iterable[Finding], otherwise: str) -> Finding:
    """Returns the worst of some findings, the first of several such, and how many more there are.

    Without any, that all is well, by `otherwise`.
    """
    order = list(State)
    bad = [finding for finding in findings if finding.state is not State.OK]
    if not bad:
        return ok(otherwise)
    found = max(bad, key=lambda finding: order.index(finding.state))
    return replace(found, text=f"{found.text} (and {len(bad) - 1} more)") if len(bad) > 1 else found
