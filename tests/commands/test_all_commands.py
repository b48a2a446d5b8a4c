"""Every command: its help text, and that a process of its own answers what the command answers in the other tests."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import import_module

import pytest
from command_line import ROOT
from commands.answers import error_of
from scrapy.settings import Settings

NAMES = sorted(path.stem for path in (ROOT / "crawler" / "commands").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_every_module_is_a_command_with_a_help_text(scrapy, name):
    done = scrapy(name, "-h", environment={"COLUMNS": "100"})
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[2].startswith(f"scrapy {name} ")


LOADS_ALL = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(f"crawler.commands.{name}")
print({"redis", "pydantic", "turbohtml", "yaml", "rich"} & sys.modules.keys())
"""


def test_a_command_does_not_wait_for_what_others_import():
    """Scrapy imports the modules of all commands for each one: what takes long is imported where it is used."""
    loaded = subprocess.run(
        [sys.executable, "-c", LOADS_ALL, *NAMES], capture_output=True, text=True, check=True, timeout=60
    )
    assert loaded.stdout.strip() == "set()"


COMMANDS = {name: import_module(f"crawler.commands.{name}").Command for name in NAMES}
ACTIONS = [(name, action) for name, command in COMMANDS.items() for action in getattr(command, "actions", ())]


def words_of(done):
    """Returns what a help text says, without how its lines are broken."""
    assert (done.returncode, done.stderr) == (0, "")
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(("name", "action"), ACTIONS)
def test_each_action_is_shown_with_its_own_options_and_an_example(scrapy, name, action):
    all_actions = COMMANDS[name].actions
    shown = all_actions[action]
    own = f"{action} {shown.arguments}".rstrip()
    options = " ".join(f"{option.shown} {option.text}" for option in shown.options)
    example = f"xample: scrapy {name} {shown.example}"
    assert f"{own} {shown.text} {options}".rstrip() + f" e{example}" in words_of(scrapy(name, "-h"))

    alone = words_of(scrapy(name, action, "--help"))
    assert alone.startswith(f"Usage ===== scrapy {name} {own} [options] {shown.text} ")
    assert f"E{example} Options ======= {options}".rstrip() in alone
    others = {option.name for other in all_actions.values() for option in other.options}
    for option in others - {option.name for option in shown.options}:
        assert f"{option} " not in alone


@pytest.mark.parametrize(("name", "action"), ACTIONS)
def test_the_examples_are_command_lines_that_are_understood(name, action):
    command, shown = COMMANDS[name](), COMMANDS[name].actions[action]
    command.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    opts, args = parser.parse_known_args(shown.example.split())
    command.act = lambda *words: words[0]
    assert args[0] == action
    assert command.execute(args, opts) == action


def test_an_option_of_another_action_is_refused(scrapy):
    error = error_of(scrapy("seeds", "show", "http://board.test/", "--limit", "7"))
    assert error == "seeds show takes no --limit; scrapy seeds show -h lists its options"


def test_a_misspelt_action_is_told_the_nearest(scrapy):
    assert error_of(scrapy("plan", "submti", "x.yaml")) == "'submti' after plan; did you mean submit?"
    assert error_of(scrapy("site")) == "nothing after site; actions: check, explore, new, schema, verdicts"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("plan show none", 1),
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
        ("plan", "check", LONG),
        ("seeds", "offer", "--plan", LONG, "http://board.test/"),
        ("seeds", "show", f"{LONG}://board.test/"),
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
