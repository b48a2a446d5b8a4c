"""A frontier in memory, as far as traps are concerned: which pages wait, have failed, or were asked for."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from types import SimpleNamespace

from crawler.base.models import Seed
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.worker.offers.traps import Traps

WEIGHTS = {"": 0, "s": 1, "k": 2}


class ModelFrontier:
    """Offers, refuses and releases pages as Redis's scripts do, for workers that share it.

    Attributes:
        failed: Why pages have failed, by URL.
        executing: Pages of which it hasn't been told yet that they failed, likewise.
        refused: How many links weren't offered, by the names of their traps.
    """

    def __init__(self, redis, links_max=60, workers=1):
        config = FrontierConfig(Keys("hr"))
        self.workers = [Traps(redis, config, self, links_max) for _worker in range(workers)]
        self.stored, self.ready, self.failed, self.by_fingerprint = {}, deque(), {}, {}
        self.executing = {}

    def start(self, url):
        self.store(Seed(url, "city", "web", general=True))

    def store(self, seed, refused_as=""):
        before = self.stored.get(seed.url)
        if before is None:
            self.by_fingerprint[seed.fingerprint] = seed.url
            if refused_as:
                self.failed[seed.url] = refused_as
            else:
                self.ready.append(seed.url)
        else:
            was_other_text = self.failed.get(seed.url) == "trap-same-text" and before.trap != seed.trap
            if WEIGHTS.get(seed.trap, 3) >= WEIGHTS.get(before.trap, 3) and not was_other_text:
                return False
            if self.failed.pop(seed.url, None):
                self.ready.append(seed.url)
        self.stored[seed.url] = seed
        return before is None

    async def retry_some(self, chosen, is_wanted):
        urls = [self.by_fingerprint[fingerprint] for _partition, fingerprint in chosen]
        urls = [url for url in urls if is_wanted(self._unfinished(url)) and url in self.failed]
        for url in urls:
            del self.failed[url]
            self.ready.append(url)
        return len(urls)

    def _unfinished(self, url):
        state, reason = "executing" if url in self.executing else "", self.failed.get(url, "")
        return SimpleNamespace(state=state, fingerprint=self.stored[url].fingerprint, reason=reason)

    async def visit(self, url, body, links, worker=0, edition=1):
        """Reads a page and offers its links; returns those that became ready, and why others didn't."""
        seed = self.stored.get(url) or Seed(url, "city", "web", general=True)
        self.stored[url] = seed
        page = await self.workers[worker].read(seed, body, edition)
        before, refused = set(self.ready), {}

        async def offer(seeds, refused_as):
            for each in seeds:
                if refused_as:
                    refused[each.url] = refused_as
            return sum([self.store(each, refused_as) for each in seeds])

        counts = await self.workers[worker].offer(page, [replace(seed, url=link, trap="") for link in links], offer)
        return [url for url in self.ready if url not in before], refused, counts

    async def crawl(self, answer, choose=None, edition=1, most=1_000_000):
        """Crawls all that is ready; returns addresses as they were asked for.

        Args:
            answer: Returns body and links of an address; None: there is no page.
            choose: Turns the queue, and chooses a worker.
        """
        asked = []
        while self.ready and len(asked) < most:
            worker = choose(self.ready) if choose else 0
            url = self.ready.popleft()
            seed = self.stored[url]
            if seed.trap and (reason := await self.workers[worker].refusal(seed, edition)):
                self.failed[url] = reason
                continue
            if (page := answer(url)) is not None:
                asked.append(url)
                await self.visit(url, *page, worker=worker, edition=edition)
        return asked
