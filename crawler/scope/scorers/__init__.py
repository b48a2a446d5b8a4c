"""What links are worth: a plan's `order` chooses one of the classes that the setting LINK_SCORERS names."""

from crawler.scope.scorers.breadth_first import BreadthFirst
from crawler.scope.scorers.focused import Focused
from crawler.scope.scorers.scorer import Link, LinkScore, PageOfLinks, PlanTopic, Scorer

__all__ = ["BreadthFirst", "Focused", "Link", "LinkScore", "PageOfLinks", "PlanTopic", "Scorer"]
