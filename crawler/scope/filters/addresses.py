"""Filters of IP addresses: those that URLs name, and those that names of hosts resolve to."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.base.errors import ConfigError
from crawler.scope.entries import Entries
from crawler.scope.region_db import RegionDb, shared_region_db
from crawler.scope.url_filter import UrlFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.scope.candidate import Candidate
    from crawler.scope.scope_file import ScopeRules

MAX_ADDRESSES = 10_000  # most addresses of which a filter remembers what it said, in some 200 bytes each


class _OfAddresses(UrlFilter):
    """Judges each address of a host. One that is out of scope is enough: any may be connected to."""

    step = "addresses"

    @abstractmethod
    def refuses_address(self, address: str) -> bool:
        """Returns whether an IP address is out of scope."""

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether an address of the host is out of scope; nothing is said of a name before it is resolved."""
        host = candidate.host
        if candidate.addresses:
            return any(map(self.refuses_address, candidate.addresses))
        if host[-1:].isdecimal() or host.startswith("["):  # browsers open no name that ends with a number
            return self.refuses_address(host.strip("[]"))
        return False


class AddressFilter(_OfAddresses):
    """Refuses hosts by their IP addresses."""

    name = "addresses"

    def __init__(self, networks: Sequence[str]) -> None:
        entries = Entries(networks)
        wanted, unwanted = tuple(map(ip_network, entries.wanted)), tuple(map(ip_network, entries.unwanted))

        def refuses(text: str) -> bool:
            address = ip_address(text)
            address = getattr(address, "ipv4_mapped", None) or address
            if any(address in network for network in unwanted):
                return True
            return bool(wanted) and not any(address in network for network in wanted)

        self._refuses = lru_cache(MAX_ADDRESSES)(refuses)

    def refuses_address(self, address: str) -> bool:
        """Returns whether an IP address is out of scope."""
        return self._refuses(address)


class RegionFilter(_OfAddresses):
    """Refuses hosts by the country, region or city of their addresses, as the operator's database has them."""

    name = "regions"

    def __init__(self, regions: Sequence[str], database: RegionDb) -> None:
        self._regions, self._database = Entries(regions), database

    @classmethod
    def of(cls, rules: ScopeRules, settings: Mapping[str, Any]) -> Self | None:
        """Returns the filter of `regions`.

        Raises:
            ConfigError: There is no database that it could ask.
        """
        if not rules.regions:
            return None
        if not (path := config.REGION_DB.of(settings)):
            raise ConfigError("REGION_DB", path, "a database of regions, since a plan's scope has `regions`")
        return cls(rules.regions, shared_region_db(path, config.REGION_DB_MAX_AGE_DAYS.of(settings)))

    def refuses_address(self, address: str) -> bool:
        """Returns whether an address is out of scope; one that the database doesn't know is in no region."""
        names = self._database.names_of(address)
        return self._regions.refuse(lambda entries: not names.isdisjoint(entries))
