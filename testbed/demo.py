"""The demo, from start to end: `demo` tells the story, and the steps that it calls follow in that order.

No process that the demo starts can outlive it: `testbed.servers.Process` sees to that, even when the demo is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler import config, plans
from crawler.base.errors import HeadroomError
from crawler.cli.output import print_json
from crawler.frontier.ledger import Account
from crawler.frontier.seed_info import seed_info
from crawler.plans.operator import Operator
from crawler.plans.submission import submit
from testbed.audit import BOARDS, delivered_ids, find_problems, read_items
from testbed.servers import ForumServer, Process
from testbed.services import ADDRESSES, start_services

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.plans import Plan
    from testbed.screen import Screen
    from testbed.services import Services
    from testbed.stop_signals import StopSignals

PLAN = Path(__file__).parents[1] / "plans" / "demo.yaml"
OUTPUT = Path("demo-output")
MARK = ".headroom-demo"  # a folder with this file in it may be emptied; the file's lock keeps a second demo out
PARTS = ("items", "media", "logs", "servers")  # all that is ever removed from it
POLL_SECONDS = 0.25  # between two looks at the crawl
PAUSE_SECONDS = 3.0  # nothing moved for so long: it is said why
STALL_SECONDS = 60.0  # nothing moved for so long: a healthy demo's longest pause is a retry's few seconds
WORKER_SETTINGS = {
    "STOP_WHEN_DONE": "1",
    "ALLOW_PRIVATE_ADDRESSES": "1",  # the forum is on loopback
    "NODE_CPU_LIMIT_PERCENT": "100",  # the machine is the user's: whatever else it does, the demo goes on
    "NODE_MEMORY_LIMIT_PERCENT": "100",
}


async def demo(named: Mapping[str, str], screen: Screen, signals: StopSignals, *, keep: bool, as_json: bool) -> None:
    """Runs the demo. When it returns or raises, all that it started has ended, and named servers are as before.

    Args:
        named: Addresses of servers to use, by setting; the others are started.
        screen: Where progress and result are shown.
        signals: They end what blocks.
        keep: Leave the servers up after the result, until a signal comes.
        as_json: Print the result as JSON instead.

    Raises:
        HeadroomError: The demo couldn't be carried out, or its audit found something wrong.
        SystemExit: A signal came while something blocked.
        asyncio.CancelledError: A signal came before the result.
    """
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(output_folder())
        with signals.interrupt():
            forum = stack.enter_context(ForumServer(OUTPUT / "servers"))
        services = await start_services(OUTPUT / "servers", named, stack, signals, screen.note)
        operator = await stack.enter_async_context(Operator.connect(services.values, begin=True))
        plan = await submit_plan(operator, forum, screen)
        workers = start_workers(services, stack)
        screen.note("workers: one producer and two consumers start, which takes some seconds")
        speed = await watch(plan, operator, (forum, *services.own.values()), workers, screen)
        result = await audit(plan, operator, services)
        result |= {"forum": forum.url, "pages_per_minute": speed, "total_s": screen.elapsed_s}
        if as_json:
            print_json(result)
        else:
            screen.result(result, settings_for_another_terminal(services, named) if keep else None)
        if keep:
            from testbed.servers.monitor import MonitorProcess  # of the extra `monitor`, which nothing else here needs

            with contextlib.suppress(SystemExit), signals.interrupt():
                monitor = stack.enter_context(MonitorProcess(OUTPUT / "servers", worker_settings(services)))
                screen.monitor(monitor.url, monitor.user, monitor.password)
                signal.pause()
            signals.status = 0  # that is how it is meant to end
        if result["problems"]:
            raise HeadroomError("; ".join(result["problems"]))


@contextlib.contextmanager
def output_folder() -> Iterator[None]:
    """Holds the demo's folder, emptied of what an earlier demo wrote. What servers write is removed after success.

    Raises:
        HeadroomError: The folder holds other files, or another demo runs in it; nothing was removed.
    """
    OUTPUT.mkdir(exist_ok=True)
    if any(OUTPUT.iterdir()) and not (OUTPUT / MARK).exists():
        raise HeadroomError(f"{OUTPUT} holds files that are not the demo's: move it away, or run elsewhere")
    with (OUTPUT / MARK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HeadroomError(f"another demo is running in {OUTPUT}") from None
        for part in PARTS:
            if (OUTPUT / part).exists():
                shutil.rmtree(OUTPUT / part)  # refuses a symbolic link
        yield
        shutil.rmtree(OUTPUT / "servers", ignore_errors=True)


async def submit_plan(operator: Operator, forum: ForumServer, screen: Screen) -> Plan:
    """Submits the plan, its sites at this run's forum; before the workers start, which end when there is no work."""
    plan = plans.load(str(PLAN), max_seeds=config.PLAN_MAX_SEEDS.default)
    boards = (site.named(site.name, forum.url) if site.name in BOARDS else site for site in plan.sites)
    plan = replace(plan, sites=tuple(boards))
    offered = [new async for _offered, new in submit(plan, operator.registry, operator.queues)]
    searches = f"{offered[-1]} searches, whose further pages come as they are found"
    screen.note(f"plan {plan.name}: {len(plan.combinations())} combinations, {searches}")
    return plan


