from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(autouse=True)
async def _in_time():
    """A sink that waits for ever fails its test, with the place where it waits."""
    async with asyncio.timeout(90):
        yield
