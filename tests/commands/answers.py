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


def error_of(done, asked=0):
    """Returns the one line that a command has ended with, behind one for each page that it has `asked` for."""
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1 + asked), done
    *before, last = done.stderr.splitlines()
    assert all(line.startswith("asking ") for line in before)
    assert last.startswith("error: ")
    return last.removeprefix("error: ")
