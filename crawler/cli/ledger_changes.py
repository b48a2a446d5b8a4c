"""By how much a ledger differs from one that was saved before: more by what was done since, less where Redis forgot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from scrapy.exceptions import UsageError

from crawler.base.errors import InputError, shown
from crawler.cli.ledger_table import COLUMNS
from crawler.cli.text_tables import print_table
from crawler.frontier.ledger import FRONTIERS


def saved_ledger(name: str) -> dict[str, Any]:
    """Returns what `scrapy ledger --json` has printed to a file.

    Raises:
        UsageError: The file can't be read.
        InputError: It holds something else.
    """
    try:
        ledger: dict[str, Any] = orjson.loads(Path(name).read_bytes())
        _by_row(ledger)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(name, 0, "", "something else", "what scrapy ledger --json has printed") from None
    return ledger


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns for each plan and site whose counts differ by how much they do, now less before, as JSON values.

    Each has `plan`, `site`, `nav` and `content` with the columns of the ledger, and `is_gone`: the ledger that was
    saved has it, and this one doesn't.
    """
    old, new = _by_row(before), _by_row(now)
    nothing = {frontier: dict.fromkeys(COLUMNS, 0) for frontier in FRONTIERS}
    rows = []
    for plan, site in sorted(old.keys() | new.keys()):
        then, today = old.get((plan, site), nothing), new.get((plan, site), nothing)
        if then != today:
            by: dict[str, Any] = {}
            for frontier in FRONTIERS:
                by[frontier] = {name: today[frontier][name] - then[frontier][name] for name in COLUMNS}
            rows.append({"plan": plan, "site": site, "is_gone": (plan, site) not in new, **by})
    return rows


def print_changes(answer: dict[str, list[dict[str, Any]]]) -> None:
    """Prints what `changes` returned: a table, and below it what isn't there any more."""
    rows = answer["changes"]
    if not rows:
        print("nothing has changed")
        return
    print_table(
        ("", *COLUMNS),
        (
            (f"{row['plan']} {row['site']} {frontier}", *(row[frontier][name] for name in COLUMNS))
            for row in rows
            for frontier in FRONTIERS
            if any(row[frontier].values())
        ),
    )
    if gone := sorted({row["plan"] for row in rows if row["is_gone"]}):
        print("\nnot there any more:", ", ".join(map(shown, gone)))


def _by_row(ledger: dict[str, Any]) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    """Returns the counts of each frontier by plan and site."""
    return {
        (str(row["plan"]), str(row["site"])): {
            frontier: {name: int(row[frontier][name]) for name in COLUMNS} for frontier in FRONTIERS
        }
        for row in ledger["rows"]
    }
