"""Shared behaviour of commands, on real command lines of a small project made for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_json
from crawler.errors import PlanError


class Command(HeadroomCommand):
    def short_desc(self):
        return "Greets"

    def execute(self, args, opts):
        if args == ["fail"]:
            raise PlanError("no such plan:\\n\\x1b[31mred\\nend")
        if args == ["bug"]:
            raise ZeroDivisionError
        if args == ["say"]:
            print("洪水")
        if args == ["much"]:
            for number in range(200_000):
                print(number)
        elif opts.json:
            print_json({"name": self.name, "words": args, "prefix": self.values["KEY_PREFIX"]})
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def greet(tmp_path):
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "__init__.py").touch()
    (tmp_path / "few" / "greet.py").write_text(COMMAND)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = own_settings\n")
    (tmp_path / "own_settings.py").write_text(
        "from crawler.settings import *\nCOMMANDS_MODULE = 'few'\n",
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii"}

    def run(*args, shell_tail=""):
        words = [sys.executable, "-m", "scrapy", "greet", *args]
        if shell_tail:
            line = " ".join(words) + shell_tail
            words = ["/bin/bash", "-o", "pipefail", "-c", line]
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def test_an_error_is_one_line_and_exit_status_1(greet):
    done = greet("fail")
    assert done.returncode == 1
    assert done.stderr == "error: no such plan: \\ufffd[31mred end\n"
    assert done.stdout == ""


def test_an_unknown_option_is_an_error(greet):
    done = greet("--jsn")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--jsn" in done.stderr


def test_a_bug_keeps_its_traceback(greet):
    done = greet("bug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_json_is_utf_8_in_any_locale(greet):
    done = greet("--json", "洪水")
    assert json.loads(done.stdout) == {"name": "greet", "words": ["洪水"], "prefix": "hr"}
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_a_character_shows_a_question_mark(greet):
    done = greet("say")
    assert (done.returncode, done.stdout, done.stderr) == (0, "??\n", "")


def test_a_closed_pipe_is_no_error(greet):
    done = greet("much", shell_tail=" | head -n 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_the_shared_class_is_no_command_itself():
    listed = subprocess.run(
        [sys.executable, "-m", "scrapy"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert " base " not in listed.stdout
