"""What an owner holds is known from answers alone, and calls without an answer are remembered."""

from __future__ import annotations

import asyncio

import pytest

from crawler.frontier.in_flight import InFlight


def test_serial_numbers_grow_whoever_calls():
    one, other = InFlight(), InFlight()
    with one.call() as first, other.call("B#1") as second, one.call("A#1") as third:
        assert first < second < third


@pytest.mark.parametrize("error", [ConnectionError, asyncio.CancelledError, KeyboardInterrupt])
def test_a_call_that_raises_may_have_arrived(error):
    held = InFlight()
    with pytest.raises(error), held.call("A#1") as serial:
        raise error
    with pytest.raises(error), held.call() as later:
        raise error
    assert held.unanswered == [("A#1", serial), ("", later)]


def test_all_calls_before_the_first_under_way_have_ended():
    held = InFlight()
    with held.call() as ended:
        pass
    assert held.unanswered == []
    assert held.first_under_way() > ended
    with held.call() as first, held.call():
        assert held.first_under_way() == first
