"""What `scrapy plan check` prints: a plan's combinations, seeds and cost, and what may be wrong with the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base.text import one_line
from crawler.cli.output import duration, quantity
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.plans import Check

ESTIMATE = (
    "Pages: if every result is new. Time: what they take at the pace that the sites allow. Slow answers, pages that "
    "are tried again, images and later pages of a thread come on top."
)
COLUMNS = ("site", "host", "search pages", "all pages", "time")


def print_check(check: Check, warnings: Sequence[str]) -> None:
    """Prints a dry run, with warnings at its end."""
    combinations = quantity(len(check.combinations), "combination")
    search_pages, sites = quantity(check.nav_seeds, "search page"), quantity(len(check.sites), "site")
    if check.start_pages or not check.combinations:
        starts, links = quantity(check.start_pages, "start page"), quantity(check.depth, "link")
        lists = (
            "" if check.combinations else f" and {quantity(check.nav_seeds, 'sitemap or feed')}" * bool(check.nav_seeds)
        )
        print(f"plan {check.plan}: {starts}{lists}; pages up to {links} away are crawled, as far as `follow` says")
        for line in check.skipped:
            print(one_line(line))
        for trial in check.patterns:
            pages = quantity(trial.tried, "start page")
            print(one_line(f"  {trial.key} {trial.pattern} matches {trial.matched:,} of {pages}"))
    if not check.combinations:
        for warning in warnings:
            print(one_line(warning))
        return
    print(f"plan {check.plan}: {combinations}, {search_pages}, {sites}\n")
    width = len(str(len(check.combinations)))
    for number, words in enumerate(check.combinations, 1):
        print(f"  {number:>{width}}  {_joined(words)}")
    print()
    rows = [
        (share.site, share.host, share.nav_seeds, share.pages_at_most, duration(3_600 * share.hours_at_most))
        for share in check.sites
    ]
    if several := len(check.sites) > 1:
        rows.append(("all", "", check.nav_seeds, check.pages_at_most, duration(3_600 * check.hours_at_most)))
    print_table(COLUMNS, rows, bold_last=several)
    print(f"\n{ESTIMATE}")
    for hint in _hints(check):
        print(hint)
    for warning in warnings:
        print(one_line(warning))


def _hints(check: Check) -> Iterator[str]:
    if check.overlaps:
        pair = check.overlaps[0]
        number = f"{len(check.overlaps)} or more" if check.more_overlaps else str(len(check.overlaps))
        example = f"{_joined(pair.wider)} finds all that {_joined(pair.narrower)} finds"
        yield f"Overlap: {number} pairs of combinations, such as: {example}."
    if check.unused:
        yield f"Not in match, so never searched: {', '.join(check.unused)}."
    if check.match_text:
        yield f"Pages are taken whose text has all words of a combination (match_text): {', '.join(check.match_text)}."
    if check.interval_s:
        yield f"Runs every {duration(check.interval_s)}; pages that are known are not fetched again."


def _joined(words: tuple[str, ...]) -> str:
    return " + ".join(one_line(word) for word in words)
