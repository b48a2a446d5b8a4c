"""Pages that take long are read in a thread, so that the worker's event loop goes on meanwhile.

lxml lets go of Python's lock while it parses and selects; what is Python's own (trafilatura) shares it in slices of
5 ms. A small page is read at once: to hand it over would cost as much as it takes to read.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.models import Fetched

HEAVY_BYTES = 1_000_000  # some 50 ms
HEAVY_TAGS = 20_000  # likewise

Result = TypeVar("Result")
_thread = ThreadPoolExecutor(1, thread_name_prefix="extract")  # two would only take turns


async def offload(read: Callable[..., Result], page: Fetched, site: Site, **options: object) -> Result:
    """Returns `read(page, site, **options)`; the event loop doesn't stand still for a page that takes long.

    Raises:
        Exception: What `read` raised.
    """
    if not _is_heavy(page, site):
        return read(page, site, **options)
    own = Site.from_definition(site.definition())  # a compiled XPath is locked while it runs: here none waits for it
    return await asyncio.get_running_loop().run_in_executor(_thread, partial(read, page, own, **options))


def _is_heavy(page: Fetched, site: Site) -> bool:
    by_trafilatura = site.content is None and not site.parser
    if len(page.body) <= HEAVY_TAGS:  # has fewer tags than bytes
        return by_trafilatura
    return by_trafilatura or len(page.body) > HEAVY_BYTES or page.body.count(b"<") > HEAVY_TAGS
