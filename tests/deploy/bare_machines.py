"""How long it takes from bare machines to a crawling set of three nodes, by each way that needs no container engine.

    PYTHONPATH=.:tests python -m deploy.bare_machines [systemd] [scrapyd]

A machine is one of machine.py's, with Python and systemd as Debian has them, and a clone; a container is a clean root.
The servers and the forum that is crawled run beside them. Packages come from the index, or from a cache before it.
One node is installed and its disk copied for the others, since three machines would install themselves at once.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import deploy.test_machine as systemd
from deploy.clone import PIP, make
from deploy.machine import Machine
from documents.walk import blocks
from waiting import until

from testbed.servers import ForumServer, Redis
from testbed.servers.process import ROOT, free_port

NODES = 3
SECONDS = 300
SCRAPYD_PAGE = ROOT / "docs/deploy-scrapyd.md"
ADDRESS = "redis://headroom:PASSWORD@redis.example.org:6379/0"
LOCAL = "ALLOW_PRIVATE_ADDRESSES=1\nNODE_CPU_LIMIT_PERCENT=100\nNODE_MEMORY_LIMIT_PERCENT=100\n"


class Clock:
    """Prints what took how long."""

    def __init__(self, way):
        self._way = way
        self._began = self._last = time.monotonic()

    def tell(self, what):
        now = time.monotonic()
        print(f"{self._way:8} {what:32} {now - self._last:6.1f} s, {now - self._began:6.1f} s in all", flush=True)
        self._last = now


def copy(machines):
    """Boots the others with what the first one has installed."""
    first, *others = machines
    for machine in others:
        machine.cut_power()
        machine.take_disk_of(first)
        machine.boot()


def by_systemd(machines, redis_url):
    """docs/deploy-systemd.md: a producer and two consumers on each node."""
    clock = Clock("systemd")
    enable = systemd.install(machines[0], redis_url)
    clock.tell("a node is installed")
    copy(machines)
    clock.tell("its disk is copied, twice")
    for machine in machines:
        machine.run(enable)
    clock.tell("nine workers have joined")
    machines[0].run(systemd.COMMANDS)
    until(lambda: any(machine.list("/var/lib/headroom/items") for machine in machines), "an item", SECONDS)
    clock.tell("the first item")


def by_scrapyd(machines, redis_url):
    """docs/deploy-scrapyd.md: a daemon on each node, which all have one network here, and so ports of their own.

    What comes then, sending the project and scheduling workers, test_scrapyd.py follows.
    """
    clock = Clock("scrapyd")
    (install,) = (text for language, text in blocks(SCRAPYD_PAGE) if language == "console")
    *lines, enable = [line.removeprefix("# ") for line in install.splitlines()]
    machines[0].run("cd /source\n" + "\n".join(lines), PIP)
    clock.tell("a node is installed")
    copy(machines)
    clock.tell("its disk is copied, twice")
    for machine in machines:
        port = free_port()
        conf = machine.place("/etc/scrapyd/scrapyd.conf")
        conf.write_text(conf.read_text().replace("http_port = 6800", f"http_port = {port}"))
        environment = machine.place("/etc/scrapyd/scrapyd.env")
        environment.write_text(environment.read_text().replace(ADDRESS, redis_url) + LOCAL)
        machine.run(enable)
    clock.tell("three daemons are up")


def main():
    """Runs each way on machines of its own."""
    for way in [globals()[f"by_{name}"] for name in sys.argv[1:] or ("systemd", "scrapyd")]:
        folder = Path(tempfile.mkdtemp(prefix="headroom-bare-"))
        try:
            with ExitStack() as stack:
                redis = stack.enter_context(Redis(folder))
                forum = stack.enter_context(ForumServer(folder, "--delay-ms", "0"))
                clone = make(folder / "clone", forum)
                machines = [Machine(folder / f"node{number}", f"node{number}", clone) for number in range(1, NODES + 1)]
                for machine in machines:
                    stack.enter_context(machine)
                way(machines, redis.url)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
