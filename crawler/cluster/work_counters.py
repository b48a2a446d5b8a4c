"""What was done, as counters for Prometheus: of the whole crawl, and of one worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.cluster.activity import family
from crawler.telemetry.exposition import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Name in the history of the crawl -> the metric's name, its label and its sentence; a name that ends in `:` is that of
# a family of counts, one for each value of the label.
COUNTERS = {
    "pages": ("pages", "", "Answers of hosts, of whatever status."),
    "items": ("items", "", "Items that all sinks have acknowledged."),
    "bytes": ("received_bytes", "", "Bytes of the answers, as they came."),
    "status:": ("responses", "code", "Answers of hosts, by HTTP status."),
    "failed:": ("failures", "reason", "Seeds that failed for good, by reason."),
    "retried:": ("retries", "reason", "Tries that failed and are repeated, by reason."),
}


def work_counters(
    counts: Mapping[str, int], prefix: str, bounded: Callable[[str, Mapping[str, int]], Mapping[str, int]]
) -> list[Metric]:
    """Returns a counter for each count, or, of a family of them, one with a sample for each.

    Args:
        counts: By their names in the history.
        prefix: With which the metrics' names begin.
        bounded: Given a label and its values with their counts, returns those that have samples.
    """
    counters = []
    for name, (metric, label, about) in COUNTERS.items():
        samples: tuple[tuple[Mapping[str, str], float], ...] = (({}, counts.get(name, 0)),)
        if label:
            values = bounded(label, family(counts, name))
            samples = tuple(({label: value}, number) for value, number in values.items())
        counters.append(Metric(f"{prefix}_{metric}", "counter", about, samples))
    return counters
