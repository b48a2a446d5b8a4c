"""Who has subscribed to an event's class hears of it, in order, before `publish` returns."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from crawler.base.events import Events


class Happened(NamedTuple):
    what: str


class HappenedElsewhere(Happened):
    """A subclass is another event."""


def test_subscribers_hear_in_the_order_in_which_they_subscribed():
    events, heard = Events(), []
    for number in (1, 2):
        events.subscribe(Happened, lambda event, number=number: heard.append((number, event.what)))
    events.publish(Happened("x"))
    events.publish(HappenedElsewhere("y"))
    assert heard == [(1, "x"), (2, "x")]


def test_one_who_raises_stops_the_publisher():
    events = Events()
    events.subscribe(Happened, lambda _event: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        events.publish(Happened("x"))
