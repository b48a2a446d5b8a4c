"""Places at which a worker dies, by its own hand: a sink between two others, and a parser's page."""

from __future__ import annotations

import faulthandler
import os
import signal
from typing import TYPE_CHECKING

from crawler.extract.field_kinds import Fields
from crawler.pipelines.sink import Sink

if TYPE_CHECKING:
    from crawler.base.models import Fetched
    from crawler.sites import Site


class KillSink(Sink):
    """Kills its worker at item number KILL_AT_ITEM, once the sinks before this one have it."""

    def __init__(self, at):
        self._left = at

    @classmethod
    def from_settings(cls, settings):
        return cls(settings.getint("KILL_AT_ITEM"))

    async def send(self, batch):
        self._left -= len(batch)
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return {}

    async def close(self):
        pass


def deadly(page: Fetched, _site: Site) -> Fields:
    """Parses a page of the origin; some of them are too much for it."""
    if "/kill/" in page.url:
        os.kill(os.getpid(), signal.SIGKILL)
    if "/crash/" in page.url:
        faulthandler._sigsegv()  # as a library in C does for a page that it can't read
    return Fields(title=page.url, content=page.body.decode())
