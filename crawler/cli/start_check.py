"""Whether a spider of the frontier can start: looks at settings, Redis and the sinks' servers before anything runs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.conf import closest_scrapy_cfg

from crawler import config
from crawler.base.errors import ConfigError
from crawler.base.text import one_line
from crawler.config.check import misspelt_names, redaction_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings


def check_start(settings: BaseSettings) -> None:
    """Returns when a spider can start that runs with these settings, which `update_settings` has changed."""
    for line in misspelt_names():
        print("warning:", line, file=sys.stderr)
    _check_settings(settings)
    _wait_for_servers(settings)


def _check_settings(settings: BaseSettings) -> None:
    """Reads the settings as the worker, the download handler and the sinks will read them, against one another, too.

    Scrapy only logs it when a download handler can't be built, and would then fail every page.
    """
    from crawler.download.curl_options import CurlOptions
    from crawler.pipelines.batch import BatchConfig
    from crawler.pipelines.sink import chosen_sinks
    from crawler.servers.redis import redis_sync
    from crawler.worker.config import WorkerConfig

    WorkerConfig.from_settings(settings)
    redis_sync(settings).close()
    CurlOptions.from_settings(settings)
    for setting in (config.DOWNLOAD_MAXSIZE, config.DOWNLOAD_WARNSIZE, config.DOWNLOAD_FAIL_ON_DATALOSS):
        setting.of(settings)
    if not closest_scrapy_cfg():
        _refuse_relative_folders(settings)
    if chosen_sinks(settings):
        BatchConfig.from_settings(settings)


def _refuse_relative_folders(settings: BaseSettings) -> None:
    """Refuses relative folders for items and media where the process runs in no project's folder.

    A daemon such as scrapyd starts its jobs in a folder of its own: what they deliver would lie there by accident.
    """
    has_files = "files" in config.ITEM_SINKS.of(settings)
    for setting in (*[config.ITEMS_DIR] * has_files, config.FILES_STORE):
        folder = setting.of(settings)
        if folder and "://" not in folder and not Path(folder).is_absolute():
            raise ConfigError(
                setting.name, folder, f"an absolute path, since no scrapy.cfg is in {Path.cwd()} or above"
            )


def _wait_for_servers(settings: BaseSettings) -> None:
    """Waits until Redis answers, for at most CONNECT_SECONDS, and asks the sinks' servers whether they let us in.

    Raises:
        UnavailableError: Redis doesn't answer.
        AccessError: A server refuses this client.
        FrontierError: Redis holds something that these settings can't work on.
    """
    # In a loop of its own, since Scrapy has not yet installed the one that the crawl runs on.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(_connect_to_redis(settings))
        runner.run(_check_sinks(settings))


async def _connect_to_redis(settings: Mapping[str, Any]) -> None:
    from crawler.frontier.preflight import wait_until_ready
    from crawler.servers.redis import redis_address, redis_async
    from crawler.worker.config import WorkerConfig

    redact = redaction_of(settings)

    def report(text: str) -> None:
        print(one_line(redact(text)), file=sys.stderr, flush=True)

    config = WorkerConfig.from_settings(settings)
    where = redis_address(settings)
    redis = redis_async(settings)
    try:
        await wait_until_ready(
            redis, config.frontier.keys, config.frontier.partitions, where=where, seconds=config.connect_s, say=report
        )
    finally:
        await redis.aclose()


async def _check_sinks(settings: BaseSettings) -> None:
    """Asks the servers of the chosen sinks whether they let this client in."""
    from crawler.pipelines.sink import chosen_sinks

    sinks = chosen_sinks(settings).values()
    try:
        answers = await asyncio.gather(*(sink.check_access() for sink in sinks), return_exceptions=True)
        for answer in answers:  # when all are there: nobody closes a sink that still asks its server
            if isinstance(answer, BaseException):
                raise answer
    finally:
        await asyncio.gather(*(sink.close() for sink in sinks))
