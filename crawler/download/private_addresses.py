"""Which addresses are no part of the public internet. Pure."""

from __future__ import annotations

import ipaddress

# What isn't the public internet, although Python 3.11 takes it for global.
NOT_PUBLIC = (
    ipaddress.IPv4Network("168.63.129.16/32"),  # Azure's host: credentials of the machine
    ipaddress.IPv4Network("192.0.0.0/24"),  # RFC 6890; Oracle's metadata at .192
    ipaddress.IPv4Network("192.88.99.0/24"),  # RFC 7526: relays that are gone
    ipaddress.IPv6Network("3fff::/20"),  # RFC 9637: for documents
)
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # all that was ever given out (RFC 4291, 2.4)
# Addresses that a gateway turns into the IPv4 address in their last four bytes: NAT64 (RFC 6052), SIIT (RFC 2765), and
# the old IPv4-compatible ones (RFC 4291, 2.5.5.1).
WITH_IPV4_INSIDE = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))


def is_private(host: str) -> bool:
    """Returns whether a host is an address outside the public internet. Names are not: they are resolved first.

    Args:
        host: As in a canonical URL: decimal and octal IPv4 forms are dotted by then, IPv6 stands in brackets.
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and any(address in network for network in WITH_IPV4_INSIDE):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_private(str(inner))
        if address not in PUBLIC_IPV6:
            return True
    return not address.is_global or address.is_multicast or any(address in network for network in NOT_PUBLIC)
