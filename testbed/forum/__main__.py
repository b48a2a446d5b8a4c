"""`python -m testbed.forum`: serves the forum until it is told to stop."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from twisted.internet.error import CannotListenError

from testbed.forum.server import serve

DELAY_MS = 1_500  # of a slow page: long enough to be seen, short enough for a demo


def main() -> int:
    """Reads the command line and serves; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m testbed.forum", description="A small forum to crawl.")
    parser.add_argument("--port", type=int, default=0, help="TCP port on 127.0.0.1; 0 (the default): a free one")
    parser.add_argument(
        "--delay-ms", type=int, default=DELAY_MS, help="how long a slow page takes (default: %(default)s)"
    )
    parser.add_argument("--access-log", type=Path, help="file that gets one JSON line per request")
    options = parser.parse_args()
    if not 0 <= options.port <= 65_535:  # noqa: PLR2004 -- TCP's range
        parser.error("--port: expected 0 to 65535")
    if options.delay_ms < 0:
        parser.error("--delay-ms: expected 0 or more")
    with contextlib.ExitStack() as stack:
        try:
            log = stack.enter_context(options.access_log.open("a", encoding="utf-8")) if options.access_log else None
            serve(options.port, options.delay_ms / 1_000, log, _announce)
        except (OSError, CannotListenError) as error:
            print(f"forum: {error}", file=sys.stderr)
            return 1
    return 0


def _announce(origin: str) -> None:
    print(f"listening on {origin}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
