"""What the words of the ledger mean, for `scrapy ledger --help` and other help texts."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from crawler.base.reasons import (
    BUDGET,
    NOTES,
    REASONS,
    SCOPE,
    Reason,
    budget_reason,
    scope_note,
    scope_reason,
    status_reason,
)
from crawler.cli.command import help_entry, help_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.base.reasons import Note

# What `finished` means for whoever wants a page once more.
FINISHED_PAGES = (
    "A finished page isn't fetched again: a further plan that wants it is told of its item, and has it fetched once "
    "more only if it led to further pages, or its item lacks something. To have a page again all the same, give its "
    "site another name (a copy of its file, with that name in it) and offer the page or submit the plan to that: sites "
    "don't share pages, and its item then comes with another `id`. Search pages of a plan with a `schedule` are "
    "visited again by themselves."
)
_STATUS = re.compile(r"http-(\d{3})")


def meaning(word: str) -> str:
    """Returns what a reason says of a page, by its word in the ledger; empty for one of a user's parser or pipeline."""
    if status := _STATUS.fullmatch(word):
        return status_reason(int(status[1])).meaning
    if word in REASONS:
        return REASONS[word].meaning
    if word.startswith(BUDGET):
        return budget_reason(word.removeprefix(BUDGET).replace("-", "_")).meaning
    if word.startswith(SCOPE):
        return scope_reason(word.removeprefix(SCOPE)).meaning
    return ""


def legend() -> str:
    """Returns all words with their meanings, as lines of the help text."""
    of_statuses = Reason("http-NNN", "its host answers with this status, such as http-404")
    own = "Other words are those of your own parsers and pipelines. scrapy seeds list --reason WORD shows the pages."
    parts = [
        "Words after `failed`, and why pages are tried again",
        *_lines([of_statuses, scope_reason("NAME"), budget_reason("NAME"), *REASONS.values()]),
        "",
        *textwrap.wrap(own, help_width()),
        "",
        "Words after `besides`",
        *_lines([*NOTES.values(), scope_note("NAME")]),
    ]
    return "\n".join(parts)


def _lines(words: Iterable[Reason | Note]) -> list[str]:
    return [line for word in words for line in help_entry(f"  {word}", word.meaning)]
