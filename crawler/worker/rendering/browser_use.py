"""What a worker knows of rendering: whether it has a browser, and which sites' pages need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.render_verdicts import RenderVerdicts
from crawler.worker.rendering.browser_at_hand import BrowserAtHand
from crawler.worker.rendering.render_choice import RenderChoice

if TYPE_CHECKING:
    import asyncio

    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.worker.config import WorkerConfig
    from crawler.worker.duties import Duties

LOOK_SECONDS = 1.0  # between two looks for a browser


class BrowserUse:
    """The browser of one worker, and what it is for.

    Args:
        wake: Set when a browser has come: more may be claimed with one.

    Attributes:
        browser: Whether this worker can render pages.
        choice: Whether pages of sites that leave it to the crawl are rendered.
    """

    def __init__(
        self, config: WorkerConfig, redis: Redis, wake: asyncio.Event, *, events: Events, duties: Duties
    ) -> None:
        self._wake = wake
        self.browser = BrowserAtHand(config.browser_path)
        verdicts = RenderVerdicts(redis, config.frontier.keys)
        self.choice = RenderChoice(verdicts, config.render_look_again_s, events)
        duties.add(LOOK_SECONDS, self._look)

    async def close(self) -> None:
        """Stops what goes on in the background."""
        await self.choice.close()

    def _look(self) -> None:
        if self.browser.look():
            self._wake.set()
