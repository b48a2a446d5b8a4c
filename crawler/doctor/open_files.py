"""How many files and connections this process may have open, against what a worker needs."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.doctor.finding import Finding, advice, ok, stop
from crawler.download.curl_loop import MAX_IDLE
from crawler.download.dns import MAX_LOOKUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

# Python, the log, items, and the connections to Redis, Kafka and MongoDB; a worker that starts has some 40 open.
OWN_FILES = 100


async def open_files(settings: Mapping[str, Any]) -> Finding:
    """Looks at the limit of this shell, which workers that are started from it have, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return judge_open_files(soft, hard, config.CONCURRENT_REQUESTS.of(settings))


def judge_open_files(soft: int, hard: int, requests: int) -> Finding:
    """Returns what a limit means for a worker with so many requests at once.

    Args:
        soft: The limit that counts.
        hard: The one up to which anybody may raise it.
    """
    if soft == resource.RLIM_INFINITY:
        return ok("no limit")
    needed = OWN_FILES + requests + MAX_IDLE + MAX_LOOKUPS
    if soft >= needed:
        return ok(f"{soft:,}, and a worker with CONCURRENT_REQUESTS {requests} has up to {needed:,} open")
    how = f"ulimit -n {needed}" if hard == resource.RLIM_INFINITY or hard >= needed else f"the hard limit is {hard:,}"
    limit = (
        f"at most {soft:,}, and a worker with CONCURRENT_REQUESTS {requests} has up to {needed:,} open: raise it "
        f"({how}; LimitNOFILE={needed} in a systemd unit), or lower CONCURRENT_REQUESTS"
    )
    return stop(limit) if soft < OWN_FILES else advice(f"{limit}. Until then it hands pages back for want of files")
