"""How much of a crawl a plan may have: its key `budget`."""

from __future__ import annotations

from pydantic import Field

from crawler.base.yamlfile import Part

MOST = 1 << 53  # beyond this, JSON's readers lose digits


class PlanBudget(Part):
    """Bounds for all content pages of a plan together, over all workers; searches are bounded by the plan's `pages`."""

    pages: int | None = Field(
        None, ge=1, le=MOST, description="Most content pages that are asked for; tries count.", examples=[10_000]
    )
    items: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="Items after which no page is asked for any more. Those in flight then are delivered, too.",
        examples=[1_000],
    )
    bytes: int | None = Field(
        None, ge=1, le=MOST, description="Bytes of pages, decoded, after which likewise.", examples=[1_000_000_000]
    )
    seconds: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="Seconds from its first page after a submission, after which likewise.",
        examples=[86_400],
    )
    per_host: int | None = Field(
        None, ge=1, le=MOST, description="Most content pages that are asked of one host; tries count.", examples=[500]
    )
    per_domain: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="Likewise, of all hosts of one registrable domain, as the public suffix list has it.",
        examples=[2_000],
    )
    per_depth: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="Likewise, of each depth: of start pages, of those that they link to, and so on.",
        examples=[5_000],
    )
    per_template: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="Likewise, of one kind of address on a host: of those that differ by digits, ids, dates, what "
        "their query says, and what stands below their second folder.",
        examples=[300],
    )
