"""Takes the pictures of the monitor that its documentation shows, each page light, dark, and as on a phone.

    .venv/bin/python -m testbed.monitor_pictures             # into docs/monitor; a minute

It needs Chromium, and fonts with Chinese letters, such as Debian's `fonts-noto-cjk`. The plan, its sites, seeds, items
and failures are those of a demo that is really crawled; the nodes, and what a month brought, are made up.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from playwright.async_api import Browser, async_playwright
from rich.console import Console

from crawler.cluster import audit
from crawler.cluster.host_steering import orders_of
from crawler.plans.operator import Operator
from crawler.render import chromium
from crawler.telemetry import history, host_history, node_history
from crawler.telemetry.history import DAY, HOUR
from crawler.telemetry.host_history import HostCounts
from crawler.telemetry.node_history import NodeSample
from testbed.demo import OUTPUT, start_workers, submit_plan, watch, worker_settings
from testbed.screen import Screen
from testbed.servers import ForumServer
from testbed.servers.monitor import MonitorProcess
from testbed.services import start_services
from testbed.stop_signals import StopSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path(__file__).parents[1] / "docs" / "monitor"
DESK, PHONE = {"width": 1_200, "height": 800}, {"width": 390, "height": 844}
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "light": {"viewport": DESK, "color_scheme": "light"},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "has_touch": True, "is_mobile": True},
}
JPEG_QUALITY = 70  # letters stay sharp, and 45 pictures take 3 MB
HOSTS = ("news.example.org", "www.city.example", "forum.example.net", "报.example.cn", "archive.example.com")
# Node -> by how much its workers differ from others, and what their reports say.
NODES: Mapping[str, tuple[float, Mapping[str, Any]]] = {
    "node-1": (1.0, {}),
    "node-2": (0.8, {}),
    "node-3": (0.9, {"sinks_down": ["kafka"], "why_no_claims": "it waits for kafka"}),
    "node-4": (0.7, {"drained": True}),
    "node-5": (1.1, {}),
    "node-6": (0.6, {"age_s": 313}),
}
LEFT_OF_SESSION_SECONDS = 3_600


async def take(folder: Path) -> None:
    """Crawls the demo, makes the rest up, and takes the pictures.

    Raises:
        HeadroomError: A server or Chromium isn't there, or the crawl failed.
    """
    async with contextlib.AsyncExitStack() as stack:
        screen = stack.enter_context(Screen(Console()))
        os.chdir(stack.enter_context(tempfile.TemporaryDirectory()))  # the demo's folder comes to be there
        forum = stack.enter_context(ForumServer(OUTPUT / "servers"))
        services = await start_services(OUTPUT / "servers", {}, stack, StopSignals(), screen.note)
        operator = await stack.enter_async_context(Operator.connect(services.values, begin=True))
        plan = await submit_plan(operator, forum, screen)
        await watch(plan, operator, (forum, *services.own.values()), start_workers(services, stack), screen)
        await make_up(operator)
        monitor = stack.enter_context(MonitorProcess(OUTPUT / "servers", worker_settings(services)))
        playwright = await stack.enter_async_context(async_playwright())
        switches = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=chromium.find(""), args=switches)
        stack.push_async_callback(browser.close)
        for look, options in LOOKS.items():
            await of_look(browser, monitor, look, options, folder)
            screen.note(f"{look}: in {folder}")


async def of_look(
    browser: Browser, monitor: MonitorProcess, look: str, options: Mapping[str, Any], folder: Path
) -> None:
    """Takes a picture of each page as one kind of screen shows it."""
    context = await browser.new_context(base_url=monitor.url, **options)
    page = await context.new_page()

    async def save(name: str) -> None:
        await page.screenshot(path=folder / f"{name}-{look}.jpg", type="jpeg", quality=JPEG_QUALITY)

    await page.goto("/login")
    await save("login")
    await page.get_by_label("Name").fill(monitor.user)
    await page.get_by_label("Password").fill(monitor.password)
    await page.keyboard.press("Enter")
    await page.get_by_text("live", exact=True).wait_for()
    for name, find in PAGES.items():
        await page.goto(await find(page))
        await save(name)
    await context.close()


def at(path: str) -> Callable[[Any], Any]:
    """Returns what gives one address, whatever the page."""

    async def find(_page: Any) -> str:
        return path

    return find


def first_link(path: str, beginning: str) -> Callable[[Any], Any]:
    """Returns what finds the first link on a page that begins so."""

    async def find(page: Any) -> str:
        await page.goto(path)
        return str(await page.locator(f'main a[href^="{beginning}"]').first.get_attribute("href"))

    return find


PAGES = {
    "overview": at("/"),
    "nodes": at("/nodes"),
    "node": at("/node?name=node-1"),
    "plans": at("/plans"),
    "plan": first_link("/plans", "/plan?"),
    "items": at("/items"),
    "item": first_link("/items", "/item?"),
    "sites": at("/sites"),
    "site": first_link("/sites", "/site?"),
    "hosts": at("/hosts"),
    "host": at("/host?name=" + quote(HOSTS[0])),
    "failures": at("/failures"),
    "seed": first_link("/failures", "/seed?"),
    "audit": at("/audit"),
}


async def make_up(operator: Operator) -> None:
    """Writes six nodes, two of them in trouble, what they did in a month, their hosts, and what was ordered."""
    now_s = await operator.registry.now_ms() // 1000
    async with operator.redis.pipeline(transaction=False) as pipeline:
        for resolution in history.RESOLUTIONS:
            for begin_s in resolution.begins(now_s, resolution.kept_seconds):
                pages = round(85 * min(resolution.seconds, now_s - begin_s) * rise(begin_s))
                counts: Any = {"pages": pages, "items": round(pages * 0.8), "bytes": pages * 31_000}
                pipeline.hset(operator.keys.history(resolution.seconds, begin_s), mapping=counts)
        for place, host in enumerate(HOSTS, 1):
            answered = HostCounts(9_000 // place, 280_000_000 // place, 40 * place**2)
            host_history.add(pipeline, operator.keys, now_s, {host: answered})
        for node in NODES:
            add_node(pipeline, operator, node, now_s)
        await pipeline.execute()
    await orders_of(operator).change(HOSTS[0], delay_s=5)
    await audit.record(operator, user="ann", action="host-slow", target=HOSTS[0], outcome="done: 5 s")
    await audit.record(operator, user="bo@desk (command)", action="node-drain", target="node-4", outcome="done")


def rise(moment_s: int) -> float:
    """Returns how busy a crawl is at a moment, about 1: less at night, and never quite the same."""
    return 1 + 0.3 * math.sin(moment_s * 2 * math.pi / DAY) + 0.06 * math.sin(moment_s / 97) * math.sin(moment_s / 331)


def add_node(pipeline: Any, operator: Operator, node: str, now_s: int) -> None:
    """Writes what two workers of a node report, and its load of some hours."""
    factor, reported = NODES[node]
    for number in (1, 2):
        owner = f"{node}:{400 + number}:{now_s - DAY}:abcdef"
        report = {
            "version": "0.2.0", "frontier": "content", "carrying": round(18 * factor), "room": 12, "next_s": 10,
            "pages_per_minute": round(400 * factor), "cpu_percent": 62.5 * factor, "memory_percent": 41.0,
            "own_cpu_percent": 30.0 * factor, "own_memory_percent": 2.1, "egress_down_s": 0, "drained": False,
            "memory_limit_percent": 90, "cpu_limit_percent": 90, "first_batch": 5, "sinks_down": [],
            "why_no_claims": "", "why_no_browser": "", "time": now_s - reported.get("age_s", 0), **reported,
        }  # fmt: skip
        pipeline.hset(operator.keys.node(node), owner, orjson.dumps(report))
        for partition in range(operator.partitions):
            sessions = operator.keys.partition(partition).sessions
            pipeline.zadd(sessions, {owner: (now_s + LEFT_OF_SESSION_SECONDS) * 1000})
    pipeline.zadd(operator.keys.node_names, {node: now_s})
    for moment_s in range(now_s - 2 * HOUR, now_s, 60):
        busy = rise(moment_s * 40) * factor
        sample = NodeSample(41.0 + 4 * busy, min(88.0, 55 * busy), 4.2, min(80.0, 50 * busy), 24, round(36 * busy), 800)
        node_history.add(pipeline, operator.keys, node, moment_s, sample)


def main() -> None:
    """Takes them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pictures go")
    folder = parser.parse_args().folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(folder))


if __name__ == "__main__":
    main()
