"""A deadline passes once, in its time, and not while it is paused."""

from __future__ import annotations

from unittest import mock

import pytest

from crawler.worker.visits.deadline import Deadline


@pytest.fixture
def on_passed():
    return mock.Mock()


@pytest.fixture
def deadline(on_passed):
    return Deadline(on_passed)


async def test_a_deadline_passes_once_in_its_time(clock, deadline, on_passed):
    deadline.start(10.0)
    await clock.advance(9.0)
    assert not deadline.passed
    await clock.advance(1.0)
    assert deadline.passed
    with deadline.paused():
        pass
    await clock.advance(100.0)
    on_passed.assert_called_once_with()


async def test_a_deadline_never_passes_before_it_is_started_or_after_it_is_stopped(clock, deadline):
    with deadline.paused():
        pass
    await clock.advance(100.0)
    deadline.start(10.0)
    with deadline.paused():
        deadline.stop()
    await clock.advance(100.0)
    deadline.stop()
    assert not deadline.passed


async def test_a_paused_deadline_goes_on_with_the_time_left(clock, deadline):
    deadline.start(10.0)
    await clock.advance(4.0)
    with deadline.paused():
        with deadline.paused():
            await clock.advance(100.0)
        await clock.advance(100.0)
    await clock.advance(5.0)
    assert not deadline.passed
    await clock.advance(1.0)
    assert deadline.passed


async def test_a_deadline_that_has_passed_may_be_paused(clock, deadline, on_passed):
    deadline.start(1.0)
    await clock.advance(1.0)
    with deadline.paused():
        assert not deadline.passed
    assert deadline.passed
    await clock.advance(1.0)
    on_passed.assert_called_once_with()
