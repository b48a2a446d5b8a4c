"""A CancelledError that code of a crawl raises, told from the cancellation of the task that runs it.

The former is an error like any other. It is no Exception, though, so that Scrapy's own engine loses what raises it: a
callback's page or a pipeline's item is then waited for without end.
"""

from __future__ import annotations

import asyncio


def is_being_cancelled() -> bool:
    """Returns whether the CancelledError being handled is meant for this task, not one that the code in it raised."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
