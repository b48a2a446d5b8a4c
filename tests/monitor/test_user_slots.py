"""Nobody keeps others from what only so many may have at once."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect

from crawler.monitor.pages import items
from crawler.monitor.user_slots import UserSlots


def test_a_user_has_some_and_all_have_no_more_than_there_are():
    slots = UserSlots(3, 2)
    with slots.held("ann"), slots.held("ann"):
        assert [slots.are_free(user) for user in ("ann", "bob")] == [False, True]
        with slots.held("bob"):
            assert [slots.are_free(user) for user in ("ann", "bob", "carl")] == [False, False, False]
    assert slots.are_free("ann")


async def test_a_download_that_nobody_takes_ends_soon(monkeypatch):
    monkeypatch.setattr(items, "UNREAD_SECONDS", 0.01)

    async def lines():
        yield b"line"

    async def is_not_taken(_message):
        await asyncio.Event().wait()

    answer = items._Download(lines())
    with pytest.raises(ClientDisconnect):
        await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, is_not_taken, is_not_taken)
