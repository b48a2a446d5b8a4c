"""`make demo`: a whole crawl on this machine, from a plan to items, with every server started for it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from rich.console import Console

from crawler import logs
from crawler.cli.output import print_error, print_json
from crawler.errors import HeadroomError
from testbed import run, summary
from testbed.screen import Screen
from testbed.services import ADDRESSES

if TYPE_CHECKING:
    from testbed.services import Services
    from testbed.summary import Summary

SIGNALLED = 128  # what shells add to a signal's number for an exit status
DESCRIPTION = (
    "Runs plans/demo.yaml against a forum on this machine, with one producer and two consumers, and writes to "
    "demo-output. Servers that REDIS_URL, MONGO_URL and KAFKA_BOOTSTRAP_SERVERS name are used, under names of the "
    "demo's own; others are started. All that was started has ended, and all that was written to named servers is "
    "removed, when the command returns."
)


def main() -> int:
    """Runs the demo and sums it up; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m testbed", description=DESCRIPTION)
    parser.add_argument("--keep", action="store_true", help="keep the servers up afterwards, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and progress on stderr")
    options = parser.parse_args()
    named = {key: os.environ[key] for key in ADDRESSES.values() if os.environ.get(key)}
    logs.install(named)
    console = Console(stderr=options.json, highlight=False, emoji=False)

    def report(result: Summary, services: Services) -> None:
        if options.json:
            print_json(result)
            return
        summary.show(result, console)
        if options.keep:
            summary.show_kept(services, result, console)
        elif not result.problems:
            summary.show_next(result.plan, console)

    try:
        with Screen(console) as screen:
            result = run.run(named, screen, report, keep=options.keep)
        if result.problems:
            raise HeadroomError("; ".join(result.problems))  # noqa: TRY301 -- one place says what went wrong
    except run.Stopped as stopped:
        print("stopped: nothing of it is left running", file=sys.stderr)
        return SIGNALLED + stopped.number
    except HeadroomError as error:
        print_error(error, named)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
