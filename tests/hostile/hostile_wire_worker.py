"""A consumer in a process of its own, with short limits, and what operators ask about it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from crawl import Crawl
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_server import Host
from waiting import until

CAP_BYTES = 4 * 1024 * 1024
TIMEOUT_S, PAGE_S = 3, 7
SETTINGS = {
    "SITES_DIR": Path(__file__).with_name("sites"),
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "FIRST_BATCH": 500,
    "CONCURRENT_REQUESTS": 32,
    "MAX_ATTEMPTS": 1,
    "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    "DOWNLOAD_MAXSIZE": CAP_BYTES,
    "PAGE_SECONDS": PAGE_S,
}
# In a log: what no server may bring about.
TROUBLE = re.compile(r"Traceback|\] (ERROR|CRITICAL)|Unhandled|callback-error|download-error")


class Worker(Crawl):
    """A consumer, with an empty Redis at first; it runs while it is used as a context.

    Args:
        settings: Beside SETTINGS; they win.
        environment: Of the consumer, by name.
    """

    def __init__(self, fork_server, redis_server, folder, settings=None, **environment):
        super().__init__(fork_server, folder, redis_server.url, SETTINGS | (settings or {}), environment)
        self.redis.flushall()

    def __enter__(self):
        self.process = self.start("crawl", "consumer")
        return self

    @property
    def peak_bytes(self):
        """The most memory it ever had, as the kernel knows."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    @property
    def log(self):
        return self.process.log.read_text()

    def outcomes(self, urls):
        """Offers pages and returns how each ended."""
        self.offer(urls, "hostile")
        until(self.has_ended, f"the end of {len(urls)} pages")
        failed = self.unfinished()
        return {url: failed[url][1] if url in failed else FINISH for url in urls}


@contextlib.contextmanager
def hosts(*descriptions):
    """Runs hosts, given by their arguments."""
    with contextlib.ExitStack() as running:
        started = [Host(*one) if isinstance(one, tuple) else Host(**one) for one in descriptions]
        for host in started:
            running.callback(host.close)
        yield started
