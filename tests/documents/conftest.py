"""A walk for each test: an empty Redis, and a folder as a reader has it after the installation."""

from __future__ import annotations

import pytest
from documents.walk import Walk


@pytest.fixture
def walk(redis_url, tmp_path):
    return Walk.begin(tmp_path, redis_url)
