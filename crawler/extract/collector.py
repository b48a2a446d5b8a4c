"""Python's garbage collector, put off while a page is read.

What a page becomes has no cycles: it goes as soon as nobody refers to it. To look through its thousands of boxes and
texts for cycles, again and again while they are made, would take a tenth of the time.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def collector_paused() -> Iterator[None]:
    """Puts collections off. Where another thread has done so, too, they begin again when the first of both is done."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
