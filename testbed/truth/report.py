"""The outcome as a table for people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from testbed.truth.marks import short_with_file, short_without_selectors

if TYPE_CHECKING:
    from testbed.truth.compare import Field, Score
    from testbed.truth.run import Comparison

COLUMNS = ("application", "read by", "pages", "twice", "title", "time", "author", "comments", "text F1", "worst")
EXAMPLES = 3  # of what is wrong with a field, for each crawl


def table(outcomes: list[Comparison]) -> Table:
    """Returns a row for each crawl; of a field it has right / shown, and what is wrong beside it."""
    made = Table(*COLUMNS, box=box.MARKDOWN)
    for outcome in outcomes:
        made.add_row(outcome.application, f"{outcome.lines} lines", *_cells(outcome.told))
        made.add_row("", "nothing", *_cells(outcome.bare, comments=False))
    return made


def verdicts(outcome: Comparison) -> list[str]:
    """Returns in words which pages were found to need a browser, and which not, and by what."""
    return [
        f"{one['site']}, {one['pages']}: {'rendered' if one['needs_browser'] else 'as they come'}; lacked"
        f" {', '.join(one['lacked']) or 'nothing'}, rendering brought {', '.join(one['brought']) or 'nothing'}"
        for one in outcome.verdicts
    ]


def shortfalls(outcome: Comparison) -> list[str]:
    """Returns in words what an application's crawls fall short of, each with examples."""
    return [
        *_explained(f"{outcome.application} with its file", short_with_file(outcome.told), outcome.told),
        *_explained(f"{outcome.application} without selectors", short_without_selectors(outcome.bare), outcome.bare),
    ]


def as_json(outcome: Comparison) -> dict[str, Any]:
    """Returns the figures of an application."""
    scores = {"with_file": outcome.told, "without_selectors": outcome.bare}
    return {
        "application": outcome.application,
        "lines": outcome.lines,
        "verdicts": outcome.verdicts,
        "seconds": round(outcome.seconds, 1),
        **{name: _figures(score) for name, score in scores.items()},
        "short": shortfalls(outcome),
    }


def _cells(score: Score, *, comments: bool = True) -> list[str]:
    shown = _cell(score.comments) if comments else ""
    fields = [_cell(score.title), _cell(score.time), _cell(score.author), shown]
    text = [f"{score.median_text:.3f}", f"{score.worst_text:.3f}"]
    return [f"{score.found}/{score.pages}", str(score.twice + len(score.strange)), *fields, *text]


def _cell(field: Field) -> str:
    if not field.shown and not field.wrong:
        return "-"
    return f"{field.right}/{field.shown}" + (f", {field.wrong} wrong" if field.wrong else "")


def _explained(crawl: str, short: list[str], score: Score) -> list[str]:
    if not short:
        return []
    fields = {name: field for name, field in _fields(score).items() if any(name in said for said in short)}
    examples = [f"    {name}: {one}" for name, field in fields.items() for one in field.examples[:EXAMPLES]]
    return [f"{crawl}: {'; '.join(short)}", *examples]


def _figures(score: Score) -> dict[str, Any]:
    fields = {name: [field.right, field.shown, field.wrong] for name, field in _fields(score).items()}
    pages = {"pages": score.pages, "found": score.found, "twice": score.twice, "strange": len(score.strange)}
    return pages | fields | {"text_median": score.median_text, "text_worst": score.worst_text}


def _fields(score: Score) -> dict[str, Field]:
    return {"title": score.title, "time": score.time, "author": score.author, "comments": score.comments}
