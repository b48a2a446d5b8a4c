"""What plans say, for workers: a plan's record as it is in Redis, some milliseconds after a command has changed it.

A feature of plans reads what it needs of `PlanRecord.definition` here, by the name of the plan that a seed has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

from crawler.base import log_events
from crawler.plans.plan_record import PlanRecord
from crawler.worker.definitions.definition_cache import DefinitionCache
from crawler.worker.life.wakeups import PlansChanged

if TYPE_CHECKING:
    from crawler.base.events import Events
    from crawler.plans.registry import Registry

MAX_PLANS = 100  # most plans that are kept; a plan has 100 kB at most, and 2 kB as a rule


class PlanCache(DefinitionCache[PlanRecord]):
    """Records of plans; `PlanRecord.edition` and `version` say which one it is."""

    noun = "plan"
    damaged = log_events.PLAN_DAMAGED
    unknown = log_events.PLAN_UNKNOWN

    def __init__(self, registry: Registry, events: Events) -> None:
        known: LocalCache[str, PlanRecord] = LocalCache(MAX_PLANS)
        super().__init__(registry.records, known, events)
        events.subscribe(PlansChanged, lambda _event: self.expire())
