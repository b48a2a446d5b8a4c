"""What do the small replacements of `crawler/fast/` save of a page?

    .venv/bin/python -m benchmarks.fast_parts --pages 5000

A consumer crawls the pages of `benchmarks/side_by_side`, once for each part. In it, each call goes alternately to
Scrapy's own part and to the replacement, and is timed, so that both meet the same load and the same cold caches. What a
part saves of a page is the difference of the two medians, times the calls of a page. The machine's load makes calls and
page slower alike: compare the shares.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
from collections import defaultdict
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.logformatter import LogFormatter
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.log import logformatter_adapter

from benchmarks.side_by_side import pages
from benchmarks.side_by_side.__main__ import run_one, served
from benchmarks.side_by_side.contenders import Ours
from benchmarks.side_by_side.install import CACHE
from crawler.fast.downloaderstats import LeanDownloaderStats
from crawler.fast.logformatter import LeanLogFormatter
from crawler.fast.stats import LeanStats

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

PARTS = ("stats", "logformatter", "downloaderstats")
ADDONS = {"crawler.Headroom": 100, "crawler.fast.addon.FastEngine": 1000, "benchmarks.fast_parts.Probe": 2000}


class Probe:
    """A Scrapy add-on that lets Scrapy's part and its replacement take turns, and times them."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._took_ns: dict[str, list[list[int]]] = defaultdict(
            lambda: [[], []]
        )  # by call: Scrapy's, the replacement's

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Returns the add-on for a crawler."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Puts the part in that FAST_PART names."""
        part = settings["FAST_PART"]
        if part == "stats":
            settings.set("STATS_CLASS", self._stats, "cmdline")
        else:
            self._crawler.signals.connect(getattr(self, f"_{part}"), signal=signals.spider_opened)
        self._crawler.signals.connect(self._write, signal=signals.spider_closed)

    def _taking_turns(self, name: str, scrapys: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
        took_ns = self._took_ns[name]

        def call(*args: Any, **kwargs: Any) -> Any:
            is_ours = len(took_ns[0]) > len(took_ns[1])
            method = ours if is_ours else scrapys
            begun = perf_counter_ns()
            result = method(*args, **kwargs)
            took_ns[is_ours].append(perf_counter_ns() - begun)
            return result

        return call

    def _stats(self, crawler: Crawler) -> LeanStats:
        stats, scrapys, ours = LeanStats(crawler), MemoryStatsCollector(crawler), LeanStats(crawler)
        scrapys._stats = ours._stats = stats._stats  # noqa: SLF001 -- one set of statistics for all three

        def looked_up(collector: MemoryStatsCollector) -> Callable[..., None]:
            return lambda *args, **kwargs: collector.inc_value(*args, **kwargs)  # noqa: PLW0108 -- the look-up is what costs

        turns = self._taking_turns("inc_value", looked_up(scrapys), looked_up(ours))
        stats.inc_value = turns  # type: ignore[method-assign]
        return stats

    def _downloaderstats(self) -> None:
        scrapys, downloader = DownloaderStats(self._crawler.stats), self._crawler.engine.downloader
        for methods in (downloader._request_methods, downloader._response_methods):  # noqa: SLF001
            for index, (method, needs_spider) in enumerate(methods):
                if isinstance(getattr(method, "__self__", None), LeanDownloaderStats):
                    name = method.__name__
                    methods[index] = self._taking_turns(name, getattr(scrapys, name), method), needs_spider

    def _logformatter(self) -> None:
        def log(formatter: LogFormatter, response: Response) -> None:
            for logger, line in (
                ("scrapy.core.engine", formatter.crawled(response.request, response, self._crawler.spider)),
                ("scrapy.core.scraper", formatter.scraped({}, response, self._crawler.spider)),
            ):
                if line is not None:
                    logging.getLogger(logger).log(*logformatter_adapter(line), extra={"spider": self._crawler.spider})

        turns = self._taking_turns("crawled, scraped", partial(log, LogFormatter()), partial(log, LeanLogFormatter()))
        self._crawler.engine._log_response = turns  # noqa: SLF001

    def _write(self) -> None:
        Path(self._crawler.settings["FAST_PART_FILE"]).write_text(json.dumps(self._took_ns))


def main() -> None:
    """Prints what each part saves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pages", type=int, default=5_000, help="of one run; there is one for each part (default 5000)"
    )
    number = parser.parse_args().pages
    pages.write(CACHE / "pages", number)
    for part in PARTS:
        with served() as (folder, nginx):
            file = folder / "took.json"
            settings = {"ADDONS": json.dumps(ADDONS), "FAST_PART": part, "FAST_PART_FILE": file}
            contender = Ours(part, part, settings)
            contender.install()
            page_us = 1_000 * run_one(contender, folder / part, nginx, number).cpu_s
            saved_us = 0.0
            for name, (scrapys, ours) in json.loads(file.read_text()).items():
                scrapys_us, ours_us = statistics.median(scrapys) / 1_000, statistics.median(ours) / 1_000
                calls = (len(scrapys) + len(ours)) / number
                saved_us += calls * (scrapys_us - ours_us)
                print(f"{part}: {name}: {calls:.1f} calls a page, {scrapys_us:.1f} us for {ours_us:.1f} us", flush=True)
            print(f"{part}: saves {saved_us:.1f} of {page_us:.0f} us, {100 * saved_us / page_us:.1f} %", flush=True)


if __name__ == "__main__":
    main()
