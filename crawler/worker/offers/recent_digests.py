"""Remembers the digests that were asked for last, exactly, and in 16 bytes each."""

from __future__ import annotations

DIGEST_BYTES = 16  # no two names of a crawl share so long a digest
WAYS = 16  # digests in a bucket, which is searched as a whole
BUCKET_BYTES = WAYS * DIGEST_BYTES


class RecentDigests:
    """A set of digests that forgets those it was asked for longest ago.

    A digest's first bytes say which bucket it lies in. A bucket has its digests in the order in which they were asked
    for, so that the links on each page of a site push out those that stand on one.

    Args:
        most: How many digests are remembered at most; the memory is taken at once.
    """

    def __init__(self, most: int) -> None:
        self._buckets = -(-most // WAYS)
        self._table = bytearray(self._buckets * BUCKET_BYTES)

    def __contains__(self, digest: bytes) -> bool:
        """Returns whether a digest is remembered, and has it be the last of its bucket to be forgotten."""
        start, place = self._places(digest)
        if place < 0:
            return False
        if place > start:
            self._push(digest, start, place)
        return True

    def add(self, digest: bytes) -> None:
        """Remembers a digest in the place of the one of its bucket that was asked for longest ago."""
        start, place = self._places(digest)
        self._push(digest, start, start + BUCKET_BYTES - DIGEST_BYTES if place < 0 else place)

    def _places(self, digest: bytes) -> tuple[int, int]:
        """Returns where a digest's bucket begins, and where it lies in there, -1 if it doesn't."""
        start = int.from_bytes(digest[:4], "big") % self._buckets * BUCKET_BYTES
        return start, self._table.find(digest, start, start + BUCKET_BYTES)

    def _push(self, digest: bytes, start: int, place: int) -> None:
        """Puts a digest before the others of its bucket, which close up to the place that it had, or takes."""
        self._table[start + DIGEST_BYTES : place + DIGEST_BYTES] = self._table[start:place]
        self._table[start : start + DIGEST_BYTES] = digest
