"""Metrics as Prometheus reads them, in its text formats.

Two formats are written: Prometheus's own text (0.0.4), and OpenMetrics 1.0 where the reader asks for it. They differ in
a counter's name above its samples, in the units, and in the last line.

Source: prometheus.io/docs/instrumenting/exposition_formats; the OpenMetrics specification, 1.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from crawler.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
UNITS = ("bytes", "seconds", "ratio")  # base units, one of which ends the name of what is measured in it
TOTAL = "_total"  # ends the name of each counter's samples


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with all its samples.

    Attributes:
        name: Without `_total`, which is added to a counter's samples.
        kind: A `counter` never falls, but where it begins anew; a `gauge` may.
        about: What it is, in one sentence.
        samples: Each with its labels. A label's value is made inert, so it may be any text.
    """

    name: str
    kind: Literal["counter", "gauge"]
    about: str
    samples: tuple[tuple[Mapping[str, str], float], ...]


def exposition(metrics: Iterable[Metric], accept: str = "") -> tuple[str, bytes]:
    """Returns metrics as text, and its content type. Metrics without samples are left out.

    Args:
        accept: The `Accept` header of whoever reads them. OpenMetrics is written where it is named.
    """
    is_open = "application/openmetrics-text" in accept
    lines = [line for metric in metrics if metric.samples for line in _lines(metric, is_open=is_open)]
    if is_open:
        lines.append("# EOF")
    return OPENMETRICS if is_open else TEXT, "".join(f"{line}\n" for line in lines).encode()


def _lines(metric: Metric, *, is_open: bool) -> Iterator[str]:
    sample_name = metric.name + TOTAL if metric.kind == "counter" else metric.name
    name = metric.name if is_open else sample_name
    yield f"# HELP {name} {_escaped(metric.about)}"
    yield f"# TYPE {name} {metric.kind}"
    unit = metric.name.rpartition("_")[2]
    if is_open and unit in UNITS:
        yield f"# UNIT {name} {unit}"
    for labels, value in metric.samples:
        pairs = ",".join(f'{label}="{_escaped(one_line(text))}"' for label, text in labels.items())
        yield f"{sample_name}{{{pairs}}} {value:.15g}" if pairs else f"{sample_name} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
