"""Each command as a process of its own, as people start it: the other tests run commands in their own process."""

from __future__ import annotations

import os
import subprocess

import pytest
from command_line import ROOT


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("items schema", 0),
        ("ledger --json", 0),
        ("nodes", 0),
        ("plan show none", 1),
        ("seeds list", 0),
        ("site check demo_forum", 0),
    ],
)
def test_a_process_says_what_the_command_says_in_this_one(scrapy_command, scrapy, words, status):
    command, environment = scrapy_command(*words.split())
    process = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    here = scrapy(*words.split())
    assert process.returncode == here.returncode == status, process.stderr
    assert (process.stdout, process.stderr) == (here.stdout, here.stderr)
