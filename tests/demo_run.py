"""A `make demo` in the background, and what it should find."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
from waiting import until

from crawler import plans
from testbed.audit import BOARDS, forum_threads

ROOT = Path(__file__).parents[1]
DEMO_SECONDS = 180.0  # three times what a demo may take at all; tests run side by side
SERVERS = ("REDIS_URL", "REDIS_CLUSTER", "MONGO_URL", "MONGO_DATABASE", "KAFKA_BOOTSTRAP_SERVERS")


class DemoRun:
    """One run, in a folder of its own; knows all processes that descend from it. A context ends it.

    Attributes:
        output: What stdout got, as far as it was read.
    """

    def __init__(self, folder, *arguments, environment=None):
        self.folder = folder
        self.output = ""
        self._mark = uuid.uuid4().hex
        inherited = {name: value for name, value in os.environ.items() if name not in SERVERS}
        own = {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self._environment = inherited | own | {"DEMO_RUN": self._mark} | (environment or {})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "testbed", *arguments],
            cwd=folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def read_until(self, text):
        """Reads on until a line has `text`."""
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return
        raise AssertionError(f"{text!r} never came: {self.output}{self.process.stderr.read()}")

    def end(self):
        """Waits for the end; returns the exit status and what stderr got."""
        rest, errors = self.process.communicate(timeout=DEMO_SECONDS)
        self.output += rest
        return self.process.returncode, errors

    def interrupt(self, number):
        """Sends a signal and waits for the end."""
        self.process.send_signal(number)
        return self.end()

    def living(self):
        """Returns the command lines of all its processes that live now, its own among them."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.environ().get("DEMO_RUN") == self._mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.cmdline())
        return found

    def leaves_nothing(self):
        """Waits until all have ended: the watchers of killed processes take some ms to follow."""
        return until(lambda: not self.living(), "the end of all processes")

    def row(self, name):
        """Returns what the result says under a name."""
        return re.search(rf"^  {name} +(.*)$", self.output, re.MULTILINE)[1]

    def commands(self, title):
        """Returns the commands under a title, without their comments."""
        block = self.output.partition(title)[2].partition("\n")[2]
        return [line.partition("  #")[0].strip() for line in block.splitlines() if "  # " in line]

    def exports(self):
        """Returns the lines that give a shell the settings of a demo that is kept."""
        return re.findall(r"^  (export .*)$", self.output, re.MULTILINE)

    def shell(self, command):
        """Runs a command line as a user would paste it, in the same place and environment; returns its exit status."""
        options = {"cwd": self.folder, "env": self._environment, "capture_output": True, "timeout": DEMO_SECONDS}
        return subprocess.run(["sh", "-c", command], check=False, **options).returncode


def expected_items():
    """Returns how many items the forum has for the demo's plan, by site."""
    plan = plans.load(str(ROOT / "plans/demo.yaml"), max_seeds=10_000)
    ids = forum_threads(plan)
    html = sum(number < 2000 for number in ids)
    return dict(zip(BOARDS, (html, len(ids) - html), strict=True))


def broken_java(folder):
    """Returns an environment whose `java` and `mvn` fail: the demo finds them, and Kafka can't be started."""
    folder.mkdir(parents=True)
    for program, words in (("java", "no memory"), ("mvn", "no route")):
        (folder / program).write_text(f"#!/bin/sh\necho {words}\nexit 1\n")
        (folder / program).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
