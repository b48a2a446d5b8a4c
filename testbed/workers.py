"""A demo's workers: one producer and two consumers, as anybody would start them."""

from __future__ import annotations

import asyncio
import itertools
import sys
from typing import TYPE_CHECKING

from crawler.errors import HeadroomError
from testbed.servers import Process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WORKERS = {"producer": "producer", "consumer-1": "consumer", "consumer-2": "consumer"}  # process -> spider
SETTINGS = {
    "STOP_WHEN_DONE": "1",
    "ALLOW_PRIVATE_ADDRESSES": "1",  # the forum is on loopback
    "NODE_CPU_LIMIT_PERCENT": "100",  # the machine is the user's: whatever else it does, the demo goes on
    "NODE_MEMORY_LIMIT_PERCENT": "100",
    "SINK_RETRY_MAX_SECONDS": "0.5",  # the workers start while Kafka does, and should see soon that it is up
}


class Workers:
    """`scrapy crawl` processes that end by themselves when all is done.

    Args:
        logs: Folder for their logs.
        settings: For `-s`, beyond `SETTINGS`.
        environment: Variables beyond those of this process, such as addresses: they may hold passwords, which a command
            line would show to everybody on the machine.
    """

    def __init__(self, logs: Path, settings: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._logs = logs
        self._settings = {**SETTINGS, **settings}
        self._environment = environment
        self._processes: dict[str, Process] = {}

    @property
    def running(self) -> bool:
        """Whether any of them runs."""
        return any(process.running for process in self._processes.values())

    def start(self, sinks: Sequence[str], most: int = len(WORKERS)) -> None:
        """Starts the first `most` that aren't there yet; consumers deliver to `sinks`."""
        for name, spider in itertools.islice(WORKERS.items(), most):
            if name not in self._processes:
                # A producer has no items: it need not wait for a sink.
                settings = {**self._settings, "ITEM_SINKS": ",".join(sinks) if spider == "consumer" else "files"}
                options = [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
                command = [sys.executable, "-m", "scrapy", "crawl", spider, *options]
                self._processes[name] = Process(name, command, self._logs, environment=self._environment)
                self._processes[name].start()

    async def restart_consumers(self, sinks: Sequence[str]) -> None:
        """Gives the consumers other sinks: they hand back what they hold, and new ones take their place."""
        consumers = [name for name in self._processes if WORKERS[name] == "consumer"]
        await asyncio.gather(*(asyncio.to_thread(self._processes[name].stop) for name in consumers))
        for name in consumers:
            del self._processes[name]
        self.start(sinks, len(self._processes) + len(consumers))

    def check(self) -> None:
        """Looks whether all is well.

        Raises:
            HeadroomError: One has ended in another way than by being done.
        """
        for name, process in self._processes.items():
            if not process.running and (status := process.wait(0)):
                raise HeadroomError(f"{name} ended with status {status}; {process.last_words()}")

    def kill(self) -> None:
        """Ends all of them at once."""
        for process in self._processes.values():
            process.kill()
