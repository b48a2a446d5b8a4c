"""Charts as SVG, drawn by the server: they need no script, and a text says what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 600, 100  # the size of the drawing, which is stretched to whatever place there is


def area(values: Sequence[float], label: str) -> Markup:
    """Returns a line over the area below it, from 0 up to the largest value; a flat line where there is nothing.

    Args:
        values: At equal distances in time, the oldest first.
        label: What somebody who doesn't see it is told.
    """
    peak = max(values, default=0) or 1
    across = WIDTH / max(1, len(values) - 1)
    points = " ".join(
        f"{place * across:.1f},{HEIGHT - value / peak * HEIGHT:.1f}" for place, value in enumerate(values)
    )
    return Markup(
        '<svg class="chart" viewBox="0 -2 {width} {tall}" preserveAspectRatio="none" role="img" aria-label="{label}">'
        '<polygon class="area" points="0,{height} {points} {width},{height}"/>'
        '<polyline class="line" points="{points}"/></svg>'
    ).format(width=WIDTH, tall=HEIGHT + 4, height=HEIGHT, points=points, label=label)


def lines(values: Sequence[Sequence[float | None]], top: float, label: str) -> Markup:
    """Returns lines over each other, in classes `line-0`, `line-1`...; each is broken where its value is missing."""
    drawn = Markup()
    for number, line in enumerate(values):
        across = WIDTH / max(1, len(line) - 1)
        for piece in _pieces(line):
            points = " ".join(f"{at * across:.1f},{HEIGHT - min(value / top, 1) * HEIGHT:.1f}" for at, value in piece)
            drawn += Markup('<polyline class="line line-{}" points="{}"/>').format(number, points)
    return Markup(
        '<svg class="chart small" viewBox="0 -2 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, HEIGHT + 4, label, drawn)


def _pieces(line: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Returns the parts of a line between missing values, as places and values; of one place a short stroke."""
    pieces: list[list[tuple[int, float]]] = [[]]
    for place, value in enumerate(line):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append((place, value))
    return [piece if len(piece) > 1 else [piece[0], (piece[0][0] + 1, piece[0][1])] for piece in pieces if piece]


def stack(parts: Sequence[tuple[str, float]], label: str) -> Markup:
    """Returns a bar of parts one after the other, each with a class of its own; an empty one where all are 0."""
    whole = sum(size for _name, size in parts) or 1
    bars, begin = Markup(), 0.0
    for name, size in parts:
        width = size / whole * WIDTH
        bars += Markup('<rect class="state-{}" x="{}" width="{}" y="0" height="10"/>').format(
            name, f"{begin:.1f}", f"{width:.1f}"
        )
        begin += width
    return Markup(
        '<svg class="stack" viewBox="0 0 {} 10" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, label, bars)
