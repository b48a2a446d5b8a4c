"""A whole run, from top to bottom: an application is started, crawled with its site file and without, and compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from crawler.base.errors import UnavailableError
from testbed.applications import APPLICATIONS
from testbed.applications.articles import WORD
from testbed.audit import read_items
from testbed.servers import Process, Redis
from testbed.servers.process import run_to_end
from testbed.truth.compare import Score, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from testbed.applications import Application

SITES = Path(__file__).with_name("sites")
BARE = "-bare"  # ends the name of a site that is read without selectors
SCRAPY = [sys.executable, "-m", "scrapy"]
ENVIRONMENT = {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
SUBMIT_SECONDS, CRAWL_SECONDS = 60.0, 600.0  # the slowest crawl takes some 60 s
SETTINGS = {
    "STOP_WHEN_DONE": "1",
    "ALLOW_PRIVATE_ADDRESSES": "1",  # the applications are on loopback
    "ITEM_SINKS": "files",
    "NODE_CPU_LIMIT_PERCENT": "100",  # whatever else the machine does, the crawl goes on
    "NODE_MEMORY_LIMIT_PERCENT": "100",
    "LOG_LEVEL": "INFO",
}


@dataclass(frozen=True)
class Comparison:
    """An application beside the crawls of it.

    Attributes:
        told: Of the crawl with its site file.
        bare: Of the crawl without selectors.
        lines: Lines of that file, without those that only comment.
        verdicts: What `scrapy site verdicts` says of both, where whether a browser is needed was left to the crawl.
        seconds: That starting, crawling and comparing took.
    """

    application: str
    told: Score
    bare: Score
    lines: int
    verdicts: list[dict[str, Any]]
    seconds: float


def run(names: list[str], count: int, folder: Path, *, auto: bool = False) -> Iterator[Comparison]:
    """Yields the outcome of one application after the other, each of `count` articles, with its data under `folder`.

    Args:
        auto: Whether to leave it to the crawl which pages a browser renders, where a site's file doesn't.

    Raises:
        UnavailableError: An application can't be installed or started, or a crawl fails.
    """
    for name in names:
        began = time.monotonic()
        with ExitStack() as stack:
            own = folder / name
            application: Application = APPLICATIONS[name](own, count)
            stack.enter_context(application)
            redis = stack.enter_context(Redis(own))
            text = (SITES / f"{name}.yaml").read_text(encoding="utf-8")
            write_sites(own, name, text, application.url, auto=auto)
            items = crawl(own, redis.url, [name, name + BARE], count)
            verdicts = verdicts_of(own, redis.url)
            pages = application.truth()
        told, bare = (
            compare([item for item in items if item["resource"] == site], pages) for site in (name, name + BARE)
        )
        lines = sum(not line.lstrip().startswith("#") for line in text.splitlines())
        yield Comparison(name, told, bare, lines, verdicts, time.monotonic() - began)


def write_sites(folder: Path, name: str, text: str, base: str, *, auto: bool = False) -> None:
    """Writes an application's site file, and one that reads its pages without selectors; `auto` as of `run`."""
    site = {"name": name, "base": base, **yaml.safe_load(text)}
    if auto and "render" not in site:
        # WordPress is searched by its REST interface, and no browser makes anything of JSON.
        site["render"] = {"content": "auto"} | ({} if site.get("kind") == "wordpress" else {"results": "auto"})
    # A key without a value takes away what the kind says of it.
    bare = {key: value for key, value in site.items() if key != "content"} | {"name": name + BARE}
    if "kind" in site:
        bare["content"] = None
    (folder / "sites").mkdir(parents=True)
    for each in (site, bare):
        (folder / "sites" / f"{each['name']}.yaml").write_text(yaml.safe_dump(each, allow_unicode=True))


def crawl(folder: Path, redis_url: str, sites: list[str], count: int) -> list[dict[str, Any]]:
    """Searches the sites for the word that stands on each page, and returns the items."""
    words = [
        *_setting_words(folder, redis_url),
        *("-s", f"ITEMS_DIR={folder / 'items'}"),
        *("-s", f"FILES_STORE={folder / 'media'}"),
    ]
    for site in sites:  # a plan for each, since a plan asks no address twice, whatever site reads it
        plan = {"name": site, "sites": [site], "keywords": {"word": {"required": [WORD]}}, "pages": count}
        (folder / "plan.yaml").write_text(yaml.safe_dump(plan | {"per_page": 50}))
        submit = [*SCRAPY, "plan", "submit", str(folder / "plan.yaml"), *words]
        run_to_end("submit", submit, folder, SUBMIT_SECONDS, ENVIRONMENT)
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Process(spider, [*SCRAPY, "crawl", spider, *words], folder, environment=ENVIRONMENT))
            for spider in ("producer", "consumer")
        ]
        for worker in workers:
            if status := worker.wait(CRAWL_SECONDS):
                raise UnavailableError(f"{worker.name} failed with status {status}; {worker.last_log_line()}")
    return list(read_items(folder / "items").values())


def verdicts_of(folder: Path, redis_url: str) -> list[dict[str, Any]]:
    """Returns what the crawl found of pages that were left to it, as `scrapy site verdicts --json` has it.

    Raises:
        UnavailableError: The command fails.
    """
    command = [*SCRAPY, "site", "verdicts", "--json", *_setting_words(folder, redis_url)]
    done = subprocess.run(  # noqa: S603 -- constants, and addresses of this run
        command, env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=False, timeout=SUBMIT_SECONDS
    )
    if done.returncode:
        raise UnavailableError(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    verdicts: list[dict[str, Any]] = json.loads(done.stdout)["verdicts"]
    return verdicts


def _setting_words(folder: Path, redis_url: str) -> list[str]:
    settings = SETTINGS | {"REDIS_URL": redis_url, "SITES_DIR": str(folder / "sites")}
    return [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
