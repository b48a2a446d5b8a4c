"""Runs `scrapy` commands, to their end or in the background.

`scrapy crawl`, and whatever runs in the background, is a real process; other commands run in this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack

import command_line
from command_line import COMMAND_SECONDS, ROOT
from forkserver import ForkedCommand, ForkedProcess

from testbed.servers import Process

# What a test didn't ask for can't be reached, least of all a real server that the environment names.
NOWHERE = {
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "REDIS_CLUSTER": "0",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
    "MONGO_URL": "mongodb://127.0.0.1:1",
    "MONGO_DATABASE": "nowhere",
}
ANY_LOAD = {"NODE_CPU_LIMIT_PERCENT": 100, "NODE_MEMORY_LIMIT_PERCENT": 100}  # other tests and servers run beside it


class Runner:
    """Runs commands that share settings, an environment and a folder for their logs.

    Args:
        server: The fork server; commands that need another program before them are started without it.
        folder: For logs.
        settings: Of every command, as `-s` options; they win over `ANY_LOAD`.
        environment: Of every command, beyond this process's and `NOWHERE`.
    """

    def __init__(self, server, folder, settings=None, environment=None):
        self._server = server
        self._folder = folder
        self.settings = ANY_LOAD | (settings or {})
        self.environment = NOWHERE | (environment or {})
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Kills whatever still runs."""
        for process in self.started:
            process.kill()

    def words(self, name, *arguments, settings=None):
        """Returns the words that follow `scrapy` on the command line."""
        chosen = self.settings | (settings or {})
        options = [word for key, value in chosen.items() for word in ("-s", f"{key}={value}")]
        return [name, *options, *map(str, arguments)]

    def run(self, *words, settings=None, environment=None, stdin="", timeout=COMMAND_SECONDS):
        """Runs a command to its end; returns a subprocess.CompletedProcess with text."""
        words = self.words(*words, settings=settings)
        if words[0] not in {"crawl", "runspider"}:
            variables = self.environment | (environment or {})
            return command_line.run(words, variables, stdin=stdin.encode(), timeout_s=timeout)
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(stdin.encode())
            files[0].seek(0)
            variables = {**os.environ, **self.environment, **(environment or {})}
            command = ForkedCommand(self._server, words, files, variables, ROOT)
            stack.callback(command.stdin.close)
            status = command.wait(timeout)
            for file in files:
                file.seek(0)
            _, output, errors = (file.read().decode() for file in files)
        return subprocess.CompletedProcess(words, status, output, errors)

    def start(self, *words, settings=None, environment=None, under=(), tree=None, name=None):
        """Starts a command in the background.

        Args:
            under: The words of a program that is to run it.
            tree: The folder of the code that runs, where it isn't this checkout's.

        Returns:
            A `Process` (wait, stop, kill, log).
        """
        name = name or f"{words[0]}-{len(self.started) + 1}"
        words = self.words(*words, settings=settings)
        options = {"environment": self.environment | (environment or {}), "directory": tree or ROOT}
        if under or tree:
            process = Process(name, [*under, sys.executable, "-m", "scrapy", *words], self._folder, **options)
        else:
            process = ForkedProcess(self._server, name, words, self._folder, **options)
        self.started.append(process)
        process.start()
        return process
