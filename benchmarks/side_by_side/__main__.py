"""Runs the contenders alternately, several rounds, and prints the tables: `make bench`, or

.venv/bin/python -m benchmarks.side_by_side --rounds 3 --pages 20000 --only aiohttp,files
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.side_by_side import pages, report
from benchmarks.side_by_side.contenders import CONTENDERS, CRAWLER_CORE, SERVERS_CORE, Contender, Round
from benchmarks.side_by_side.install import CACHE
from benchmarks.side_by_side.measure import Measurement, measure
from benchmarks.side_by_side.servers import Nginx
from crawler.errors import HeadroomError, UnavailableError


def main() -> int:
    """Returns 0, or 1 when a run went wrong."""
    options = _options()
    if not {SERVERS_CORE, CRAWLER_CORE} <= os.sched_getaffinity(0):
        print("two cores are needed: one for the servers, one for the crawler", file=sys.stderr)
        return 1
    try:
        contenders = _installed([one for one in CONTENDERS if options.only is None or one.name in options.only])
        pages.write(CACHE / "pages", options.pages)
        results = _run(contenders, options.rounds, options.pages)
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    titles = {one.name: one.title for one in CONTENDERS}
    now = datetime.now(UTC)
    print(f"\n{options.rounds} rounds of {options.pages:,} pages, {now:%Y-%m-%d}:\n")
    print(report.tables(results, titles))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Ours and other crawlers side by side")
    parser.add_argument("--rounds", type=int, default=3, help="of all of them, one after the other (default 3)")
    parser.add_argument("--pages", type=int, default=20_000, help="of one run (default 20000)")
    parser.add_argument("--only", type=_names, help=f"some of {','.join(one.name for one in CONTENDERS)}")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names, known = text.split(","), {one.name for one in CONTENDERS}
    if unknown := set(names) - known:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return names


def _installed(contenders: list[Contender]) -> list[Contender]:
    """Installs them; returns those that can take part, and says why the others can't."""
    there = []
    for one in contenders:
        try:
            one.install()
        except UnavailableError as error:
            print(f"{one.title}: left out. {error}", flush=True)
        else:
            there.append(one)
    return there


def _run(contenders: list[Contender], rounds: int, number: int) -> dict[str, list[Measurement]]:
    """Runs them all.

    Raises:
        HeadroomError: A run failed, or lost a page.
    """
    os.sched_setaffinity(0, [SERVERS_CORE])  # this process and all servers; crawlers are moved to theirs
    results: dict[str, list[Measurement]] = {one.name: [] for one in contenders}
    with tempfile.TemporaryDirectory(prefix="bench-") as name, Nginx(Path(name), CACHE / "pages") as nginx:
        for turn in range(rounds):
            for one in contenders:
                folder = Path(name) / f"{turn}-{one.name}"
                folder.mkdir()
                with one.ready(Round(folder, nginx, number)) as job:
                    taken = measure(one.name, job.commands, nginx, number, folder)
                    taken = replace(taken, notes=job.notes())
                    job.verify()
                results[one.name].append(taken)
                print(
                    f"round {turn + 1}: {one.title}: {taken.pages_per_min:,.0f} pages/min, "
                    f"{taken.cpu_s:.3f} CPU s for 1,000 pages",
                    flush=True,
                )
                shutil.rmtree(folder)
    return results


if __name__ == "__main__":
    sys.exit(main())
