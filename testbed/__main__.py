"""A whole crawl on this machine, from a plan to items.

Runs plans/demo.yaml against a forum of its own, with one producer and two consumers, and writes to demo-output. Servers
that REDIS_URL, MONGO_URL and KAFKA_BOOTSTRAP_SERVERS name are used, under a name of the demo's own in them; others are
started. When the command returns, all that it started has ended, and all that it wrote to named servers is removed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from testbed.stop_signals import StopSignals


def main() -> int:
    """Runs the demo and returns the exit status: 0; 1 with a line on stderr; 128 and the number of a signal."""
    parser = argparse.ArgumentParser(usage='make demo [ARGS="--keep --json"]', description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the servers up afterwards, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and progress on stderr")
    options = parser.parse_args()
    signals, status = StopSignals(), 0
    try:
        status = _run(signals, keep=options.keep, as_json=options.json)
    except SystemExit:
        if not signals.status:
            raise
    if signals.status:
        print("stopped: nothing of it is left running", file=sys.stderr)
    return signals.status or status


def _run(signals: StopSignals, *, keep: bool, as_json: bool) -> int:
    from rich.console import Console  # imported late, as the rest: a signal may come meanwhile

    from crawler.base.errors import HeadroomError
    from crawler.cli.output import print_error
    from crawler.config import logs
    from testbed.demo import demo
    from testbed.screen import Screen
    from testbed.services import ADDRESSES, SERVER_ERRORS

    named = {setting: os.environ[setting] for setting in ADDRESSES.values() if os.environ.get(setting)}
    logs.install(named)  # keeps the passwords in these addresses out of logs
    try:
        with Screen(Console(stderr=as_json, highlight=False, emoji=False)) as screen:
            asyncio.run(signals.cancel(demo(named, screen, signals, keep=keep, as_json=as_json)))
    except (HeadroomError, OSError, *SERVER_ERRORS) as error:
        print_error(error, named)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
