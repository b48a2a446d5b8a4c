"""Processes that tests and the demo start: a command, or a server on loopback. None outlives its starter."""

from __future__ import annotations

import contextlib
import functools
import http.client
import itertools
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

from crawler.base.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

ROOT = Path(__file__).parents[2]  # of the checkout: the testbed is no installed package
WATCHDOG = Path(__file__).with_name("watchdog.py")
STOP_SECONDS = 30.0  # the longest that a worker takes to hand back what it holds; servers take under 1
POLL_SECONDS = 0.02  # between two looks whether a server answers
PROBE_SECONDS = 1.0  # the longest such look; on loopback a server that is ready answers within ms
# Below Linux's ephemeral ports. From those, a client that reconnects while its server is down may be given the server's
# port as its own: it then connects to itself, and keeps the server from listening there again.
PORTS = range(20_000, 30_000)
BLOCK_PORTS = 250  # of one process; the longest test run starts some hundred servers, and few of them at a time


@functools.cache
def _ports() -> Iterator[int]:
    """Returns this process's own ports, one after the other and then again.

    A port that is merely free may be drawn twice before the first server listens there, by one test or by two
    processes. So each process has a block of ports for itself. It owns the block whose first port it holds.

    Raises:
        UnavailableError: Other processes have all blocks.
    """
    for first in random.sample(PORTS[::BLOCK_PORTS], len(PORTS) // BLOCK_PORTS):
        with socket.socket() as mark, contextlib.suppress(OSError):
            mark.bind(("127.0.0.1", first))
            mark.detach()  # so that it stays bound until the process ends
            return itertools.cycle(range(first + 1, first + BLOCK_PORTS))
    raise UnavailableError(f"no block of free ports between {PORTS.start} and {PORTS.stop} on 127.0.0.1")


def free_port() -> int:
    """Returns a loopback port that nobody listens on and that no other test or demo takes.

    Raises:
        UnavailableError: There is none.
    """
    for port in itertools.islice(_ports(), BLOCK_PORTS):
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise UnavailableError(f"no free port among the {BLOCK_PORTS} of this process")


def answers_http(port: int, path: str) -> bool:
    """Returns whether a loopback port answers a GET request with a status below 500."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PROBE_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
        except (OSError, http.client.HTTPException):
            return False


class Process:
    """A command that runs in a session of its own and writes its output to a log file.

    The command and all its children end at the latest when the process that started them ends, however that ends:
    `watchdog.py` says how. A terminal's Ctrl-C doesn't reach them. A command that has ended can be started again.

    Args:
        name: For messages and for the log file.
        command: Program and arguments; no shell is involved.
        folder: Made when missing. The log is `folder/name.log`; a restart appends to it.
        environment: Variables that are added to this process's own, or replace them.
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
        paths = (str(ROOT), self._environment.get("PYTHONPATH"))  # so that a Python command finds the testbed
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
        """Whether the command was started and hasn't ended."""
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
        """Returns the running command. Its process group ends when its `stdin` closes, held by this process."""
        return subprocess.Popen(  # noqa: S603 -- a tuple of arguments, no shell
            [sys.executable, "-I", "-S", str(WATCHDOG), *self._command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=self._environment,
            cwd=self._directory,
            start_new_session=True,
        )

    def wait(self, timeout_s: float) -> int:
        """Waits for the command to end by itself.

        Returns:
            Its exit status; minus the signal's number where a signal ended it.


        Raises:
            UnavailableError: The command isn't started, or still runs after `timeout_s` seconds and goes on.
        """
        if self._child is None:
            raise UnavailableError(f"{self.name} isn't started")
        try:
            status = self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise UnavailableError(f"{self.name} still runs after {timeout_s:g} s; {self.last_log_line()}") from None
        self._end()
        return status

    def stop(self, timeout_s: float = STOP_SECONDS) -> int | None:
        """Asks the command to end, by `STOP_SIGNAL`, and kills it when it hasn't ended after `timeout_s` seconds.

        Returns:
            Its exit status, minus the signal's number where a signal ended it; None when it wasn't started.
        """
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(self.STOP_SIGNAL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(timeout_s)
        return self._end()

    def kill(self) -> None:
        """Ends the command and its children at once, as a crash does (SIGKILL)."""
        self._end()

    def restart(self) -> None:
        """Stops the command where it runs, and starts it again: on the same ports, with the same data."""
        self.stop()
        self.start()

    def last_log_line(self) -> str:
        """Returns the last line of the log, with the log's path, for an error message."""
        lines = self.log.read_text(errors="replace").split("\n") if self.log.exists() else []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"last of {self.log}: {last or 'nothing'}"

    def _end(self) -> int | None:
        """Kills what is left of the process group, and waits for the command.

        The group's number still belongs to it: the watchdog is a member until the pipe to it closes.
        """
        if self._child is None or self._child.stdin is None:
            return None
        if not self._child.stdin.closed:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._child.stdin.close()
        return self._child.wait()


class Server(Process, ABC):
    """A server on loopback. It counts as started when it answers a client."""

    START_SECONDS: ClassVar[float] = 30.0  # enough for a loaded machine; each takes under 4 on an idle one

    def start(self) -> None:
        """Starts the server, unless it runs, and waits until it answers.

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
                raise UnavailableError(f"{self.name} ended at start; {self.last_log_line()}")
            if time.monotonic() > deadline:
                raise UnavailableError(f"{self.name} is silent after {self.START_SECONDS:g} s; {self.last_log_line()}")
            time.sleep(POLL_SECONDS)

    @abstractmethod
    def _answers(self) -> bool:
        """Returns whether a client gets an answer now; takes `PROBE_SECONDS` at most."""


def run_to_end(
    name: str, command: Sequence[str], folder: Path, timeout_s: float, environment: Mapping[str, str] | None = None
) -> None:
    """Runs a command to its end; the arguments are those of `Process`.

    Raises:
        UnavailableError: The command failed, or still ran after `timeout_s` seconds and was killed.
    """
    process = Process(name, command, folder, environment=environment)
    try:
        process.start()
        if status := process.wait(timeout_s):
            raise UnavailableError(f"{name} failed with status {status}; {process.last_log_line()}")
    finally:
        process.kill()
