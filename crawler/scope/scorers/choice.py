"""Which scorer a plan's `order` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from crawler import config
from crawler.base.errors import ConfigError, PlanError, existing, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.scope.scorers.scorer import Scorer

SHIPPED = {
    "breadth-first": "crawler.scope.scorers.breadth_first.BreadthFirst",
    "focused": "crawler.scope.scorers.focused.Focused",
}


def scorer_class(order: str, settings: Mapping[str, Any]) -> type[Scorer]:
    """Returns the scorer of a name.

    Raises:
        PlanError: There is none of that name.
        ConfigError: LINK_SCORERS names what is no scorer.
    """
    paths = {**SHIPPED, **config.LINK_SCORERS.of(settings)}
    if order not in paths:
        raise PlanError(f"order: there is no {shown(order)}; {existing(order, paths, 'orders, with LINK_SCORERS')}")
    try:
        scorer: type[Scorer] = load_object(paths[order])
    except Exception as error:
        raise ConfigError("LINK_SCORERS", paths[order], f"the path of a scorer; loading it fails: {error}") from error
    if not all(hasattr(scorer, name) for name in ("of", "scores", "explanation", "wants_words")):
        raise ConfigError("LINK_SCORERS", paths[order], "the path of a class as crawler/scope/scorers/scorer.py has it")
    return scorer
