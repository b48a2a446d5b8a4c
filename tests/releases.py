"""Code of earlier versions, laid out from git's history, to run beside today's; a tree's commands."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest
from command_line import ROOT

PREVIOUS = "0.1.0"  # the release before this code; nothing else names it


def previous_release(folder):
    """Lays out the code of the previous release below a folder; returns where. Skips the test without git's history."""
    return lay_out(f'__version__ = "{PREVIOUS}"', "crawler/__init__.py", folder)


def lay_out(text, file, folder):
    """Lays out the last code one of whose files had a text that it has no longer; returns the folder of that tree.

    Commits are found by what they hold, not by their ids, which change when a history is rewritten.
    """
    removed_in = _git("log", "-1", "--format=%H", f"-S{text}", "--", file).decode().strip()
    if not removed_in:
        pytest.skip(f"git's history here has no version with {text!r} in {file}")
    tree = Path(folder) / "tree"
    with tarfile.open(fileobj=io.BytesIO(_git("archive", f"{removed_in}^"))) as archive:
        archive.extractall(tree, filter="data")
    assert text in (tree / file).read_text("utf-8")
    write_entry_points(tree, tree)  # found before those of what is installed, since Python looks there first
    return tree


def write_entry_points(tree, folder):
    """Writes below a folder what Scrapy reads the commands of a tree of code from, as an installation would."""
    groups = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"].get("entry-points", {})
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()))
    ]
    info = folder / "headroom-0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _git(*words):
    """Returns what git prints; skips the test where there is no git, or no history."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, timeout=60).stdout
    except FileNotFoundError:
        pytest.skip("git isn't installed")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no history of git's here: {error.stderr.decode().strip()}")
