"""What all commands share, on command lines of `scrapy greet`."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import command_line
import pytest

pytestmark = pytest.mark.process

PROJECT = {
    "SCRAPY_SETTINGS_MODULE": "cli.greeting_settings",
    "PYTHONPATH": f"{command_line.ROOT}/tests",
    "PYTHONIOENCODING": "ascii",
}


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("fail", "error: no such plan: \\ufffd[31mred end\n"),
        ("--jsn", "error: unknown option '--jsn'; scrapy greet -h lists them\n"),
        ("--json=1", "error: argument --json: ignored explicit argument '1'\n"),
    ],
)
def test_an_error_is_one_line_and_exit_status_1(word, error):
    done = command_line.run(["greet", word], PROJECT)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", error)


def test_a_bug_keeps_its_traceback():
    done = command_line.run(["greet", "bug"], PROJECT)
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_json_is_utf_8_in_any_locale():
    done = command_line.run(["greet", "--json", "洪水"], PROJECT)
    assert json.loads(done.stdout) == {"name": "greet", "words": ["洪水"], "prefix": "hr", "json": True}
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_a_character_shows_a_question_mark():
    done = command_line.run(["greet", "say"], PROJECT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "??\n", "")


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", f"{sys.executable} -m scrapy greet much | head -n 1"],
        env=os.environ | PROJECT,
        cwd=command_line.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
