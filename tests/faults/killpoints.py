"""Places at which a worker dies, by its own hand: a pipeline between two sinks, and a parser's page."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from crawler.extract.item import Fields

if TYPE_CHECKING:
    from crawler.models import Fetched
    from crawler.sites import Site


class KillPipeline:
    """Kills its worker at item number KILL_AT_ITEM, once that has passed the pipelines before this one."""

    def __init__(self, at):
        self._left = at

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.getint("KILL_AT_ITEM"))

    async def process_item(self, item):
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return item


def deadly(page: Fetched, _site: Site) -> Fields:
    """Parses a page of the origin; some of them are too much for it."""
    if "/kill/" in page.url:
        os.kill(os.getpid(), signal.SIGKILL)
    return Fields(title=page.url, content=page.body.decode())
