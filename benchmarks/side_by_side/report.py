"""The tables: medians, the spread of the rounds, and ratios."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from benchmarks.side_by_side.contenders import BARE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.side_by_side.measure import Measurement

MEBIBYTE = 1 << 20
FUNCTIONS = 40  # shown of a profile; those with the most time of their own


def tables(results: Mapping[str, Sequence[Measurement]], titles: Mapping[str, str]) -> str:
    """Returns the results as Markdown.

    Args:
        results: By a contender's name; at least one measurement each.
        titles: Likewise.
    """
    base = results.get(BARE)
    lines = [
        f"| crawler | pages/min | x {titles[BARE]} | CPU s / 1,000 pages | x | peak MiB | whole run s | its CPU s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, runs in results.items():
        cells = [
            titles[name],
            _spread(runs, lambda one: one.pages_per_min, "{:,.0f}"),
            _ratio(runs, base, lambda one: one.pages_per_min),
            _spread(runs, lambda one: one.cpu_s, "{:.3f}"),
            _ratio(runs, base, lambda one: one.cpu_s),
            _spread(runs, lambda one: one.peak_bytes / MEBIBYTE, "{:.0f}"),
            _spread(runs, lambda one: one.whole_s, "{:.1f}"),
            _spread(runs, lambda one: one.whole_cpu_s, "{:.1f}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    noted = {name: runs for name, runs in results.items() if runs[0].notes}
    if noted:
        columns = list(next(iter(noted.values()))[0].notes)
        lines += ["", f"| a page | {' | '.join(columns)} |", "|---|" + "--:|" * len(columns)]
        for name, runs in noted.items():
            cells = [_spread(runs, _note(column), "{:.3g}") for column in columns]
            lines.append(f"| {titles[name]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _note(name: str) -> Callable[[Measurement], float]:
    return lambda one: one.notes[name]


def _spread(runs: Sequence[Measurement], figure: Callable[[Measurement], float], form: str) -> str:
    values = sorted(map(figure, runs))
    median = form.format(statistics.median(values))
    return median if len(values) == 1 else f"{median} [{form.format(values[0])}..{form.format(values[-1])}]"


def _ratio(
    runs: Sequence[Measurement], base: Sequence[Measurement] | None, figure: Callable[[Measurement], float]
) -> str:
    if base is None:
        return ""
    return f"{statistics.median(map(figure, runs)) / statistics.median(map(figure, base)):.2f}"


def stages(seen: Mapping[str, Mapping[str, int]], taken: Measurement) -> str:
    """Returns where a run spent its time, as Markdown.

    Args:
        seen: What `sampler.py` wrote.
        taken: The run.
    """
    lines = []
    for title, most in (("stages", None), ("functions", FUNCTIONS)):
        total = sum(seen[title].values())
        rows = sorted(seen[title].items(), key=lambda row: -row[1])[:most]
        lines += ["", f"| {title} | CPU us / page | % |", "|---|--:|--:|"]
        lines += [f"| {name} | {1000 * taken.cpu_s * n / total:.0f} | {100 * n / total:.1f} |" for name, n in rows]
    return "\n".join(lines)
