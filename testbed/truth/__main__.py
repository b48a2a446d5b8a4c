"""Crawls real applications and compares what comes out with their own data.

Each is started on loopback, filled with the same articles, crawled with its site file and once more without selectors.
When the command returns, all that it started has ended. The exit status is 1 where a crawl falls short of the marks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from crawler.base.errors import HeadroomError
from crawler.cli.output import print_error, print_json
from testbed.applications import APPLICATIONS
from testbed.applications.articles import ARTICLES
from testbed.truth.report import as_json, shortfalls, table, verdicts
from testbed.truth.run import run

TABLE_CHARACTERS = 140  # all columns on one line each, also where a terminal is narrower


def main() -> int:
    """Runs all and returns the exit status: 0; 1 with what is wrong."""
    parser = argparse.ArgumentParser(usage='make truth [ARGS="trac --articles 50"]', description=__doc__)
    parser.add_argument("names", nargs="*", metavar="APPLICATION", help=f"of {', '.join(APPLICATIONS)}; all if none")
    parser.add_argument("--articles", type=int, default=ARTICLES, help="in each application; %(default)s if not given")
    parser.add_argument(
        "--auto",
        action="store_true",
        help="leave it to the crawl which pages a browser renders, as `render: auto` does",
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave data, logs and items in this new folder")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if unknown := set(options.names) - set(APPLICATIONS):
        parser.error(f"no such application: {', '.join(sorted(unknown))}; there are {', '.join(APPLICATIONS)}")
    console = Console(stderr=options.json, highlight=False)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="headroom-truth-") as temporary:
        folder = (options.keep or Path(temporary)).absolute()
        try:
            for outcome in run(options.names or list(APPLICATIONS), options.articles, folder, auto=options.auto):
                console.print(f"{outcome.application}: {outcome.seconds:.0f} s")
                outcomes.append(outcome)
        except HeadroomError as error:
            print_error(error, {})
            return 1
    if options.json:
        print_json({"applications": [as_json(outcome) for outcome in outcomes]})
    else:
        console.width = TABLE_CHARACTERS
        console.print(table(outcomes))
        for line in (line for outcome in outcomes for line in verdicts(outcome)):
            console.print(line, markup=False, soft_wrap=True)
    short = [line for outcome in outcomes for line in shortfalls(outcome)]
    for line in short:
        console.print(line, markup=False, soft_wrap=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
