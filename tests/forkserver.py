"""Starts `scrapy` commands in milliseconds: a process that has imported everything forks one for each command.

Such a command is a real process, with an environment, a directory, a process group and an exit status of its own, which
signals and `kill -9` reach as they reach any other. It has merely skipped a second of imports. The server imports and
starts nothing else, because a thread, an event loop or an open connection would not survive a fork.

The server forks a keeper for each command. The keeper forks the command and reports its exit status over the connection
that asked for it. When that connection closes, which the kernel sees to even when its owner is killed, the keeper kills
the command's process group. So nothing outlives the tests.

Run: python forkserver.py SOCKET
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import uuid
from pathlib import Path

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from crawler.base.errors import UnavailableError
from testbed.servers import Process, Server

NUMBER_BYTES = 8  # of a process id, then of an exit status, on the wire
PACKAGES = ("crawler", "scrapy.commands")  # every module in them
COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "SPIDER_MIDDLEWARES")  # of Scrapy, which loads them by name
MODULES = ("aiohttp", "fasttext", "scrapy.cmdline", "scrapy_poet.commands")  # and what is imported late
NOT_YET = ("twisted.internet.reactor",)  # it chooses an event loop


class ForkServer(Server):
    """The server as the tests see it. It may serve several threads."""

    START_SECONDS = 60.0  # it takes 3 s on an idle machine

    def __init__(self, folder):
        self._address = f"\0forkserver-{uuid.uuid4().hex}"  # abstract: no file, whose path could be too long
        super().__init__("forkserver", [sys.executable, __file__, self._address[1:]], folder)

    def write_scrapy(self, path):
        """Writes a program that does what the program `scrapy` does, by a command that this server forks."""
        client = Path(__file__).with_name("forked_scrapy.py")
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {client} {self._address[1:]} "$@"\n')
        path.chmod(0o755)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self._address)
        except OSError:
            connection.close()
            raise
        return connection

    def _answers(self):
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return False
        return True


class ForkedCommand:
    """A `scrapy` command that the server has forked, with as much of subprocess.Popen as `Process` needs.

    Args:
        server: Started.
        words: Those that follow `scrapy` on a command line.
        files: Standard input, output and error.
        environment: All of it.
        directory: Where it runs.
    """

    def __init__(self, server, words, files, environment, directory):
        self.returncode = None
        self._reading = threading.Lock()
        request = {"words": words, "environment": environment, "directory": str(directory)}
        with server.connect() as connection:
            socket.send_fds(connection, [b"\n"], [file.fileno() for file in files])
            connection.sendall(json.dumps(request).encode() + b"\n")
            self.stdin = connection.makefile("rb", buffering=0)  # the command ends when this closes
        self._server = server
        self.pid = self._number()

    def poll(self):
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout=None):
        # The status comes once: whoever waits while another thread reads it takes it from there.
        if not self._reading.acquire(timeout=-1 if timeout is None else timeout):
            raise subprocess.TimeoutExpired("scrapy", timeout)
        try:
            if self.returncode is None:
                if not select.select([self.stdin], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("scrapy", timeout)
                self.returncode = self._number()
        finally:
            self._reading.release()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def _number(self):
        """Returns the next word of the keeper: a process id, then an exit status."""
        word = self.stdin.read(NUMBER_BYTES)
        if not word:
            raise UnavailableError(f"the fork server has lost a command; {self._server.last_log_line()}")
        return int.from_bytes(word, "big", signed=True)


class ForkedProcess(Process):
    """A `Process` whose command, the words that follow `scrapy`, is forked by a server."""

    def __init__(self, server, *arguments, **options):
        super().__init__(*arguments, **options)
        self._server = server

    def _launch(self, log):
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing, log, log)
            return ForkedCommand(self._server, self._command, files, self._environment, self._directory or Path.cwd())


def serve(name):
    """Forks a keeper for each connection; returns in the keeper, with the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return connection
            connection.close()


def fork(connection):
    """Forks the command that the connection asks for; returns in the command, with its words."""
    _, files, *_ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as lines:
        request = json.loads(lines.readline() or "null")
    if request is None:  # somebody looked whether the server answers
        os._exit(0)
    os.setsid()  # the keeper outlives the server
    if (pid := os.fork()) != 0:
        for file in files:
            os.close(file)
        keep(connection, pid)
    os.setsid()
    connection.sendall(os.getpid().to_bytes(NUMBER_BYTES, "big", signed=True))
    connection.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.path[0:1] = [request["directory"], *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return request["words"]


def keep(connection, pid):
    """Reports how a command ends, and kills its process group when nobody holds the other end any more."""
    command = os.pidfd_open(pid)
    if command in select.select([command, connection], [], [])[0]:
        # The command stays a zombie, so that nobody else is given its number, which is its group's too.
        end = os.waitid(os.P_PIDFD, command, os.WEXITED | os.WNOWAIT)
        status = end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
        connection.sendall(status.to_bytes(NUMBER_BYTES, "big", signed=True))
        connection.recv(1)
    os.killpg(pid, signal.SIGKILL)
    os._exit(0)


def preload():
    """Imports what commands need, but for what must see their own environment."""
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in NOT_YET:
                importlib.import_module(module.name)
    for kind in COMPONENTS:
        for component in getattr(default_settings, f"{kind}_BASE"):
            load_object(component)
    for name in MODULES:
        importlib.import_module(name)
    if threading.active_count() > 1 or any(name in sys.modules for name in NOT_YET):
        raise SystemExit("an import has started what a command must start by itself")
    gc.freeze()  # commands' garbage collectors leave the pages alone that all of them share


def run(words):
    """Runs the command in this process and ends the process, without the time that freeing all memory would take."""
    sys.argv[1:] = words
    status = 1
    try:
        runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code or 0
        if isinstance(status, str):  # Python prints it and ends with 1
            print(status, file=sys.stderr)
            status = 1
    except BaseException:  # noqa: BLE001 -- shown as Python shows it
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    preload()
    run(fork(serve(sys.argv[1])))