def start_workers(services: Services, stack: contextlib.AsyncExitStack) -> list[Process]:
    """Starts one producer and two consumers, which end by themselves when all is done, and at the stack's end."""
    # Addresses may hold passwords, and a command line shows to everybody on the machine: they go by the environment.
    addresses = {name: value for name, value in services.values.items() if name in ADDRESSES.values()}
    options = worker_settings(services)
    words = [word for name in options.keys() - addresses for word in ("-s", f"{name}={options[name]}")]
    environment = addresses | {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    workers = []
    for name in ("producer", "consumer-1", "consumer-2"):
        command = [sys.executable, "-m", "scrapy", "crawl", name.partition("-")[0], *words]
        worker = Process(name, command, OUTPUT / "logs", environment=environment)
        stack.callback(worker.kill)
        worker.start()
        workers.append(worker)
    return workers


def worker_settings(services: Services) -> dict[str, str]:
    """Returns the settings of the demo's workers, with whole paths: it may run in no project's folder."""
    folders = {"ITEMS_DIR": str(OUTPUT.absolute() / "items"), "FILES_STORE": str(OUTPUT.absolute() / "media")}
    return WORKER_SETTINGS | folders | services.values | {"ITEM_SINKS": ",".join(services.sinks)}


def settings_for_another_terminal(services: Services, named: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings by which commands in another terminal find what the demo's workers found.

    Without the addresses that the environment names: a shell knows them, and they may hold passwords.
    """
    return {name: value for name, value in worker_settings(services).items() if name not in (*named, "STOP_WHEN_DONE")}


async def watch(
    plan: Plan, operator: Operator, servers: Sequence[Process], workers: Sequence[Process], screen: Screen
) -> int:
    """Shows how far the crawl is, until the workers have ended; returns its pages per minute, 0 when there were none.

    Raises:
        HeadroomError: A worker failed, a server has ended, or nothing moves.
    """
    began = moved = time.monotonic()
    speed, before, running, explained = 0, (Account(), Account(), 0), True, False
    while running:
        running = any(worker.running for worker in workers)  # asked first, so that the last look sees all they did
        for process in (*servers, *workers):
            if not process.running and (status := process.wait(0)):
                raise HeadroomError(f"{process.name} ended with status {status}; {process.last_log_line()}")
        nav, content = await totals(plan, operator)
        items = read_items(OUTPUT / "items")
        pages, now = nav.finished + nav.failed + content.finished + content.failed, time.monotonic()
        if items and not before[-1]:
            screen.note(f"first item: {next(iter(items.values()))['title']}")
        if before != (nav, content, len(items)):
            before, moved, explained = (nav, content, len(items)), now, False
        elif now - moved > STALL_SECONDS:
            raise HeadroomError(f"nothing moved for {STALL_SECONDS:g} s; see the logs in {OUTPUT / 'logs'}")
        if now - moved > PAUSE_SECONDS and not explained and (pause := await retries(plan.name, operator)):
            screen.note(pause)
            explained = True
        if not pages:
            began = now
        elif moved > began:
            speed = round(pages * 60 / (moved - began))
        screen.progress(nav, content, f"{len(items):,} items, {speed:,} pages per minute")
        await asyncio.sleep(POLL_SECONDS)
    return speed


async def retries(plan: str, operator: Operator) -> str:
    """Returns why pages of a plan wait to be tried again, and for how long, in words; empty when none does."""
    reasons: Counter[str] = Counter()
    dues_ms = []
    for frontier, admin in operator.admins.items():
        async for waiting in admin.seeds("ready", plan):
            if waiting.reason:
                reasons[waiting.reason] += 1
                dues_ms.append((await seed_info(operator.queues[frontier], waiting.seed)).details.get("score_ms") or 0)
    if not reasons:
        return ""
    wait_s = max(0.0, (min(dues_ms) - await operator.registry.now_ms()) / 1000)
    words = ", ".join(f"{reason} {number}" for reason, number in reasons.items())
    return f"waiting: pages that failed are tried again after a pause ({words}); the next in {wait_s:.0f} s"


async def audit(plan: Plan, operator: Operator, services: Services) -> dict[str, Any]:
    """Returns what came out of the crawl, and as `problems` what is wrong with it, in words."""
    items = read_items(OUTPUT / "items")
    delivered = {sink: await delivered_ids(sink, services.values, items) for sink in services.sinks}
    nav, content = await totals(plan, operator)
    return {
        "plan": os.path.relpath(PLAN),  # noqa: ASYNC240 -- touches no disk
        "combinations": len(plan.combinations()),
        "search_pages": nav.offered - nav.known,
        "content_pages": content.offered - content.known,
        "known": content.known,
        "failures": Counter(nav.failures) + Counter(content.failures),
        "items": Counter(item["resource"] for item in items.values()),
        "sinks": {sink: len(ids) for sink, ids in delivered.items()},
        "left_out": services.left_out,
        "difference": nav.difference + content.difference,
        "folder": str(OUTPUT),
        "problems": await find_problems(plan, operator, items, delivered),
    }


async def totals(plan: Plan, operator: Operator) -> tuple[Account, Account]:
    """Returns the ledger's sums over all sites: of search pages, and of content pages."""
    nav, content = Account(), Account()
    for accounts in (await operator.ledger(plan.name)).values():
        nav.add(accounts["nav"])
        content.add(accounts["content"])
    return nav, content
