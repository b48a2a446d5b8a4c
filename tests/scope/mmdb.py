"""Writes small MaxMind databases (https://maxmind.github.io/MaxMind-DB/), of which no package pinned here makes any."""

from ipaddress import ip_network
from struct import pack

MARK = b"\xab\xcd\xefMaxMind.com"
TEXT, SHORT, NUMBER, MAPPING, BIG, LIST = 2, 5, 6, 7, 9, 11
DIRECT_TYPES = 7  # types of higher numbers are written with a byte of their own


def encoded(value):
    """Returns a text, list, mapping, or number with its type, as databases have it."""
    if isinstance(value, str):
        return head(TEXT, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(LIST, len(value)) + b"".join(map(encoded, value))
    if isinstance(value, dict):
        return head(MAPPING, len(value)) + b"".join(encoded(key) + encoded(entry) for key, entry in value.items())
    kind, number = value
    raw = number.to_bytes(8, "big").lstrip(b"\0")
    return head(kind, len(raw)) + raw


def head(kind, size):
    first = bytes([kind << 5 | min(size, 29)]) if kind <= DIRECT_TYPES else bytes([min(size, 29), kind - DIRECT_TYPES])
    return first + (bytes([size - 29]) if size >= 29 else b"")


def database(records, built_s):
    """Returns a database of IPv4.

    Args:
        records: What is known of networks, none of which is within another.
        built_s: When it was made, in seconds since the epoch.
    """
    nodes, leaves = [[None, None]], b""
    for text, record in records.items():
        network, at = ip_network(text), 0
        bits = f"{int(network.network_address):032b}"[: network.prefixlen]
        for bit in map(int, bits[:-1]):
            if nodes[at][bit] is None:
                nodes.append([None, None])
                nodes[at][bit] = len(nodes) - 1
            at = nodes[at][bit]
        nodes[at][int(bits[-1])] = ("leaf", len(leaves))
        leaves += encoded(record)
    count = len(nodes)

    def pointer(entry):
        return count if entry is None else entry if isinstance(entry, int) else count + 16 + entry[1]

    tree = b"".join(pack(">II", *map(pointer, node)) for node in nodes)
    metadata = {
        "binary_format_major_version": (SHORT, 2),
        "binary_format_minor_version": (SHORT, 0),
        "build_epoch": (BIG, int(built_s)),
        "database_type": "Test-City",
        "description": {"en": "of a test"},
        "ip_version": (SHORT, 4),
        "languages": ["en"],
        "node_count": (NUMBER, count),
        "record_size": (SHORT, 32),
    }
    return tree + bytes(16) + leaves + MARK + encoded(metadata)
