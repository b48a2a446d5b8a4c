"""When plans will be done, by the pace of the last hour."""

from __future__ import annotations

from cluster.test_troubles import overview

from crawler.cluster.plan_progress import time_left
from crawler.frontier.ledger import Account


def of(ledger, steps, **states):
    found = overview()
    found.ledger.update({place: {"nav": Account(), "content": Account(ready=ready)} for place, ready in ledger.items()})
    found.plan_states.update(states)
    return {plan: tuple(left) for plan, left in time_left(found, steps).items()}


def test_the_slowest_site_and_all_that_waits_there_count():
    steps = [(0, {}), (60, {"site:a:finished": 60, "site:b:failed": 6}), (120, {"site:b:finished": 6})]
    found = of({("p", "a"): 100, ("p", "b"): 10, ("q", "b"): 20, ("r", "a"): 0}, steps)
    assert found == {"p": (300.0, "b"), "q": (300.0, "b"), "r": (0.0, "")}  # b settles 12 in 120 s, and 30 wait there


def test_there_is_no_telling():
    steps = [(0, {"site:a:finished": 60})]
    states = {"paused": "paused"}
    found = of({("still", "b"): 1, ("paused", "a"): 5, ("p", "a"): 5}, steps, **states)
    assert found == {"still": (None, "b"), "paused": (None, ""), "p": (5.0, "a")}
    assert of({("p", "a"): 5}, [(0, {}), (60, {})]) == {"p": (None, "a")}
    assert of({("p", "a"): 5}, []) == {"p": (None, "a")}
