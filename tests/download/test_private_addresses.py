"""No spelling of a private address is taken for a public one."""

from __future__ import annotations

import private_hosts
import pytest

from crawler.base import urls
from crawler.download.private_addresses import is_private


@pytest.mark.parametrize("host", private_hosts.EVERY)
def test_private_addresses_are_told(host):
    assert is_private(urls.hostname(urls.canonical(f"http://{host}/")))


@pytest.mark.parametrize(
    "host",
    ["8.8.8.8", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "example.org", "localhost.example"],
)
def test_public_addresses_and_names_pass(host):
    assert not is_private(host)
