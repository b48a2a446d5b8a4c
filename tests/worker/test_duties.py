"""Duties are done at their intervals, one after the other."""

from __future__ import annotations

import asyncio

import pytest

from crawler.worker.duties import Duties


async def test_each_duty_is_done_at_once_and_at_its_interval(monkeypatch):
    loop = asyncio.get_running_loop()
    now_s, rounds = [0.0], []
    monkeypatch.setattr(loop, "time", lambda: now_s[0])

    async def sleep(seconds):
        now_s[0] += seconds
        if now_s[0] >= 5:
            raise asyncio.CancelledError

    async def seldom():
        rounds.append(("seldom", now_s[0]))

    monkeypatch.setattr("crawler.worker.duties.asyncio.sleep", sleep)
    duties = Duties()
    duties.add(1.0, lambda: rounds.append(("often", now_s[0])))
    duties.add(2.0, seldom)
    with pytest.raises(asyncio.CancelledError):
        await duties.run()
    assert [at_s for name, at_s in rounds if name == "often"] == [0, 1, 2, 3, 4]
    assert [at_s for name, at_s in rounds if name == "seldom"] == [0, 2, 4]
