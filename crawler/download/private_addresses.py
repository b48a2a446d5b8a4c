"""Which addresses are no part of the public internet. Pure."""

from __future__ import annotations

import ipaddress

# Addresses that Python 3.11's `is_global` calls public, although they aren't.
NOT_PUBLIC = (
    ipaddress.IPv4Network("168.63.129.16/32"),  # Azure's host, which hands out the machine's credentials
    ipaddress.IPv4Network("192.0.0.0/24"),  # RFC 6890; Oracle's metadata service is at .192
    ipaddress.IPv4Network("192.88.99.0/24"),  # RFC 7526: relays that are gone
    ipaddress.IPv6Network("3fff::/20"),  # RFC 9637: for documentation
)
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # everything that has ever been allocated (RFC 4291, 2.4)
# Prefixes whose last four bytes are an IPv4 address that a gateway connects to: NAT64 (RFC 6052), SIIT (RFC 2765), and
# the old IPv4-compatible addresses (RFC 4291, 2.5.5.1).
WITH_IPV4_INSIDE = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))


def is_private(host: str) -> bool:
    """Returns whether a host is an address outside the public internet; False for names, which must be resolved first.

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
