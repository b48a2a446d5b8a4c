"""What breaks during a soak, one thing after the other, chosen at random."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.soak import Soak
    from testbed.servers.process import Process

PAUSE_SECONDS = (2.0, 14.0)  # between two faults
AWAY_SECONDS = (0.5, 9.0)  # of a server; up to nearly two sessions
FREEZE_SECONDS = (0.5, 15.0)  # of a worker; up to three sessions
STOP_SECONDS = 30.0  # in which a worker must end after SIGTERM


class Faults:
    """Breaks a soak's parts, and mends what is to be mended.

    Attributes:
        injected: How many of each kind.
        freezes: Worker -> when it was frozen, from and to, in s since the epoch.
        slow_ends: What took longer to end after SIGTERM than it may.
    """

    def __init__(self, soak: Soak) -> None:
        self._soak, self._random = soak, soak.random
        self.injected: Counter[str] = Counter()
        self.freezes: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.slow_ends: list[str] = []
        self._to_mend: list[tuple[float, Callable[[], None]]] = []
        self._next_s = time.monotonic() + self._random.uniform(*PAUSE_SECONDS)
        self._kinds: dict[str, tuple[int, Callable[[], None]]] = {
            "kill -9 of a worker": (5, self._kill_worker),
            "SIGTERM to a worker": (3, self._end_worker),
            "freeze of a worker": (4, self._freeze_worker),
            "kill -9 of Redis": (2, lambda: self._kill_server("redis")),
            "freeze of Redis": (1, self._freeze_redis),
            "pause of a plan": (2, self._pause_plan),
        }
        for name in soak.servers.keys() - {"redis"}:
            self._kinds[f"kill -9 of {name.title()}"] = (1, lambda name=name: self._kill_server(name))

    def step(self) -> None:
        """Mends what is due, and breaks something when it is time."""
        self._mend(time.monotonic())
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + self._random.uniform(*PAUSE_SECONDS)
        kinds = list(self._kinds)
        kind = self._random.choices(kinds, [self._kinds[name][0] for name in kinds])[0]
        self.injected[kind] += 1
        self._kinds[kind][1]()

    def end(self) -> None:
        """Mends everything."""
        self._mend(float("inf"))

    def _mend(self, until_s: float) -> None:
        due = [entry for entry in self._to_mend if entry[0] <= until_s]
        self._to_mend = [entry for entry in self._to_mend if entry[0] > until_s]
        for _, mend in due:
            mend()

    def _later(self, span: tuple[float, float], mend: Callable[[], None]) -> None:
        self._to_mend.append((time.monotonic() + self._random.uniform(*span), mend))

    def _a_worker(self) -> Process:
        return self._random.choice(self._soak.workers)

    def _replace(self, worker: Process) -> None:
        self._soak.workers.remove(worker)
        self._soak.start_worker(worker.name.partition("-")[0])

    def _kill_worker(self) -> None:
        worker = self._a_worker()
        worker.kill()
        self._replace(worker)

    def _end_worker(self) -> None:
        worker = self._a_worker()
        os.kill(worker.pid, signal.SIGCONT)
        began = time.monotonic()
        status = worker.stop(STOP_SECONDS)
        if status not in (0, -signal.SIGTERM):  # the latter: it was still starting
            self.slow_ends.append(f"{worker.name}: status {status} {time.monotonic() - began:.0f} s after SIGTERM")
        self._replace(worker)

    def _freeze_worker(self) -> None:
        worker, began = self._a_worker(), time.time()
        os.kill(worker.pid, signal.SIGSTOP)

        def thaw() -> None:
            if worker.running:
                os.kill(worker.pid, signal.SIGCONT)
            self.freezes[worker.name].append((began, time.time()))

        self._later(FREEZE_SECONDS, thaw)

    def _kill_server(self, name: str) -> None:
        server = self._soak.servers[name]
        server.kill()
        self._later(AWAY_SECONDS, server.start)

    def _freeze_redis(self) -> None:
        server = self._soak.servers["redis"]
        if server.running:
            frozen = server.pid
            os.kill(frozen, signal.SIGSTOP)

            def thaw() -> None:
                if server.running and server.pid == frozen:  # else it was killed meanwhile, and perhaps started anew
                    os.kill(frozen, signal.SIGCONT)

            self._later(AWAY_SECONDS, thaw)

    def _pause_plan(self) -> None:
        if self._soak.plans:
            name = self._random.choice(list(self._soak.plans)[-4:])
            self._soak.in_background(self._pause_for, name, self._random.uniform(*AWAY_SECONDS))

    def _pause_for(self, plan: str, seconds: float) -> None:
        if self._soak.command("plan", "pause", plan).returncode == 0:
            time.sleep(seconds)
        self._soak.until_done("plan", "resume", plan)
