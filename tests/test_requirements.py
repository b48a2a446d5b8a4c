"""The files of pinned packages agree: what one installs, another doesn't replace."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = ("requirements.txt", "requirements-dev.txt", "requirements-deploy.txt")  # each is locked within the one before


def pins(name):
    text = (ROOT / name).read_text("utf-8")
    return dict(re.findall(r"(?m)^([a-z0-9.-]+)==([^ ;]+)", text))


def test_a_package_has_one_version_in_all_files():
    for first, second in pairwise(FILES):
        here, there = pins(first), pins(second)
        assert {name for name in here.keys() & there.keys() if here[name] != there[name]} == set(), (first, second)
        assert len(here.keys() & there.keys()) > 50
