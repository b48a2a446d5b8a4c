"""Which links of one page a plan follows: those that its `follow`, or its site's, wants and its `scope` allows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.plans.plan_follow import PlanFollow
    from crawler.sites.follow import Follow
    from crawler.worker.definitions.plan_crawl import PlanCrawl


class PageLinks:
    """A rule for the links of one page, which a single thread asks.

    Attributes:
        crawl: What the plan says.
        seed: The page, as the plan wants it.
        follow: Whose bounds count: the plan's, or those of the page's site.
        refused: How many links the plan's scope has refused, by filter.
    """

    def __init__(self, crawl: PlanCrawl, seed: Seed, follow: PlanFollow | Follow) -> None:
        self.crawl, self.seed, self.follow = crawl, seed, follow
        self.refused: Counter[str] = Counter()

    @property
    def per_page(self) -> int:
        """Most links of the page that are followed."""
        return self.follow.per_page

    @property
    def wants_words(self) -> bool:
        """Whether the plan's scorer asks for what stands on links, beside them, and on their page."""
        return self.crawl.scorer.wants_words

    def wants(self, url: str, page_url: str) -> bool:
        """Returns whether a link is followed; both addresses are canonical."""
        if not self.crawl.wants(url, page_url, self.follow):
            return False
        if name := self.crawl.refusal(url, self.seed.depth + 1, page_url):
            self.refused[name] += 1
        return not name
