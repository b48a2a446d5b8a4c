"""How the finished lie in Redis: packed, in a hash of buckets. The scripts write it; lua/lib/finished.lua says how."""

from __future__ import annotations

RECORD_BYTES = 12
MEMBER_BYTES = 8


def bucket_of(fingerprint: bytes, buckets: int) -> int:
    """Returns the bucket that holds a fingerprint, if any does.

    Args:
        buckets: How many there are, from 1.

    Source: linear hashing (W. Litwin, 1980).
    """
    whole = 1 << (buckets.bit_length() - 1)
    bits = int.from_bytes(fingerprint[:4], "big")
    bucket = bits % (2 * whole)
    return bucket if bucket < buckets else bits % whole


def finished_s(packed: bytes, fingerprint: bytes) -> int | None:
    """Returns when a bucket's content says that a fingerprint was finished, in s since the epoch; None: it doesn't."""
    member = fingerprint[:MEMBER_BYTES]
    for start in range(0, len(packed), RECORD_BYTES):
        if packed.startswith(member, start):
            return int.from_bytes(packed[start + MEMBER_BYTES : start + RECORD_BYTES], "big")
    return None
