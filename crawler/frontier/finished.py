"""Reads which seeds are finished. The scripts write them; lua/lib/finished.lua says how they are packed in buckets."""

from __future__ import annotations

RECORD_BYTES = 14
MEMBER_BYTES = 8  # a record begins with so many bytes of a fingerprint
TIME_BYTES = 3  # then follows when it was finished, in units of TIME_UNIT_SECONDS since the epoch, and then the plan
TIME_UNIT_SECONDS = 256  # 3 bytes of a time in seconds, without the fourth


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


def finished_for(packed: bytes, fingerprint: bytes) -> list[tuple[int, int]]:
    """Returns for which plans a fingerprint was finished, by a bucket's content, and when; empty when it wasn't.

    Returns:
        Pairs, the first plan's first: in s since the epoch, up to TIME_UNIT_SECONDS too early; and the plan's number.
    """
    member, records = fingerprint[:MEMBER_BYTES], []
    for start in range(0, len(packed), RECORD_BYTES):
        if packed.startswith(member, start):
            at, end = start + MEMBER_BYTES, start + RECORD_BYTES
            units = int.from_bytes(packed[at : at + TIME_BYTES], "big")
            mark = int.from_bytes(packed[at + TIME_BYTES : end], "big")
            records.append((units * TIME_UNIT_SECONDS, mark // 2))
    return records
