"""Every command: its help text, and that a process of its own answers what the command answers in the other tests."""

from __future__ import annotations

import os
import subprocess
from importlib import import_module

import pytest
from command_line import ROOT

NAMES = sorted(path.stem for path in (ROOT / "crawler" / "commands").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_every_module_is_a_command_with_a_help_text(scrapy, name):
    done = scrapy(name, "-h", environment={"COLUMNS": "100"})
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[2].startswith(f"scrapy {name} ")
    for action, (arguments, text) in getattr(import_module(f"crawler.commands.{name}").Command, "actions", {}).items():
        head = f"{action} {arguments}".strip()
        assert any(line.startswith(head) and text[:20] in line for line in lines), done.stdout


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


LONG = "x" * 9_000


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "show", LONG),
        ("plan", "pause", LONG),
        ("plan", "check", LONG),
        ("ledger", LONG),
        ("seeds", "offer", LONG),
        ("seeds", "offer", "--plan", LONG, "http://board.test/"),
        ("seeds", "show", f"{LONG}://board.test/"),
        ("site", "check", LONG),
        ("items", "tail", LONG),
        ("crawl", LONG),
        ("nodes", f"--{LONG}"),
    ],
    ids=lambda words: "-".join(words).replace(LONG, "LONG")[:40],
)
def test_an_error_is_one_line_that_quotes_little(scrapy, words):
    done = scrapy(*words)
    assert done.returncode == 1
    assert (done.stderr.count("\n"), done.stderr.startswith("error: ")) == (1, True)
    assert len(done.stderr) < 700


def test_a_number_that_python_cannot_write_is_described_in_one_line(scrapy, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"name: a\nsites: [demo_forum]\nkeywords: {{w: {{optional: [x]}}}}\npages: 0x{'f' * 5_000}\n")
    for action in ("check", "submit"):
        done = scrapy("plan", action, plan)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert ":4: pages: got a number of more than 4300 digits, expected " in done.stderr
