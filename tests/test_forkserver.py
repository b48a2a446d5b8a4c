"""A command of the fork server is a process like any other: it has all of its own, and ends with who started it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from forkserver import ForkedProcess
from waiting import has_ended, until

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[1]
COMMAND = """
from scrapy.commands import ScrapyCommand

class Command(ScrapyCommand):
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}

    def short_desc(self):
        return "Runs some Python"

    def run(self, args, opts):
        exec(args[0])
"""
STARTER = """
import sys
from pathlib import Path
from forkserver import ForkServer
from test_forkserver import python

folder = Path(sys.argv[1])
with ForkServer(folder) as server:
    process = python(server, folder, "import os; os.system('echo $$; sleep 600')")
    process.start()
    print(server.pid, process.pid, folder, flush=True)
    process.wait(600)
"""


def python(server, folder, code, **environment):
    """Returns a forked command that runs some Python."""
    (folder / "few").mkdir(exist_ok=True)
    (folder / "few" / "python.py").write_text(COMMAND)
    (folder / "own_settings.py").write_text("COMMANDS_MODULE = 'few'\n")
    environment |= {"SCRAPY_SETTINGS_MODULE": "own_settings", "PYTHONPATH": str(folder)}
    return ForkedProcess(server, "python", ["python", code], folder, environment=environment, directory=folder)


def test_it_has_a_pid_group_environment_directory_and_random_numbers_of_its_own_and_ends_once(fork_server, tmp_path):
    code = """import os, random; from crawler import config
print(os.getpid(), os.getpgrp(), config.REDIS_URL.of({}), os.getcwd(), os.read(0, 1)); print(random.random()); exit(3)
"""
    process = python(fork_server, tmp_path, code, REDIS_URL="redis://elsewhere")
    for _ in range(2):
        process.start()
        until(lambda: not process.running, "its end")
        process.kill()
        assert process.wait(0) == process.stop() == 3
    *_, number, told, other = process.log.read_text().splitlines()
    assert told == f"{process.pid} {process.pid} redis://elsewhere {tmp_path} b''"
    assert number != other


def test_signals_reach_it_and_it_is_killed_with_its_children(fork_server, tmp_path):
    with python(fork_server, tmp_path, "import os; os.system('echo $$; sleep 600')") as process:
        child = psutil.Process(int(until(lambda: process.log.read_text().strip(), "its child")))
        assert psutil.Process(process.pid).children() == [child]
        process.kill()
        assert process.wait(20) == -signal.SIGKILL
        until(lambda: has_ended(child.pid), "its child's end")
        process.start()
        until(lambda: process.log.read_text().count("\n") == 2, "another child")
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM


def test_it_ends_with_its_starter(tmp_path):
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}:{os.environ['PYTHONPATH']}"
    }  # the commands' names
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, tmp_path], stdout=subprocess.PIPE, env=environment
    ) as starter:
        server, process, folder = starter.stdout.readline().split()
        child = until(lambda: (Path(os.fsdecode(folder)) / "python.log").read_text().strip(), "a child")
        starter.kill()
        starter.communicate()
    until(lambda: all(has_ended(int(pid)) for pid in (server, process, child)), "their end")
