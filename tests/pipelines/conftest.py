from __future__ import annotations

import asyncio

import pytest

from crawler.pipelines import batch


@pytest.fixture(autouse=True)
async def _in_time():
    """A sink that waits for ever fails its test, with the place where it waits."""
    async with asyncio.timeout(90):
        yield


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(batch, "FIRST_PAUSE_SECONDS", 0.005)
