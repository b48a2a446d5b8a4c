"""The demo's crawl: the plan submitted, the workers watched until they have ended, the result audited."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler import plans, settings, sites
from crawler.errors import HeadroomError, UnavailableError
from crawler.frontier import ledger
from crawler.frontier.keys import Keys
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import Queue
from crawler.plans.registry import Registry
from crawler.servers.redis import redis_async
from testbed import audit
from testbed.progress import Items, Progress, Snapshot, examples, pages, totals
from testbed.screen import in_short
from testbed.services import OPTIONAL
from testbed.summary import EXAMPLES, Summary

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from testbed.folder import OutputFolder
    from testbed.screen import Screen
    from testbed.services import Services
    from testbed.workers import Workers

FORUM_SITE = "demo_forum"  # sites with its base are at the forum's address of this run
LOOK_SECONDS = 0.25  # between two looks at the crawl
FIRST_WORKERS = 2  # producer and a consumer; the next one's start would only delay the first item on two cores
STALL_SECONDS = 60.0  # nothing moved for so long: a healthy demo's longest pause is a retry's few seconds


class Crawl:
    """One crawl, between the servers' start and their end, which are the caller's business.

    Args:
        file: The plan.
        folder: Where items go.
        services: Begun.
        workers: Not started.
        screen: Where progress is shown.

    Raises:
        InputError: The plan says something that it can't say.
    """

    def __init__(self, file: Path, folder: OutputFolder, services: Services, workers: Workers, screen: Screen) -> None:
        self._plan = plans.load(str(file), max_seeds=settings.PLAN_MAX_SEEDS)
        self._file = os.path.relpath(file)  # as the user would type it here
        self._folder = folder
        self._services = services
        self._workers = workers
        self._screen = screen
        self._keys = Keys(services.values["KEY_PREFIX"])
        self._items = Items(folder.items)
        self._first_item_s: float | None = None

    async def run(self) -> Summary:
        """Does all of it, once.

        Raises:
            HeadroomError: A server, a worker, or the whole crawl doesn't get on.
        """
        await self._services.ready("redis")
        async with redis_async(self._services.values) as redis:
            try:
                await self._submit(redis)  # before the workers start: they end when there is nothing to do
                await self._services.ready("forum")
                crawl_s = await self._crawl(Progress(redis, self._keys, self._plan.name, self._items))
                return await self._audit(redis, crawl_s)
            except RedisError as error:
                raise UnavailableError(f"Redis: {type(error).__name__}: {error}") from None

    async def _submit(self, redis: Redis) -> None:
        """Submits the plan, its forum where it is in this run."""
        url, base = self._services.forum.url, sites.load(FORUM_SITE).base
        here = tuple(site.named(site.name, url) if site.base == base else site for site in self._plan.sites)
        plan = replace(self._plan, sites=here)
        await prepare(redis, self._keys, 1)
        queue = Queue(redis, self._keys, "nav")
        batches = [new async for _offered, new in Registry(redis, self._keys, 1).submit(plan, queue)]
        combinations = len(plan.combinations())
        self._screen.note(f"plan {self._file}: {combinations} combinations, {batches[-1]} search pages submitted")

    async def _crawl(self, progress: Progress) -> float:
        """Runs the workers until all have ended; returns the seconds between the first page and the last."""
        sinks = self._services.sinks
        self._workers.start(sinks, FIRST_WORKERS)
        starting = {name: asyncio.ensure_future(self._services.ready(name)) for name in OPTIONAL}
        try:
            began = moved = time.monotonic()
            position: tuple[int, ...] = ()
            while self._workers.running:
                self._workers.check()
                waiting = {name for name, task in starting.items() if not task.done()}
                for name in starting.keys() - waiting:
                    starting[name].result()  # raises what went wrong
                if self._services.sinks != sinks:
                    sinks = self._services.sinks
                    await self._workers.restart_consumers(sinks)
                snapshot = await self._look(progress, waiting)
                now = time.monotonic()
                if pages(snapshot.accounts) == 0:
                    began = now
                if snapshot.items:
                    self._workers.start(sinks)
                if snapshot.position != position or waiting:
                    position, moved = snapshot.position, now
                elif now - moved > STALL_SECONDS:
                    raise HeadroomError(f"nothing moved for {STALL_SECONDS:g} s; see the logs in {self._folder.logs}")
                await asyncio.sleep(LOOK_SECONDS)
            self._workers.check()
            await self._look(progress, set())
            return moved - began
        finally:
            for task in starting.values():
                task.cancel()
            await asyncio.gather(*starting.values(), return_exceptions=True)

    async def _look(self, progress: Progress, waiting: set[str]) -> Snapshot:
        """Looks how far the crawl is, and shows it."""
        snapshot, down = await progress.look(), await progress.sinks_down()
        if snapshot.latest and self._first_item_s is None:
            self._first_item_s = self._screen.elapsed_s
            self._screen.note(f"first item: {in_short(snapshot.latest)}")
        states = {
            sink: "starting" if sink in waiting else "down" if sink in down else "up" for sink in self._services.sinks
        }
        snapshot = replace(snapshot, sinks=states | dict.fromkeys(self._services.left_out, "left out"))
        self._screen.show(snapshot)
        return snapshot

    async def _audit(self, redis: Redis, crawl_s: float) -> Summary:
        """Compares what is in the ledger, the files and the sinks."""
        book = await ledger.read(redis, self._keys, 1, self._plan.name)
        accounts = totals(book)
        counts = self._items.counts
        ids = set().union(*self._items.ids.values())
        problems = await audit.audit_ledger(redis, self._keys, book, counts)
        if not ids:
            problems.append("not one item came out")
        sinks = {"files": len(ids)}
        for sink in self._services.sinks[1:]:
            there = await audit.delivered_ids(sink, self._services.values, [site.name for site in self._plan.sites])
            sinks[sink] = len(there)
            if there != ids:
                problems.append(f"{sink}: {len(ids - there)} items are missing, {len(there - ids)} are too many")
        nav, content = accounts["nav"], accounts["content"]
        return Summary(
            plan=self._file,
            combinations=len(self._plan.combinations()),
            search_pages=nav.offered - nav.known,
            content_pages=content.offered - content.known,
            known=content.known,
            failures={**nav.failures, **content.failures},
            items=counts,
            examples=examples(self._items.kinds.values(), EXAMPLES),
            sinks=sinks,
            left_out=self._services.left_out,
            pages_per_minute=round(pages(accounts) * 60 / crawl_s) if crawl_s else 0,
            first_item_s=self._first_item_s,
            total_s=self._screen.elapsed_s,
            difference=sum(account.difference for account in accounts.values()),
            folder=str(self._folder.path),
            problems=problems,
        )
