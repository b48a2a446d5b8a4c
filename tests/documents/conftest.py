"""What a walk needs: an empty Redis, and a folder as a reader has it after the installation."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from documents.walk import Walk


@pytest.fixture
def walk(redis_url, tmp_path):
    return Walk.begin(tmp_path, redis_url)


@pytest.fixture
def forked_path(fork_server, tmp_path):
    """A PATH whose `scrapy` costs no second of imports; it runs the same code, in a process of its own, as ever."""
    programs = tmp_path / "programs"
    programs.mkdir()
    fork_server.write_scrapy(programs / "scrapy")
    return os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
