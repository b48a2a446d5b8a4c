"""`scrapy plan ACTION`: an analyst's plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand, one_line, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from crawler.plans import Check, Plan

# What each action takes, and does: the help and the check of the command line read it from here.
ACTIONS = {
    "check": ("FILE", "show a plan's combinations, seeds, overlap and cost; nothing is sent"),
}


class Command(HeadroomCommand):
    """`scrapy plan check FILE`."""

    def syntax(self) -> str:
        """Returns what follows `scrapy plan`."""
        return "ACTION [FILE]"

    def short_desc(self) -> str:
        """Returns the line in the list of commands."""
        return f"Plans: {', '.join(ACTIONS)}"

    def long_desc(self) -> str:
        """Returns the text above the options."""
        return "; ".join(f"{action} {takes}: {text}" for action, (takes, text) in ACTIONS.items())

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Does one action."""
        actions: dict[str, Callable[[list[str], argparse.Namespace], None]] = {"check": self._check}
        action, *rest = args or [""]
        if action not in actions:
            raise UsageError(f"{action or 'nothing'} after plan, expected one of {', '.join(actions)}")
        takes = ACTIONS[action][0].split()
        if len(rest) != len(takes):
            raise UsageError(f"plan {action}: expected {' '.join(takes)}")
        actions[action](rest, opts)

    def read(self, path: str) -> Plan:
        """Returns the plan in a file.

        Raises:
            InputError: It isn't one, or has more nav seeds than PLAN_MAX_SEEDS.
            ConfigError: A setting that it needs is wrong.
        """
        from crawler import config, plans

        max_seeds = config.whole(self.values, "PLAN_MAX_SEEDS", 1, plans.SEEDS_MAX)
        return plans.load(path, sites_dir=self.values["SITES_DIR"] or "", max_seeds=max_seeds)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler import plans

        result = plans.check(self.read(args[0]))
        if opts.json:
            print_json(result)
        else:
            _show(result)


def _show(check: Check) -> None:
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
