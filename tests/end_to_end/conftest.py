"""Many hosts to crawl."""

from __future__ import annotations

import contextlib

import pytest
from needs import started

from testbed.servers.many_hosts import ManyHosts


@pytest.fixture
def many_hosts(tmp_path):
    """Returns a function that starts hosts on so many addresses and ports; they end with the test."""
    with contextlib.ExitStack() as servers:
        yield lambda *numbers: servers.enter_context(started(ManyHosts, tmp_path, *numbers))


@pytest.fixture
def crawl(crawl):
    """That of all tests, for servers on loopback, which may be asked again soon."""
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.1}
    return crawl
