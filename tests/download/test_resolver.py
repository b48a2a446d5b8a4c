"""No spelling of an address gets past the gate into the private ranges."""

from __future__ import annotations

import asyncio

import pytest
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

from crawler import urls
from crawler.download.dns import DnsCache
from crawler.download.private_addresses import is_private
from crawler.download.resolver import Lookup, PublicResolver, lookup

PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",  # where clouds keep their credentials: most of them, Alibaba, Oracle, Azure
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "192.88.99.1",
    "192.0.2.1",
    "198.18.0.1",
    "240.0.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fec0::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[2001:db8::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[ff02::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:224.0.0.1]",
    "[::10.0.0.1]",
    "[::ffff:0:10.0.0.1]",
    "[::ffff:168.63.129.16]",
    "[64:ff9b::a00:1]",
    "[64:ff9b:1::1]",
    "[2002:a00:1::]",
    "[2001:0:a00:1::]",
]


@pytest.mark.parametrize("host", PRIVATE)
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


@implementer(IResolutionReceiver)
class Heard:
    def __init__(self):
        self.addresses, self.complete = [], asyncio.Event()

    def resolutionBegan(self, resolution):  # noqa: N802 -- Twisted's name
        """Nothing is made of it."""

    def addressResolved(self, address):  # noqa: N802 -- Twisted's name
        self.addresses.append(address.host)

    def resolutionComplete(self):  # noqa: N802 -- Twisted's name
        self.complete.set()


def resolver(*answer, allow_private=False):
    return PublicResolver(None, DnsCache(10, lambda _name: list(answer)), allow_private=allow_private)


async def asked(resolver, name="a.example", *, any_address=False):
    """Returns the addresses that a download gets for a name, and whether one was refused."""
    looked, heard = Lookup(any_address), Heard()
    token = lookup.set(looked)
    try:
        resolver.resolveHostName(heard, name, 80)
    finally:
        lookup.reset(token)
    await heard.complete.wait()
    return heard.addresses, looked.refused


async def test_private_addresses_are_kept_back_beside_public_ones():
    mixed = resolver("10.0.0.1", "8.8.8.8", "::1", "2606:4700::1111", "::ffff:127.0.0.1")
    assert await asked(mixed) == (["8.8.8.8", "2606:4700::1111"], True)
    assert await asked(mixed) == (["8.8.8.8", "2606:4700::1111"], True)  # remembered, and checked again


async def test_a_name_with_private_addresses_only_has_none():
    assert await asked(resolver("127.0.0.1")) == ([], True)


async def test_a_name_without_addresses_is_not_called_private():
    assert await asked(resolver()) == ([], False)


async def test_an_address_in_the_url_is_checked_as_well():
    assert await asked(resolver(), "127.0.0.1") == ([], True)
    assert await asked(resolver(), "8.8.8.8") == (["8.8.8.8"], False)


async def test_with_the_setting_on_and_for_proxies_all_addresses_count():
    assert await asked(resolver("127.0.0.1", allow_private=True)) == (["127.0.0.1"], False)
    kept = resolver("8.8.8.8", "127.0.0.1")
    assert await asked(kept, any_address=True) == (["8.8.8.8", "127.0.0.1"], False)
    assert await asked(kept) == (["8.8.8.8"], True)
