"""Three projects: one that is Scrapy alone, one with the add-on, and this repository's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from forkserver import ForkedCommand
from runner import NOWHERE

ROOT = Path(__file__).parents[2]
COMMAND_SECONDS = 60
ADD_ON = 'ADDONS = {"crawler.Headroom": 100}'
PROJECTS = ("bare", "with the add-on", "ours")


class Project:
    """A Scrapy project; `package` holds its spiders' modules."""

    def __init__(self, folder, package):
        self.folder = folder
        self.package = package
        self.environment = {**os.environ, **NOWHERE}
        self.options = ()

    def run(self, *words, environment=None, python=()):
        """Runs a `scrapy` command in a new process, to its end; `python` are options of Python."""
        name, *rest = words
        return subprocess.run(
            [sys.executable, *python, "-m", "scrapy", name, *self.options, *map(str, rest)],
            cwd=self.folder,
            env=self.environment | (environment or {}),
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )


@pytest.fixture(scope="session")
def projects(tmp_path_factory):
    """The three projects by name, each with the spiders of this folder."""
    folder = tmp_path_factory.mktemp("projects")
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "shop", folder / "bare"],
        check=True,
        cwd=folder,
        capture_output=True,
    )
    shutil.copy(Path(__file__).with_name("odd_spider.py"), folder / "bare" / "shop" / "spiders")
    shutil.copytree(folder / "bare", folder / "added")
    settings = folder / "added" / "shop" / "settings.py"
    text = settings.read_text()
    assert "ADDONS = {}" in text
    settings.write_text(text.replace("ADDONS = {}", ADD_ON))
    made = {
        "bare": Project(folder / "bare", "shop.spiders"),
        "with the add-on": Project(folder / "added", "shop.spiders"),
        "ours": Project(ROOT, "crawler.spiders"),
    }
    for project in made.values():  # the code under test, and the spiders for ours, which stay out of its folder
        project.environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    ours = made["ours"]
    ours.environment["PYTHONPATH"] += f"{os.pathsep}{folder / 'bare'}"
    ours.options = ("-s", "SPIDER_MODULES=crawler.spiders,shop.spiders")
    return made


@pytest.fixture
def run(fork_server):
    """Returns a function that runs a command in a project, forked; it gives the exit status and what was printed."""

    def execute(project, words):
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            environment = project.environment | {"BROWSER": "true"}  # a program that shows nothing
            command = ForkedCommand(fork_server, words, files, environment, project.folder)
            stack.callback(command.stdin.close)
            status = command.wait(COMMAND_SECONDS)
            for file in files:
                file.seek(0)
            return status, files[1].read().decode(), files[2].read().decode()

    return execute
