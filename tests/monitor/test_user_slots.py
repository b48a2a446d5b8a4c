"""Nobody keeps others from what only so many may have at once."""

from __future__ import annotations

from crawler.monitor.user_slots import UserSlots


def test_a_user_has_some_and_all_have_no_more_than_there_are():
    slots = UserSlots(3, 2)
    with slots.held("ann"), slots.held("ann"):
        assert [slots.are_free(user) for user in ("ann", "bob")] == [False, True]
        with slots.held("bob"):
            assert [slots.are_free(user) for user in ("ann", "bob", "carl")] == [False, False, False]
    assert slots.are_free("ann")
