"""One demo from start to end, and nothing of it left running: the folder, the servers, the crawl, the signals.

The servers take the longest to be ready, so they are started before the crawl's modules are imported: half a second.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.errors import HeadroomError
from testbed.folder import OutputFolder
from testbed.services import ADDRESSES, Services
from testbed.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from testbed.screen import Screen
    from testbed.summary import Summary

PLAN = Path(__file__).parents[1] / "plans" / "demo.yaml"
OUTPUT = Path("demo-output")
CANCEL_SECONDS = 0.25  # between two cancellations of what doesn't listen


class Stopped(Exception):  # noqa: N818 -- nothing went wrong
    """A signal ended the demo, and everything that it had started has ended.

    Attributes:
        number: The signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(
    named: Mapping[str, str], screen: Screen, report: Callable[[Summary, Services], None], *, keep: bool = False
) -> Summary:
    """Runs a demo; every process that it started has ended when this returns or raises.

    Args:
        named: Addresses of servers to use, by setting; the others are started.
        screen: Where progress is shown.
        report: Called with the result when the crawl is over, while the servers are still up.
        keep: Stay after the crawl, with the servers up, until a signal comes.

    Returns:
        The result, with what went wrong in its `problems`.

    Raises:
        HeadroomError: The demo couldn't be carried out.
        Stopped: SIGINT, SIGTERM or SIGHUP came before the end.
    """
    return asyncio.run(_run(named, screen, report, keep=keep))


async def _run(
    named: Mapping[str, str], screen: Screen, report: Callable[[Summary, Services], None], *, keep: bool
) -> Summary:
    if not PLAN.exists():
        raise HeadroomError(f"{PLAN} is missing: the demo runs in a checkout of the project")
    stop = _stop_signal()
    with OutputFolder(OUTPUT) as folder:
        services = Services(folder.servers, named, screen.note)
        workers = _workers(folder, services)
        try:
            services.begin()
            result = await _unless(stop, _crawl(folder, services, workers, screen))
            screen.end()
            report(result, services)
            if keep:
                await stop
        finally:
            workers.kill()
            await services.leave()
            services.kill()
        if not result.problems:
            folder.drop_servers()
        return result


async def _crawl(folder: OutputFolder, services: Services, workers: Workers, screen: Screen) -> Summary:
    from testbed.crawl import Crawl

    return await Crawl(PLAN, folder, services, workers, screen).run()


def _workers(folder: OutputFolder, services: Services) -> Workers:
    """Returns the workers, which aren't started yet."""
    settings = {
        "ITEMS_DIR": str(folder.items.resolve()),
        "FILES_STORE": str(folder.media.resolve()),
        "KEY_PREFIX": services.values["KEY_PREFIX"],
        "TOPIC_PREFIX": services.values["TOPIC_PREFIX"],
    }
    where = (*ADDRESSES.values(), "MONGO_DATABASE")
    return Workers(folder.logs, settings, {key: services.values[key] for key in where if key in services.values})


def _stop_signal() -> asyncio.Future[int]:
    """Returns a future that the first SIGINT, SIGTERM or SIGHUP resolves; later ones change nothing.

    None of them interrupts anything: who waits for the future decides what is still to be done.
    """
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[int] = loop.create_future()

    def hear(number: int) -> None:
        if not stop.done():
            stop.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, hear, number)
    return stop


async def _unless(stop: asyncio.Future[int], work: Coroutine[None, None, Summary]) -> Summary:
    """Does `work`, which is cancelled when `stop` is resolved.

    Raises:
        Stopped: It was.
    """
    task = asyncio.ensure_future(work)
    either: tuple[asyncio.Future[Any], ...] = (task, stop)
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    while not task.done():
        task.cancel()  # more than once: a library may take a cancellation for a time-out of its own
        await asyncio.wait({task}, timeout=CANCEL_SECONDS)
    if stop.done():
        if not task.cancelled():
            task.exception()  # whatever it was, the user has stopped it
        raise Stopped(stop.result())
    return task.result()
