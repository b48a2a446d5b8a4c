"""Tables of pages in docs/ that repeat what the code says: `make reference` writes them, tests compare them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from documents.walk import ROOT

from crawler.base.item import item_schema
from crawler.cluster.metrics import metrics
from crawler.cluster.overview import FrontierOverview, Overview, RedisOverview
from crawler.frontier.ledger import Account
from crawler.telemetry.exposition import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator

# A crawl in which each metric has a sample: its labels are known by that.
OVERVIEW = Overview(
    at_ms=0,
    frontiers={"content": FrontierOverview()},
    turns_held=0,
    ledger={("plan", "site"): {"content": Account(failures={"http-404": 1})}},
    ledgers=1,
    plan_states={"plan": "active"},
    totals={"status:200": 1, "failed:http-404": 1, "retried:timeout": 1, "site:site:finished": 1},
    workers=[defaultdict(int, node="node", state="alive", sinks_down=["kafka"])],
    redis=[RedisOverview("redis", 1, 2, saves=True)],
)


def item_fields() -> Iterator[str]:
    """Yields a row for each field of an item."""
    for name, about in item_schema()["properties"].items():
        yield f"| `{name}` | {about['description']} |\n"


def crawl_metrics() -> Iterator[str]:
    """Yields a row for each metric of the crawl."""
    for metric in metrics(OVERVIEW):
        name = metric.name + TOTAL * (metric.kind == "counter")
        labels = " ".join(f"`{label}`" for label in metric.samples[0][0])
        yield f"| `{name}` | {metric.kind} | {labels} | {metric.about} |\n"


TABLES = {
    "downstream.md": ("| field | |\n|---|---|\n", item_fields),
    "metrics.md": ("| metric | type | labels | what it is |\n|---|---|---|---|\n", crawl_metrics),
}


def with_table(page: str) -> str:
    """Returns the text of a page with its table as the code has it."""
    head, rows = TABLES[page]
    before, table_head, table = (ROOT / "docs" / page).read_text("utf-8").partition(head)
    below = table.partition("\n\n")[2]
    return "".join([before, table_head, *rows(), "\n", below])


if __name__ == "__main__":
    for page in TABLES:
        text = with_table(page)
        (ROOT / "docs" / page).write_text(text, encoding="utf-8")
