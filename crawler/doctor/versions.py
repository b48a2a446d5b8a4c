"""The versions of what the crawl is built on, and what libcurl was built with."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pycurl
import scrapy

from crawler import __version__
from crawler.doctor.finding import Finding, advice, ok, stop
from crawler.fast.addon import TESTED_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping


async def versions(_settings: Mapping[str, Any]) -> Finding:
    """Looks at this process's own."""
    _age, libcurl, _number, _host, features, *_ = pycurl.version_info()
    return judge_versions(scrapy.__version__, libcurl, features)


def judge_versions(scrapys: str, libcurl: str, features: int) -> Finding:
    """Returns what a version of Scrapy and a build of libcurl mean."""
    has_http2 = bool(features & pycurl.VERSION_HTTP2)
    installed = (
        f"Headroom {__version__}, Python {platform.python_version()}, Scrapy {scrapys}, libcurl {libcurl} "
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
