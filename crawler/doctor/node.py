"""This node: what the crawl is built on here, what may take its place, and whether clock and files will do."""

from __future__ import annotations

import asyncio
import platform
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pycurl
import scrapy

import crawler
from crawler import config
from crawler.doctor.finding import Finding, advice, loss, ok, stop
from crawler.download.curl_loop import MAX_IDLE
from crawler.download.dns import MAX_LOOKUPS
from crawler.fast.addon import TESTED_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.doctor.redis_server import ExaminedRedis

OURS = Path(crawler.__file__).resolve().parent
# Python, the log, items, and the connections to Redis, Kafka and MongoDB; a worker that starts has some 40 open.
OWN_FILES = 100
MAX_OFF_SECONDS = 1.0  # how much a clock may be off: clocks that are kept by NTP differ by milliseconds
# How much a clock must be off to do harm: no certificate is used within a minute of its making, and no spider of one's
# own visits a page twice within a minute, of whose versions the one with the later `time` stays in Mongo.
MAX_HARMLESS_SECONDS = 60.0


async def versions(_settings: Mapping[str, Any]) -> Finding:
    """Looks at the versions of what this process runs on, and at what libcurl was built with."""
    _age, libcurl, _number, _host, features, *_ = pycurl.version_info()
    return judge_versions(scrapy.__version__, libcurl, features)


def judge_versions(scrapys: str, libcurl: str, features: int) -> Finding:
    """Returns what a version of Scrapy and a build of libcurl mean."""
    has_http2 = bool(features & pycurl.VERSION_HTTP2)
    installed = (
        f"Headroom {crawler.__version__}, Python {platform.python_version()}, Scrapy {scrapys}, libcurl {libcurl} "
        f"{'with' if has_http2 else 'without'} HTTP/2, turbohtml {version('turbohtml')}"
    )
    if not features & pycurl.VERSION_SSL:
        return stop(f"{installed}: libcurl was built without TLS, so https fails; install the wheel of pycurl")
    if not scrapys.startswith(TESTED_VERSIONS):
        tested = " and ".join(f"{beginning}x" for beginning in TESTED_VERSIONS)
        return advice(f"{installed}: tested with Scrapy {tested} alone; Scrapy's own, slower engine runs with this one")
    if not has_http2:
        return advice(f"{installed}: hosts are asked by HTTP/1.1 alone; install the wheel of pycurl, which has it")
    return ok(installed)


async def package_name(_settings: Mapping[str, Any]) -> Finding:
    """Looks through the folders in which this process looks for packages."""
    return await asyncio.to_thread(judge_package_name, sys.path)


def judge_package_name(folders: Iterable[str]) -> Finding:
    """Returns what it means that Python looks into these folders, one after the other."""
    for folder in folders:
        for place in (Path(folder, "crawler"), Path(folder, "crawler.py")):
            is_package = (place / "__init__.py").is_file() or (place.suffix == ".py" and place.is_file())
            if is_package and place.resolve() != OURS:
                return advice(
                    f"Headroom's package `crawler` at {OURS} hides another one at {place.resolve()}: a process that "
                    "starts in another folder may get that one; rename it, or give Headroom an environment of its own"
                )
    return ok(f"no other package is called `crawler` ({OURS})")


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


async def clock(examined: ExaminedRedis) -> Finding:
    """Looks at how far this node's clock and Redis's are apart: the crawl goes by that one, all else by this one."""
    redis: Any = examined.redis
    asked = time.time()
    seconds, microseconds = await redis.time()
    answered = time.time()
    return judge_clock((asked + answered) / 2 - (seconds + microseconds / 1_000_000), (answered - asked) / 2)


def judge_clock(ahead_s: float, unsure_s: float) -> Finding:
    """Returns what it means that this node's clock is so far ahead of Redis's.

    Args:
        unsure_s: By how much the said time may be wrong.
    """
    off_s = max(0.0, abs(ahead_s) - unsure_s)
    apart = f"this node's clock is {abs(ahead_s):.2f} s {'ahead of' if ahead_s > 0 else 'behind'} Redis's"
    if off_s >= MAX_HARMLESS_SECONDS:
        return loss(
            f"{apart}: valid certificates of hosts may be refused, and items of spiders of your own have a wrong "
            "`time`, by which Mongo tells a newer version from an older one; have NTP set both"
        )
    if off_s >= MAX_OFF_SECONDS:
        return advice(f"{apart}, and log lines have a wrong time; have NTP set both")
    return ok(apart)
