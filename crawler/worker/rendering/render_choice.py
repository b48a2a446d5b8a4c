"""Whether a browser renders pages of sites that leave that to the crawl (`when: auto`).

A page is read as it came. If it lacks what its site's file names, a browser renders it, and what that brings decides
for the site's further pages of this type: they are rendered, or read as they come. Workers share such verdicts. None
is for ever: now and then a page that would be rendered is read as it came, and one that lacks something is rendered.
Pages never wait for Redis: each is treated by what this worker knows, and what it learns is exchanged in the
background.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.base import tasks
from crawler.base.item import instant_now
from crawler.frontier.render_verdicts import RenderVerdict

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from crawler.base.events import Events
    from crawler.base.models import Frontier
    from crawler.frontier.render_verdicts import RenderVerdicts
    from crawler.sites import Site

PAGES_OF_VERDICT = 3  # how many pages must agree before all are read as they come: one may be an error page, or empty
REFRESH_SECONDS = 10.0  # how often other workers' findings are asked for, by one short command


@dataclass(slots=True)
class _Knowledge:
    """What this worker knows of one site's pages of one type.

    Attributes:
        site: The definition that it holds for.
        digest: Of that definition.
        verdict: None: there is none yet.
        agreeing: How many pages in a row needed no browser, by which there may soon be a verdict.
        look_again_s: From when on a page is treated against the verdict, to see whether it still holds.
        left_until_s: Until when pages are left to workers with a browser, since this one has none.
    """

    site: Site
    digest: str
    verdict: RenderVerdict | None = None
    agreeing: int = 0
    look_again_s: float = 0.0
    left_until_s: float = 0.0

    @property
    def is_rendered(self) -> bool:
        """Whether these pages are rendered, by the verdict."""
        return self.verdict is not None and self.verdict.needs_browser


class RenderChoice:
    """What this worker knows of the sites that leave rendering to it.

    Args:
        verdicts: Of all workers.
    """

    def __init__(self, verdicts: RenderVerdicts, look_again_s: float, events: Events) -> None:
        self._verdicts, self._look_again_s, self._events = verdicts, look_again_s, events
        self._known: dict[tuple[str, Frontier], _Knowledge] = {}
        self._shared: dict[tuple[str, str], RenderVerdict] = {}
        self._to_share: dict[tuple[str, Frontier], RenderVerdict] = {}
        self._refreshed_s = -REFRESH_SECONDS
        self._exchanging: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Stops the exchange; what wasn't told yet is forgotten."""
        if self._exchanging is not None:
            await tasks.cancel(self._exchanging)

    # -- Asked ---------------------------------------------------------------------------------------------------------

    def needs_browser(self, site: Site, frontier: Frontier) -> bool:
        """Returns whether a page can't be fetched by a worker without a browser."""
        knowledge = self._of(site, frontier)
        return knowledge.is_rendered or (knowledge.verdict is None and time.monotonic() < knowledge.left_until_s)

    def reads_plain(self, site: Site, frontier: Frontier) -> bool:
        """Returns whether a page is read as it came before it may be rendered."""
        knowledge = self._of(site, frontier)
        return not knowledge.is_rendered or self._looks_again(knowledge)

    def may_render(self, site: Site, frontier: Frontier, *, is_empty: bool) -> bool:
        """Returns whether a page that was read as it came and lacks something is rendered.

        Args:
            is_empty: It would fail. Then it is rendered whatever the verdict, so that no page is lost by a wrong one.
        """
        knowledge = self._of(site, frontier)
        return is_empty or knowledge.verdict is None or knowledge.verdict.needs_browser or self._looks_again(knowledge)

    def needs_none(self, site: Site, frontier: Frontier) -> bool:
        """Returns whether pages were found to need no browser."""
        knowledge = self._of(site, frontier)
        return knowledge.verdict is not None and not knowledge.verdict.needs_browser

    # -- Told ----------------------------------------------------------------------------------------------------------

    def note_whole(self, site: Site, frontier: Frontier, url: str) -> None:
        """Notes a page that lacks nothing as it came."""
        knowledge = self._of(site, frontier)
        if knowledge.verdict is None or knowledge.verdict.needs_browser:
            self._agree(knowledge, frontier, url, ())

    def note_rendered(
        self, site: Site, frontier: Frontier, url: str, lacked: Sequence[str], brought: Sequence[str]
    ) -> None:
        """Notes a page that lacked something as it came, and what of that rendering it brought."""
        knowledge = self._of(site, frontier)
        if not brought:
            if knowledge.verdict is None:
                self._agree(knowledge, frontier, url, lacked)
            return
        knowledge.agreeing = 0
        if not knowledge.is_rendered:
            self._decide(
                knowledge, frontier, RenderVerdict.of_page(knowledge.digest, url, lacked, brought, instant_now())
            )

    def leave_to_others(self, site: Site, frontier: Frontier, seconds: float) -> None:
        """Has pages left to workers with a browser for a while, if it isn't known by then that they need none."""
        self._of(site, frontier).left_until_s = time.monotonic() + seconds

    # -- Knowing -------------------------------------------------------------------------------------------------------

    def _of(self, site: Site, frontier: Frontier) -> _Knowledge:
        key = (site.name, frontier)
        knowledge = self._known.get(key)
        if knowledge is None or knowledge.site is not site:
            digest = blake2b(site.model_dump_json().encode(), digest_size=8).hexdigest()
            if knowledge is None or knowledge.digest != digest:
                knowledge = self._known[key] = _Knowledge(site, digest)
            knowledge.site = site
        shared = self._shared.get(key)
        if shared is not None and shared is not knowledge.verdict and shared.definition == knowledge.digest:
            self._accept(knowledge, shared)
        if time.monotonic() - self._refreshed_s >= REFRESH_SECONDS:
            self._exchange()
        return knowledge

    def _accept(self, knowledge: _Knowledge, verdict: RenderVerdict) -> None:
        knowledge.verdict, knowledge.agreeing = verdict, 0
        knowledge.look_again_s = time.monotonic() + self._look_again_s

    def _looks_again(self, knowledge: _Knowledge) -> bool:
        if knowledge.verdict is None or time.monotonic() < knowledge.look_again_s:
            return False
        knowledge.look_again_s = time.monotonic() + self._look_again_s
        return True

    def _agree(self, knowledge: _Knowledge, frontier: Frontier, url: str, lacked: Sequence[str]) -> None:
        """Notes a page that needed no browser; with enough of them, that decides. Further looks follow at once."""
        knowledge.agreeing += 1
        if knowledge.agreeing >= PAGES_OF_VERDICT:
            self._decide(knowledge, frontier, RenderVerdict.of_page(knowledge.digest, url, lacked, (), instant_now()))
        else:
            knowledge.look_again_s = 0.0

    def _decide(self, knowledge: _Knowledge, frontier: Frontier, verdict: RenderVerdict) -> None:
        key = (knowledge.site.name, frontier)
        self._accept(knowledge, verdict)
        self._shared[key] = self._to_share[key] = verdict
        self._exchange()

    def _exchange(self) -> None:
        self._refreshed_s = time.monotonic()
        if self._exchanging is None or self._exchanging.done():
            self._exchanging = tasks.start(
                self._exchange_all(), name="exchange of render verdicts", died=self._events.publish
            )

    async def _exchange_all(self) -> None:
        with contextlib.suppress(RedisError):  # what isn't told is told with what comes next
            await self._share()
            verdicts = await self._verdicts.all()
            self._shared = {key: self._same(key, verdict) for key, verdict in verdicts.items()} | self._to_share
            await self._share()  # what was decided meanwhile: nothing may come next

    async def _share(self) -> None:
        while self._to_share:
            (site, frontier), verdict = next(iter(self._to_share.items()))
            await self._verdicts.put(site, frontier, verdict)
            if self._to_share.get((site, frontier)) is verdict:
                del self._to_share[site, frontier]

    def _same(self, key: tuple[str, str], verdict: RenderVerdict) -> RenderVerdict:
        """Returns a verdict as it was known already, so that it isn't taken for a new one."""
        old = self._shared.get(key)
        return old if old == verdict else verdict
