"""What a test needs of its machine: there, or the test is skipped; in CI it must be there."""

from __future__ import annotations

import contextlib
import os
from typing import NoReturn

import pytest

from crawler.base.errors import UnavailableError


def need(reason) -> NoReturn:
    """Skips the test, or fails it where everything must be there (CI=true)."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed in CI: {reason}", pytrace=False)
    pytest.skip(str(reason))


@contextlib.contextmanager
def started(kind, *arguments):
    """Runs a server; a test that needs it is skipped where it can't be had."""
    try:
        server = kind(*arguments)
        server.start()
    except UnavailableError as error:
        need(error)
    try:
        yield server
    finally:
        server.stop()
