"""What a worker tells of itself: figures for operators and other workers, counts of the crawl, lines in its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler import __version__
from crawler.worker.reports.answer_counts import AnswerTally
from crawler.worker.reports.answer_outbox import AnswerOutbox
from crawler.worker.reports.claims_log import ClaimsLog
from crawler.worker.reports.failure_log import FailureLog
from crawler.worker.reports.figures import Figures, load_figures
from crawler.worker.reports.item_outbox import ItemOutbox
from crawler.worker.reports.tally import Tally

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.base.events import Events
    from crawler.base.models import Frontier
    from crawler.worker.claiming.claiming import Claiming
    from crawler.worker.config import WorkerConfig
    from crawler.worker.duties import Duties
    from crawler.worker.life.life import Life
    from crawler.worker.rendering.browser_at_hand import BrowserAtHand

LOOK_SECONDS = 1.0  # how often it is looked at what there is to tell


class Reports:
    """All that is told of one worker, most of it after each renewal of its session.

    Attributes:
        figures: Its state, for `scrapy nodes` and for the other workers of its node.
        tally: What it has done, for the history of the whole crawl.
        answers: What came back for its requests, for the hours of the whole crawl.
        newest_items: The items that people can look at.
    """

    def __init__(
        self,
        config: WorkerConfig,
        frontier: Frontier,
        life: Life,
        claiming: Claiming,
        browser: BrowserAtHand,
        *,
        events: Events,
        duties: Duties,
        stats: StatsCollector,
    ) -> None:
        keys = config.frontier.keys
        self._life, self._claiming, self._browser = life, claiming, browser
        self._node_weight = config.node_weight
        self._identity = {"version": __version__, "frontier": frontier}
        self._claims_log = ClaimsLog()
        self._failure_log = FailureLog(events)
        self._failed_answers = AnswerOutbox(keys, events, config.failed_answers_bytes, config.redaction)
        self.figures = Figures(keys, events, config.frontier.session_s, life.headroom, self._identity)
        self.tally = Tally(keys, events, stats)
        self.answers = AnswerTally(keys, events, config.stats_s)
        self.newest_items = ItemOutbox(keys, events, config.newest_items_bytes)
        duties.add(LOOK_SECONDS, lambda: self._claims_log.tick(claiming.why_none()))
        duties.add(LOOK_SECONDS, self._failure_log.tick)
        duties.add(LOOK_SECONDS, self.tally.collect)
        duties.add(LOOK_SECONDS, self._update_figures)

    def close(self) -> None:
        """Logs what wasn't logged yet; the rest is told when the session ends. Visits may fail until it is called."""
        self._failure_log.close()
        self.tally.collect()

    def _update_figures(self) -> None:
        life, claiming, limits = self._life, self._claiming, self._life.headroom.limits
        wants_browser = claiming.claims.left_seeds_in or self._browser.is_wanted
        self.figures.latest = {
            **self._identity,
            "carrying": claiming.claims.carrying,
            "pages_per_minute": round(life.headroom.rate.per_second() * 60),
            "room": claiming.room(),
            "why_no_claims": claiming.why_none(),
            "why_no_browser": self._browser.why_no_browser if wants_browser else "",
            "drained": life.orders.drained,
            "memory_limit_percent": limits.memory_percent,
            "cpu_limit_percent": limits.cpu_percent,
            "first_batch": limits.first_batch,
            "weight": life.headroom.weight(self._node_weight),
            "sinks_down": claiming.sinks_down,
            "redis_full": claiming.redis_full.now,
            "egress_down_s": round(life.egress.down_s),
            **load_figures(life.headroom.sampler.load),
        }
