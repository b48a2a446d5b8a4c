"""What a check says: a state, and a line about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class State(Enum):
    """How it stands with what was looked at, from the best to the worst."""

    OK = "ok"
    NOT_TRIED = "not-tried"
    BETTER = "better"
    STOPS = "stops"
    LOSS = "loss"


MEANINGS = {
    State.OK: "as it should be",
    State.NOT_TRIED: "couldn't be looked at; the line says why",
    State.BETTER: "the crawl runs, and could run better or survive more",
    State.STOPS: "the crawl doesn't start, or waits; nothing is lost meanwhile",
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


def better(text: str) -> Finding:
    """Returns that something could be better."""
    return Finding(State.BETTER, text)


def stops(text: str) -> Finding:
    """Returns that the crawl can't run."""
    return Finding(State.STOPS, text)


def loses(text: str) -> Finding:
    """Returns that data will be lost."""
    return Finding(State.LOSS, text)


def worst(findings: Iterable[Finding], otherwise: str) -> Finding:
    """Returns the worst of some findings, the first of several such; without any, that all is well, by `otherwise`."""
    order = list(State)
    found = max(findings, key=lambda finding: order.index(finding.state), default=ok(otherwise))
    return ok(otherwise) if found.state is State.OK else found
