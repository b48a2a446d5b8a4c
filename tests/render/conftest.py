"""A made site that pages ask through `fetch`, and browsers to render it with."""

from __future__ import annotations

import pytest
import pytest_asyncio
from render.made_site import MadeSite

from crawler.render.renderer import Renderer, RenderLimits

LIMITS = RenderLimits(
    page_seconds=20,
    page_memory_bytes=512 * 1024 * 1024,
    browser_pages=1_000,
    browser_seconds=3_600,
    browser_memory_bytes=4 * 1024 * 1024 * 1024,
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def renderer(chromium_path):
    """One browser for a module; its tests run on the module's loop."""
    shared = Renderer("", LIMITS)
    yield shared
    await shared.close()


@pytest.fixture
def site():
    return MadeSite()
