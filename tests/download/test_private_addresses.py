"""No spelling of a private address is taken for a public one."""

from __future__ import annotations

import pytest

from crawler.base import urls
from crawler.download.private_addresses import is_private

PRIVATE = {
    "private": "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1",
    "where most clouds, Alibaba, Oracle, and Azure keep their credentials": "169.254.169.254 100.100.100.200 "
    "192.0.0.192 168.63.129.16",
    "reserved": "192.88.99.1 192.0.2.1 198.18.0.1 240.0.0.1 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255",
    "IPv6": "[::1] [::] [fe80::1] [fec0::1] [3fff::1] [5f00::1] [2001:db8::1] [fd00:ec2::254] [fc00::1] [ff02::1]",
    "IPv4 within IPv6": "[::ffff:10.0.0.1] [::ffff:224.0.0.1] [::10.0.0.1] [::ffff:0:10.0.0.1] [::ffff:168.63.129.16] "
    "[64:ff9b::a00:1] [64:ff9b:1::1] [2002:a00:1::] [2001:0:a00:1::]",
}


@pytest.mark.parametrize("host", [host for group in PRIVATE.values() for host in group.split()])
def test_private_addresses_are_told(host):
    assert is_private(host)
    assert is_private(urls.hostname(urls.canonical(f"http://{host}/")))


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "017700000001", "127.1", "1②7.0.0.1"])
def test_other_spellings_are_dotted_by_the_time_they_are_checked(host):
    assert is_private(urls.hostname(urls.canonical(f"http://{host}/")))


@pytest.mark.parametrize(
    "host",
    ["8.8.8.8", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "example.org", "localhost.example"],
)
def test_public_addresses_and_names_pass(host):
    assert not is_private(host)
