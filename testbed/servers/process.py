"""A process that is started, waited for, stopped or killed, and never left behind."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Self

from crawler.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

ROOT = Path(__file__).parents[2]  # of the checkout: the testbed is no installed package
LEASH = Path(__file__).with_name("leash.py")
STOP_SECONDS = 30.0  # a worker's own limit for handing back what it holds; servers take under 1
POLL_SECONDS = 0.02  # between two looks whether a server answers
PROBE_SECONDS = 1.0  # for one such look; on loopback a ready server answers within ms
# Below Linux's ephemeral ports: a client that reconnects while its server is down could be given the server's own
# port from those, connect to itself, and keep the server from coming back.
PORTS = range(20_000, 30_000)


def free_port() -> int:
    """Returns a loopback port that nobody listens on now; the caller should take it soon.

    Raises:
        UnavailableError: None found in 100 tries.
    """
    for _ in range(100):
        port = random.choice(PORTS)
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise UnavailableError(f"no free port between {PORTS.start} and {PORTS.stop} on 127.0.0.1")


def answers_http(port: int, path: str) -> bool:
    """Returns whether a loopback port answers a GET with less than an error of its own (status below 500)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PROBE_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
        except (OSError, http.client.HTTPException):
            return False


class Process:
    """A command in a session of its own, its output in a log file.

    Guaranteed: it and all its children end at the latest when the process that started it ends, however that ends.
    A terminal's Ctrl-C doesn't reach it; whoever started it decides. It can be started again after it ended.

    Args:
        name: For messages and the log file.
        command: Program and arguments, without a shell.
        folder: Made when missing; the log is `folder/name.log` and grows over restarts.
        environment: Variables beyond those of this process; they win.
        directory: Where the command runs; None: where this process does.
    """

    STOP_SIGNAL: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.name = name
        self.folder = folder
        self.log = folder / f"{name}.log"
        self._command = tuple(command)
        self._environment = {**os.environ, **(environment or {})}
        paths = (str(ROOT), self._environment.get("PYTHONPATH"))
        self._environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self._directory = directory
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether it was started and hasn't ended."""
        return self._child is not None and self._child.poll() is None

    @property
    def pid(self) -> int:
        """The command's process id; 0 when it isn't started."""
        return self._child.pid if self._child else 0

    def start(self) -> None:
        """Starts the command, unless it runs."""
        if self.running:
            return
        self._end()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._child = self._launch(log)

    def _launch(self, log: BinaryIO) -> subprocess.Popen[bytes]:
        """Returns the running command, in a process group of its own that ends when its `stdin` closes."""
        return subprocess.Popen(  # noqa: S603 -- a tuple of arguments, no shell
            [sys.executable, "-I", "-S", str(LEASH), *self._command],
            stdin=subprocess.PIPE,  # the leash
            stdout=log,
            stderr=subprocess.STDOUT,
            env=self._environment,
            cwd=self._directory,
            start_new_session=True,
        )

    def wait(self, timeout_s: float) -> int:
        """Waits for the command to end by itself and returns its exit status; minus the signal where one ended it.

        Raises:
            UnavailableError: It isn't started, or still runs after `timeout_s` seconds; then it goes on running.
        """
        if self._child is None:
            raise UnavailableError(f"{self.name} isn't started")
        try:
            status = self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise UnavailableError(f"{self.name} still runs after {timeout_s:g} s; {self.last_words()}") from None
        self._end()
        return status

    def stop(self, timeout_s: float = STOP_SECONDS) -> int | None:
        """Asks the command to end (`STOP_SIGNAL`), and kills it when it hasn't after `timeout_s` seconds.

        Returns:
            Its exit status, minus the signal where one ended it; None when it wasn't started.
        """
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(self.STOP_SIGNAL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(timeout_s)
        return self._end()

    def kill(self) -> None:
        """Ends the command and its children at once, as a crash would (SIGKILL)."""
        self._end()

    def restart(self) -> None:
        """Stops and starts it: same ports, same data. Only starts it when it had been killed."""
        self.stop()
        self.start()

    def last_words(self) -> str:
        """Returns the last line of the log, and where the log lies."""
        lines = self.log.read_text(errors="replace").split("\n") if self.log.exists() else []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"last of {self.log}: {last or 'nothing'}"

    def _end(self) -> int | None:
        """Kills what is left of the process group, whose watcher keeps the number from being given to others."""
        if self._child is None or self._child.stdin is None:
            return None
        if not self._child.stdin.closed:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._child.stdin.close()
        return self._child.wait()


class Server(Process, ABC):
    """A process on loopback that counts as started when it really answers."""

    START_SECONDS: ClassVar[float] = 30.0  # enough for a loaded machine; each takes under 4 on an idle one

    def start(self) -> None:
        """Starts it, unless it runs, and waits until it answers.

        Raises:
            UnavailableError: It ended, or didn't answer within `START_SECONDS`; nothing is left running.
        """
        if self.running:
            return
        super().start()
        try:
            self._wait_until_it_answers()
        except BaseException:  # Ctrl-C too
            self.kill()
            raise

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + self.START_SECONDS
        while not self._answers():
            if not self.running:
                raise UnavailableError(f"{self.name} ended at start; {self.last_words()}")
            if time.monotonic() > deadline:
                raise UnavailableError(f"{self.name} is silent after {self.START_SECONDS:g} s; {self.last_words()}")
            time.sleep(POLL_SECONDS)

    @abstractmethod
    def _answers(self) -> bool:
        """Returns whether a client gets an answer now; takes at most about `PROBE_SECONDS`."""


def run_to_end(
    name: str, command: Sequence[str], folder: Path, timeout_s: float, environment: Mapping[str, str] | None = None
) -> None:
    """Runs a command until it ends; arguments as for `Process`.

    Raises:
        UnavailableError: It failed, or still ran after `timeout_s` seconds and was killed.
    """
    process = Process(name, command, folder, environment=environment)
    try:
        process.start()
        if status := process.wait(timeout_s):
            raise UnavailableError(f"{name} failed with status {status}; {process.last_words()}")
    finally:
        process.kill()
