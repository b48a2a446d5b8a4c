"""Reads pages that take long in a thread, while the worker's event loop goes on.

Code in Python yields Python's global lock every 5 ms; turbohtml holds it while it parses, 0.2 s
for the largest page. A small page is read at once, since handing it over would cost as much as reading it.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from crawler.base.in_step import in_step
from crawler.extract.sitemaps import GZIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.base.models import Fetched
    from crawler.sites import Site

# A page with more than these takes some 50 ms.
HEAVY_BYTES = 1_000_000
HEAVY_TAGS = 20_000
HEAVY_TAGS_UNTOLD = 6_000  # of a page that is read without selectors

Result = TypeVar("Result")
_thread = ThreadPoolExecutor(1, thread_name_prefix="extract")  # the global lock would let two only take turns


async def offload(read: Callable[..., Result], page: Fetched, site: Site, **options: object) -> Result:
    """Returns `read(page, site, **options)`, which runs in a thread if the page takes long.

    Raises:
        Exception: `read` raised it.
    """
    if not _is_heavy(page, site):
        await in_step()
        return read(page, site, **options)
    return await asyncio.get_running_loop().run_in_executor(_thread, partial(read, page, site, **options))


def _is_heavy(page: Fetched, site: Site) -> bool:
    if page.body.startswith(GZIP):  # a sitemap, packed: its size says little of what it holds
        return True
    if page.loaded and sum(len(one.body) for one in page.loaded.answers) > HEAVY_BYTES:
        return True
    if len(page.body) <= HEAVY_TAGS:  # a page has fewer tags than bytes
        return False
    heavy_tags = HEAVY_TAGS_UNTOLD if site.reads_without_selectors else HEAVY_TAGS
    return len(page.body) > HEAVY_BYTES or page.body.count(b"<") > heavy_tags
