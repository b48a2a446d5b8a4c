"""The ledger as JSON values and as a table: where every offered seed is, by plan and site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.base.text import one_line
from crawler.cli.output import quantity
from crawler.cli.text_tables import print_table
from crawler.frontier.ledger import Account

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.frontier.ledger import Ledger

COLUMNS = ("offered", "known", "ready", "executing", "finished", "failed", "difference")


def ledger_as_json(ledger: Ledger) -> dict[str, Any]:
    """Returns the ledger as JSON values: `total`, and `rows`, one for each plan and site.

    A row has the sums of both frontiers, and below `nav` and `content` those of each.
    """
    rows, total = [], Account()
    for (plan, site), accounts in sorted(ledger.items()):
        both = Account()
        for account in accounts.values():
            both.add(account)
        total.add(both)
        nav, content = accounts["nav"].as_dict(), accounts["content"].as_dict()
        rows.append({"plan": plan, "site": site} | both.as_dict() | {"nav": nav, "content": content})
    return {"rows": rows, "total": total.as_dict()}


def print_ledger(ledger: dict[str, Any]) -> None:
    """Prints what `ledger_as_json` returned: a table, and below it the failures by reason and what else was counted.

    Args:
        ledger: It may also have what a recount says: the `problems` that it has found, how many seeds that
            aren't finished it `counted`, how many that are (`counted_finished`), and how many `seconds` that took.
    """
    if not ledger["rows"]:
        print("nothing was offered yet; scrapy plan submit FILE begins")
    else:
        print_table(("", *COLUMNS), _table_rows(ledger), bold_last=True)
    lines = [
        f"{label}, {row['plan']} {row['site']}: {_by_count(row[kind])}"
        for kind, label in (("failures", "failed"), ("notes", "besides"))
        for row in ledger["rows"]
        if row[kind]
    ]
    if lines:
        print()
    lines += [f"problem: {problem}" for problem in ledger.get("problems", ())]
    if "counted" in ledger:
        lines.append(_verdict(ledger))
    for line in lines:
        print(one_line(line))


def _verdict(ledger: dict[str, Any]) -> str:
    """Returns what a recount says, in one line."""
    seeds = f"{quantity(ledger['counted'], 'unfinished seed')} and {ledger['counted_finished']:,} finished"
    problems = quantity(len(ledger["problems"]), "problem") if ledger["problems"] else "all agrees"
    return f"verified {seeds}, of all plans, in {ledger['seconds']:.1f} s: {problems}"


def _table_rows(ledger: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for row in ledger["rows"]:
        yield f"{row['plan']} {row['site']}", *(row[name] for name in COLUMNS)
        for frontier in ("nav", "content"):
            yield f"  {frontier}", *(row[frontier][name] for name in COLUMNS)
    yield "all", *(ledger["total"][name] for name in COLUMNS)


def _by_count(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{word} {number:,}" for word, number in ordered)
