"""What sinks see of the crawl that runs: whether it ends, and whom it has told of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from crawler.base.also import Also
    from crawler.base.item import Item


class CrawlProcess:
    """The running crawl, as batchers see it. In a project without our worker, an outage stops no claims."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._worker = crawler.get_extension(Worker)

    @property
    def stopping(self) -> bool:
        """Whether the process ends."""
        if self._worker:
            return self._worker.life.stopping.is_set()
        return self._crawler.engine is None or not self._crawler.engine.running

    def use_to_tell(self, deliver: Callable[[Also], Awaitable[None]]) -> None:
        """Has plans that ask for a delivered page told through `deliver`."""
        if self._worker:
            self._worker.claiming.teller.use(deliver)

    def restore_gaps(self, item: Item) -> None:
        """Has an item that a pipeline put in the place of a page's say what that one lacks."""
        if self._worker:
            self._worker.claiming.gaps.restore(item)

    def delivered(self, site: str, value: bytes) -> None:
        """Has an item that all sinks have shown among the newest."""
        if self._worker:
            self._worker.reports.newest_items.delivered(site, value)

    async def has_other_nodes(self) -> bool:
        """Returns whether workers of other nodes are there, which may deliver what this one can't."""
        return self._worker is not None and await self._worker.life.second_opinions.has_other_nodes()

    def sink_down(self, name: str, why: str) -> None:
        """Stops the worker's claims."""
        if self._worker:
            self._worker.claiming.sink_down(name, why)

    def sink_up(self, name: str) -> None:
        """Lets the worker claim again, if no other sink is away."""
        if self._worker:
            self._worker.claiming.sink_up(name)
