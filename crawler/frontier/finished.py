"""Reads which seeds are finished. The scripts write them; lua/lib/finished.lua says how they are packed in buckets."""

from __future__ import annotations

RECORD_BYTES = 12
MEMBER_BYTES = 8  # of a record: the beginning of a fingerprint; the time follows


def bucket_of(fingerprint: bytes, buckets: int) -> int:
    """Returns the number of the bucket that holds a fingerprint, if any does.

    Args:
        buckets: How many there are, from 1.

    Source: linear hashing (W. Litwin, 1980).
    """
    whole = 1 << (buckets.bit_length() - 1)
    bits = int.from_bytes(fingerprint[:4], "big")
    bucket = bits % (2 * whole)
    return bucket if bucket < buckets else bits % whole


def finished_s(packed: bytes, fingerprint: bytes) -> int | None:
    """Returns when a fingerprint was finished, in s since the epoch; None when its bucket's content doesn't hold it."""
    member = fingerprint[:MEMBER_BYTES]
    for start in range(0, len(packed), RECORD_BYTES):
        if packed.startswith(member, start):
            return int.from_bytes(packed[start + MEMBER_BYTES : start + RECORD_BYTES], "big")
    return None
