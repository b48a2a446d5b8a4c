"""Each command as a process of its own, as people start it: the other tests run commands in their own process."""

from __future__ import annotations

import command_line
import pytest


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
def test_a_process_says_what_the_command_says_in_this_one(scrapy_command, words, status):
    words, environment = scrapy_command(*words.split())
    process = command_line.run_in_new_process(words, environment)
    here = command_line.run_in_this_process(words, environment)
    assert process.returncode == here.returncode == status, process.stderr
    assert (process.stdout, process.stderr) == (here.stdout, here.stderr)
