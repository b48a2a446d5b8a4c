"""Which of a plan's searches come first, and which aren't worth a request: its key `searches`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crawler.base.yamlfile import Part


class PlanSearches(Part):
    """In which order search pages are asked for, and from when on they aren't any more."""

    order: Literal["yield", "plan"] = Field(
        "yield",
        description="`yield`: of a site's search pages those come first that are expected to bring the most new pages, "
        "as the plan's searches with the same words, and the page before, have shown; the others come later, each at "
        "a priority of up to five less, and none is left out. `plan`: as the plan names them, all first pages first, "
        "which is the order of a plan with a `schedule`.",
        examples=["plan"],
    )
    least_new: float | None = Field(
        None,
        ge=0,
        le=500,
        description="Search pages that are expected to bring fewer new pages aren't asked for. They fail as "
        "`low-yield`, so that `scrapy seeds list` names them; pages behind them are counted as `low-yield-pages`. "
        "The first page of a scheduled search is asked for all the same. Without this key all are.",
        examples=[0.5],
    )
