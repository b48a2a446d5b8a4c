"""What `scrapy plan check` prints: combinations, seeds and cost of a plan, and what may be wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.text import one_line

if TYPE_CHECKING:
    from crawler.plans import Check


def print_check(check: Check) -> None:
    """Prints a dry run."""
    from rich.console import Console
    from rich.table import Table

    width = len(str(len(check.combinations)))
    amounts = ((len(check.combinations), "combination"), (check.nav_seeds, "search page"), (len(check.sites), "site"))
    print(f"plan {check.plan}:", ", ".join(f"{number:,} {thing}{'s' * (number != 1)}" for number, thing in amounts))
    print()
    for number, words in enumerate(check.combinations, 1):
        print(f"  {number:>{width}}  {_joined(words)}")
    print()
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for name in ("site", "host"):
        table.add_column(name, overflow="fold")
    for name in ("search pages", "all pages", "time"):
        table.add_column(name, justify="right")
    for share in check.sites:
        numbers = (f"{share.nav_seeds:,}", f"{share.pages_at_most:,}", _duration(share.hours_at_most))
        table.add_row(share.site, share.host, *numbers)
    if len(check.sites) > 1:
        table.add_row(
            "all", "", f"{check.nav_seeds:,}", f"{check.pages_at_most:,}", _duration(check.hours_at_most), style="bold"
        )
    Console(highlight=False, markup=False, emoji=False).print(table)
    print("\nPages and time are upper bounds: every result is new; images and later pages of a thread come on top.")
    for line in _hints(check):
        print(line)


def _hints(check: Check) -> list[str]:
    lines = []
    if check.overlaps:
        pair = check.overlaps[0]
        number = f"{len(check.overlaps)} or more" if check.more_overlaps else str(len(check.overlaps))
        example = f"{_joined(pair.wider)} finds all that {_joined(pair.narrower)} finds"
        lines.append(f"Overlap: {number} pairs of combinations, such as: {example}.")
    if check.unused:
        lines.append(f"Not in match, so never searched: {', '.join(check.unused)}.")
    if check.interval_s:
        lines.append(f"Runs every {_duration(check.interval_s / 3_600)}; pages that are known are not fetched again.")
    return lines


def _joined(words: tuple[str, ...]) -> str:
    return " + ".join(one_line(word) for word in words)


def _duration(hours: float) -> str:
    """Returns a time as a person says it: 40 s, 12 min, 3.5 h, 4.2 days."""
    seconds = hours * 3_600
    for unit_s, unit in ((86_400 * 2, "days"), (3_600, "h"), (60, "min")):
        if seconds >= unit_s:
            return f"{seconds / (86_400 if unit == 'days' else unit_s):.3g} {unit}"
    return f"{seconds:.0f} s"
