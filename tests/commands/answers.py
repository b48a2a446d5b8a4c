"""What commands that succeeded have answered."""

from __future__ import annotations

import json


def json_of(done):
    """Returns the JSON that a command has printed."""
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def lines_of(done):
    """Returns the lines that a command has printed, with single blanks."""
    assert (done.returncode, done.stderr) == (0, "")
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def error_of(done):
    """Returns the one line that a command has ended with."""
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
    assert done.stderr.startswith("error: ")
    return done.stderr.removeprefix("error: ").rstrip("\n")
